"""Compares the trainer's numbers with the published formulas, PyTorch's AdamW and PEFT, and prints how far they are apart as JSON."""

import json
import math
import sys

import torch
from plain_loop import PlainLoop
from svc_trainer import lora
from svc_trainer.adam import Adam
from svc_trainer.base import Base
from svc_trainer.losses import LOSSES, token_losses
from svc_trainer.model import Model
from svc_trainer.parse import AdamParams, LoraSettings, Row, Work

torch.manual_seed(1)
torch.set_num_threads(1)
# The usual one of adapters.
RATE = 1e-4
# Large: with a small one, a first step is as long as the rate whatever the gradient, and so is what rounding makes of one near zero.
EPSILON = 1e-2


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


def step_apart(base, weight_decay):
    """One step of the trainer against PEFT and AdamW: how far apart, and how far it went."""
    model = Model("m", "s", base, LoraSettings(4, 32, 0, True, True))
    model.create()
    # The second halves begin at zero, where the first have no gradient.
    begun = {name: torch.randn_like(tensor) * 0.1 if "lora_B" in name else tensor for name, tensor in model.adapter.tensors.items()}
    model.adapter = lora.Adapter(model.settings, begun)
    params = AdamParams(RATE, 0.9, 0.95, EPSILON, weight_decay, 0.0)
    work = Work([row_of(length, base.vocabulary) for length in (12, 5, 30)], "importance_sampling", {})
    plain = PlainLoop(base, model.adapter, params)
    plain.step(work)
    model.forward(work, True)
    model.step(params)
    moved = max(float((tensor - begun[name]).abs().max()) for name, tensor in model.adapter.tensors.items())
    return {"apart": plain.apart(model.adapter), "moved": moved}


def row_of(length, vocabulary):
    tokens = torch.randint(0, vocabulary, (length + 1,)).tolist()
    numbers = {"logprobs": [-2.0] * length, "advantages": [0.0] + torch.randn(length - 1).tolist()}
    return Row(tokens[:-1], tokens[1:], numbers)


base = Base("tiny", sys.argv[1], torch.device("cpu"), "fp32")
found = {
    "adam": [adam_apart(0.0, 0.0), adam_apart(0.1, 0.5)],
    "losses": {name: loss_apart(name) for name in LOSSES},
    "steps": [step_apart(base, 0.0), step_apart(base, 0.01)],
}
print(json.dumps(found))
