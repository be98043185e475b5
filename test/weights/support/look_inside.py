"""Looks at parts of the trainer that no call shows, and prints what it saw as JSON."""

import json
import sys

import torch
from svc_trainer import futures, lora, service
from svc_trainer.base import Base
from svc_trainer.llama import runs_plainly
from svc_trainer.parse import LoraSettings, Row, Work
from svc_trainer.step import run_pass

torch.manual_seed(1)
torch.set_num_threads(1)


def gradient_apart(base):
    llm = base.load()
    adapter = lora.fresh(LoraSettings(4, 32, 0, True, True), llm.linears(), base.device)
    rows = [row_of(length, base.vocabulary) for length in (3, 40, 7, 21)]

    def gradient(part):
        return run_pass(llm, base.vocabulary, adapter, Work(part, "importance_sampling", {}), base.device, True)[2]

    whole, parts = gradient(rows), [gradient(rows[:1]), gradient(rows[1:])]
    apart = max(float((whole[name] - parts[0][name] - parts[1][name]).abs().max()) for name in whole)
    return {"apart": apart, "largest": max(float(part.abs().max()) for part in whole.values())}


def row_of(length, vocabulary):
    tokens = torch.randint(0, vocabulary, (length + 1,)).tolist()
    numbers = {"logprobs": [-2.0] * length, "advantages": [0.0] + torch.randn(length - 1).tolist()}
    return Row(tokens[:-1], tokens[1:], numbers)


def kept_of_silence(base):
    work = futures.Futures()
    calls = service.Service({"tiny": base}, None, work)
    session_id = calls.create_session({})["session_id"]
    made = calls.create_model({"session_id": session_id, "model_seq_id": 0, "base_model": "tiny", "lora_config": {"rank": 2}})
    work.wait(made["request_id"], 60)
    gone = calls.unload_model({"model_id": made["model_id"]})
    work.wait(gone["request_id"], 60)
    calls.sessions[session_id] -= service.SESSION_SECONDS_MAX + 1
    calls.drop_silent_sessions()
    return {"asked": len(work.asked), "answers": len(work.answers), "bytes": work.kept_bytes}


def answers_of_a_worker():
    work = futures.Futures()
    tasks = [lambda: {"loss": float("nan")}, lambda: {"loss": object()}, lambda: {"fine": True}]
    replies = [work.once(("model", number), {}, lambda task=task: (task, {})) for number, task in enumerate(tasks)]
    return [(work.wait(reply["request_id"], 60) or b"").decode() for reply in replies]


def plain_ones():
    usual = {"model_type": "llama"}
    turned = [{"rope_theta": 5e5, "rope_type": "default"}, {"rope_theta": 5e5, "rope_type": "llama3", "factor": 8.0}]
    return [runs_plainly(usual | more) for more in ({}, {"rope_parameters": turned[0]}, {"rope_parameters": turned[1]}, {"rope_scaling": turned[1]})]


base = Base("tiny", sys.argv[1], torch.device("cpu"), "fp32")
found = {
    "gradient": gradient_apart(base),
    "kept": kept_of_silence(base),
    "answers": answers_of_a_worker(),
    "plain": plain_ones(),
}
print(json.dumps(found))
