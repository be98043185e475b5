"""The losses: what each token costs, from its log-probability now and the numbers that came with it."""

from dataclasses import dataclass
from typing import Callable, Mapping, Tuple

import torch


@dataclass(frozen=True)
class Loss:
    inputs: Tuple[str, ...]
    settings: Mapping[str, float]
    # Which numbers make a token count: one that is zero there costs nothing, whatever the others are.
    weight: str
    per_token: Callable


def cross_entropy(logp, inputs, _settings):
    return -inputs["weights"] * logp


def importance_sampling(logp, inputs, _settings):
    return -torch.exp(logp - inputs["logprobs"]) * inputs["advantages"]


def ppo(logp, inputs, settings):
    """The ratio counts only inside the clip, where going on would not be held back by it."""
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
    """Places without weight are taken out before any exponent: there a ratio may be anything, even infinite."""
    counts = inputs[loss.weight] != 0
    kept = {name: torch.where(counts, values, torch.zeros_like(values)) for name, values in inputs.items()}
    return loss.per_token(torch.where(counts, logp, torch.zeros_like(logp)), kept, settings)
