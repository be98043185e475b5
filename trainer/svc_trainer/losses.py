"""The losses per token, from its log-probability and the numbers of its row."""

from dataclasses import dataclass
from typing import Callable, Mapping, Tuple

import torch


@dataclass(frozen=True)
class Loss:
    inputs: Tuple[str, ...]
    settings: Mapping[str, float]
    # The field that weights a token: zero means no loss.
    weight: str
    per_token: Callable


def cross_entropy(logp, inputs, _settings):
    return -inputs["weights"] * logp


def importance_sampling(logp, inputs, _settings):
    return -torch.exp(logp - inputs["logprobs"]) * inputs["advantages"]


def ppo(logp, inputs, settings):
    """The gradient of the ratio counts only inside the clip range."""
    ratio = torch.exp(logp - inputs["logprobs"])
    clipped = ratio.clamp(settings["clip_low_threshold"], settings["clip_high_threshold"])
    return -torch.minimum(ratio * inputs["advantages"], clipped * inputs["advantages"])


SAMPLED = ("logprobs", "advantages")
LOSSES = {
    "cross_entropy": Loss(("weights",), {}, "weights", cross_entropy),
    "importance_sampling": Loss(SAMPLED, {}, "advantages", importance_sampling),
    "ppo": Loss(SAMPLED, {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}, "advantages", ppo),
}


def token_losses(loss, logp, inputs, settings):
    """Removes positions without weight before exponentiating, since their ratio may be infinite."""
    counts = inputs[loss.weight] != 0
    kept = {name: torch.where(counts, values, torch.zeros_like(values)) for name, values in inputs.items()}
    return loss.per_token(torch.where(counts, logp, torch.zeros_like(logp)), kept, settings)
