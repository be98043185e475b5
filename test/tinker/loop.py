"""A cookbook-like loop on the official SDK: supervised, then by reward, then all that it saved. Prints one line of JSON."""

import json
import sys
import urllib.request

import tinker
from tinker import types

BASE, PROMPT, WANTED = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])


def datum(tokens, inputs):
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs={"target_tokens": tokens[1:], **inputs})


def supervised(training, steps, rate):
    tokens = PROMPT + WANTED
    weights = [0.0] * (len(PROMPT) - 1) + [1.0] * len(WANTED)
    losses = []
    for _ in range(steps):
        passed = training.forward_backward([datum(tokens, {"weights": weights})], "cross_entropy")
        stepped = training.optim_step(types.AdamParams(learning_rate=rate))
        result = passed.result()
        stepped.result()
        losses.append(result.metrics["loss:sum"])
        assert len(result.loss_fn_outputs[0]["logprobs"].data) == len(tokens) - 1
    return losses


def by_reward(training, rounds):
    """The reward is the share of wanted answers."""
    rewards = []
    for number in range(rounds):
        sampling = training.save_weights_and_get_sampling_client()
        params = types.SamplingParams(max_tokens=8, temperature=1.0, seed=number)
        answers = sampling.sample(prompt=types.ModelInput.from_ints(PROMPT), num_samples=16, sampling_params=params).result().sequences
        scores = [1.0 if list(answer.tokens) == WANTED else 0.0 for answer in answers]
        mean = sum(scores) / len(scores)
        rewards.append(mean)
        if mean in (0.0, 1.0):
            continue
        data = []
        for answer, score in zip(answers, scores):
            before = [0.0] * (len(PROMPT) - 1)
            logprobs = before + [float(value) for value in answer.logprobs]
            advantages = before + [score - mean] * len(answer.tokens)
            data.append(datum(PROMPT + list(answer.tokens), {"logprobs": logprobs, "advantages": advantages}))
        passed = training.forward_backward(data, "importance_sampling").result()
        assert passed.metrics["logprob_difference:max"] < 1e-4, passed.metrics
        training.optim_step(types.AdamParams(learning_rate=2e-3)).result()
    return rewards


def from_state(name, load):
    """From 0.38 on the SDK asks for this in a way that the trainer refuses by name: then a new model takes the state."""
    try:
        client = getattr(service, name)(saved)
        client.get_info()
        return client
    except tinker.BadRequestError as refused:
        assert "load_state" in str(refused), refused
        client = service.create_lora_training_client(base_model=BASE, rank=4)
        getattr(client, load)(saved).result()
        return client


service = tinker.ServiceClient()
models = [model.model_name for model in service.get_server_capabilities().supported_models]
training = service.create_lora_training_client(base_model=BASE, rank=4)
losses = supervised(training, 2, 5e-4)
rewards = by_reward(training, 4)

saved = training.save_state("state-1").result().path
adapter = training.save_weights_for_sampler("adapter-1").result().path
prompt = types.ModelInput.from_ints(PROMPT + WANTED)
scores = service.create_sampling_client(model_path=adapter).compute_logprobs(prompt).result()
base_scores = service.create_sampling_client(base_model=BASE).compute_logprobs(prompt).result()
weights = [1.0] * (len(PROMPT + WANTED) - 1)
trained = training.forward([datum(PROMPT + WANTED, {"weights": weights})], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data
differences = [abs(ours - theirs) for ours, theirs in zip(scores[1:], trained)]

again = from_state("create_training_client_from_state", "load_state")
repeated = again.forward([datum(PROMPT + WANTED, {"weights": weights})], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data
resumed = None
if hasattr(service, "create_training_client_from_state_with_optimizer"):
    resumed = from_state("create_training_client_from_state_with_optimizer", "load_state_with_optimizer")
    supervised(resumed, 1, 5e-4)

rest = service.create_rest_client()
run = rest.get_training_run(training.model_id).result()
listed = [row.training_run_id for row in rest.list_training_runs().result().training_runs]
checkpoints = [row.tinker_path for row in rest.list_checkpoints(training.model_id).result().checkpoints]
archive = None
if hasattr(rest, "get_checkpoint_archive_url_from_tinker_path"):
    url = rest.get_checkpoint_archive_url_from_tinker_path(adapter).result().url
    archive = len(urllib.request.urlopen(url).read())

print(
    json.dumps(
        {
            "version": tinker.__version__,
            "models": models,
            "losses": losses,
            "rewards": rewards,
            "same": max(differences),
            "moved": max(abs(now - then) for now, then in zip(scores[1:], base_scores[1:])),
            "reloaded": max(abs(now - then) for now, then in zip(repeated, trained)),
            "resumed": resumed is not None,
            "run": [run.base_model, run.lora_rank, run.training_run_id in listed],
            "checkpoints": sorted(path.split("/", 3)[3] for path in checkpoints),
            "archive": archive,
        }
    )
)
