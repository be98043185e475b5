"""Looks at parts of the trainer that no call shows, and prints what it saw as JSON."""

import json
import math
import sys

import torch
from svc_trainer import futures, lora, service
from svc_trainer.adam import Adam
from svc_trainer.base import Base
from svc_trainer.llama import Llama, runs_plainly
from svc_trainer.losses import LOSSES, token_losses
from svc_trainer.model import Model
from svc_trainer.parse import AdamParams, LoraSettings, Row, Work
from svc_trainer.step import run_pass

torch.manual_seed(1)
torch.set_num_threads(1)


def adam_apart(weight_decay, grad_clip_norm):
    ours = {"a": torch.randn(5, 3), "b": torch.randn(7)}
    theirs = {name: tensor.clone().requires_grad_() for name, tensor in ours.items()}
    params = AdamParams(0.01, 0.9, 0.95, 1e-8, weight_decay, grad_clip_norm)
    optimizer = torch.optim.AdamW(theirs.values(), lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=weight_decay)
    adam = Adam(ours)
    for _ in range(50):
        gradients = {name: torch.randn_like(tensor) for name, tensor in ours.items()}
        for name, tensor in theirs.items():
            tensor.grad = gradients[name].clone()
        if grad_clip_norm:
            torch.nn.utils.clip_grad_norm_(list(theirs.values()), grad_clip_norm)
        optimizer.step()
        ours, adam = adam.stepped(ours, gradients, params)
    return max(float((ours[name] - theirs[name]).abs().max()) for name in ours)


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


# As they are published: of the log-probability now, the sampled one, and the weight.
PUBLISHED = {
    "cross_entropy": lambda now, then, weight: -now * weight,
    "importance_sampling": lambda now, then, weight: -math.exp(now - then) * weight,
    "ppo": lambda now, then, weight: -min(math.exp(now - then) * weight, min(max(math.exp(now - then), 0.8), 1.2) * weight),
}


def loss_apart(name):
    """The largest difference of a loss from its formula, and of its gradient from the formula's slope."""
    loss, apart = LOSSES[name], 0.0
    for now in (-3.0, -1.3, -1.0, -0.7, -0.1):
        for weight in (-1.5, 0.0, 2.0):
            logp = torch.tensor([now], dtype=torch.float64, requires_grad=True)
            inputs = {key: torch.tensor([-1.0 if key == "logprobs" else weight], dtype=torch.float64) for key in loss.inputs}
            value = token_losses(loss, logp, inputs, dict(loss.settings)).sum()
            (slope,) = torch.autograd.grad(value, [logp])
            formula = lambda at: PUBLISHED[name](at, -1.0, weight)
            expected = (formula(now + 1e-6) - formula(now - 1e-6)) / 2e-6
            apart = max(apart, abs(float(value.detach()) - formula(now)), abs(float(slope) - expected))
    return apart


class PlainLora(Llama):
    """As PEFT adds it while it trains: W x + scale B (A x)."""

    def __init__(self, llm, tensors, scale):
        super().__init__(llm.shape, llm.weights)
        self.tensors, self.scale = tensors, scale

    def linear(self, module, x, adapter):
        down, up = (self.tensors[f"{lora.PREFIX}{module}.lora_{side}.weight"] for side in "AB")
        return x @ self.weights[f"{module}.weight"].T + self.scale * ((x @ down.T) @ up.T)


def step_apart(base):
    """One step of the trainer against PyTorch's AdamW over a plain LoRA."""
    settings = LoraSettings(4, 32, 0, True, True)
    model = Model("m", "s", base, settings)
    model.create()
    llm, row = base.load(), row_of(12, base.vocabulary)
    theirs = {name: tensor.clone().requires_grad_() for name, tensor in model.adapter.tensors.items()}
    # The second halves begin at zero, where the first have no gradient.
    for name, tensor in theirs.items():
        if "lora_B" in name:
            tensor.data.normal_(0, 0.1)
    model.adapter = lora.Adapter(settings, {name: tensor.detach().clone() for name, tensor in theirs.items()})
    logp = PlainLora(llm, theirs, settings.alpha / settings.rank).logits(torch.tensor([row.tokens])).log_softmax(-1)[0]
    logp = logp.gather(1, torch.tensor(row.targets)[:, None])[:, 0]
    then, weights = (torch.tensor(row.inputs[name]) for name in ("logprobs", "advantages"))
    optimizer = torch.optim.AdamW(theirs.values(), lr=0.001, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.01)
    (-(logp - then).exp() * weights).sum().backward()
    optimizer.step()
    model.forward(Work([row], "importance_sampling", {}), True)
    model.step(AdamParams(0.001, 0.9, 0.95, 1e-8, 0.01, 0.0))
    return max(float((model.adapter.tensors[name] - tensor).abs().max()) for name, tensor in theirs.items())


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
    "adam": [adam_apart(0.0, 0.0), adam_apart(0.1, 0.5)],
    "gradient": gradient_apart(base),
    "losses": {name: loss_apart(name) for name in LOSSES},
    "step": step_apart(base),
    "kept": kept_of_silence(base),
    "answers": answers_of_a_worker(),
    "plain": plain_ones(),
}
print(json.dumps(found))
