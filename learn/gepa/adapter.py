"""Runs GEPA on worlds of the suite: episodes and proposals are asked for over stdin and stdout, one JSON object a line."""

import json
import sys

import gepa
from gepa.core.adapter import EvaluationBatch

CHANNEL = sys.stdout
# Whatever prints must not disturb the channel.
sys.stdout = sys.stderr


def ask(question):
    CHANNEL.write(json.dumps(question) + "\n")
    CHANNEL.flush()
    return json.loads(sys.stdin.readline())


class World:
    """The tree is one component, since a change may add what is no component yet."""

    def __init__(self):
        self.spent = False

    def evaluate(self, batch, candidate, capture_traces=False):
        answer = ask({"op": "play", "tree": candidate["tree"], "tasks": batch})
        self.spent = self.spent or answer["spent"]
        scores = answer["scores"]
        return EvaluationBatch(outputs=scores, scores=scores, trajectories=list(zip(batch, scores)) if capture_traces else None)

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        return {"tree": [{"task": task["name"], "score": score} for task, score in eval_batch.trajectories]}

    def propose_new_texts(self, candidate, reflective_dataset, components_to_update):
        return {"tree": ask({"op": "propose", "tree": candidate["tree"]})["tree"]}


class Silent:
    def log(self, *_, **__):
        pass


def optimize(order):
    world = World()
    result = gepa.optimize(
        seed_candidate={"tree": order["tree"]},
        trainset=[{"role": "train", "index": n, "name": f"train-{n}"} for n in range(order["train"])],
        valset=[{"role": "gate", "index": n, "name": f"gate-{n}"} for n in range(order["gate"])],
        adapter=world,
        max_metric_calls=order["episodes"],
        stop_callbacks=lambda _: world.spent,
        logger=Silent(),
        seed=order["seed"],
    )
    ask({"op": "end", "candidates": [candidate["tree"] for candidate in result.candidates], "scores": result.val_aggregate_scores})


for line in sys.stdin:
    optimize(json.loads(line))
