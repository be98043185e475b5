"""Adam with decoupled weight decay, in a few lines, so that its whole state is plain tensors and a count."""

import math

import torch


class Adam:
    def __init__(self, tensors, steps=0, first=None, second=None):
        self.steps = steps
        self.first = first or {name: torch.zeros_like(tensor) for name, tensor in tensors.items()}
        self.second = second or {name: torch.zeros_like(tensor) for name, tensor in tensors.items()}

    def stepped(self, tensors, gradients, params):
        """What a step makes of the tensors, and the state after it; nothing that was there before is changed."""
        steps = self.steps + 1
        scale = clip_scale(gradients, params.grad_clip_norm)
        first_bias, second_bias = 1 - params.beta1**steps, 1 - params.beta2**steps
        # All tensors as one: on a graphics card hundreds of small ones take longer than their numbers.
        gradient = joined(gradients, tensors) * scale
        first = joined(self.first, tensors) * params.beta1 + gradient * (1 - params.beta1)
        second = joined(self.second, tensors) * params.beta2 + gradient * gradient * (1 - params.beta2)
        root = (second / second_bias).sqrt() + params.eps
        decayed = joined(tensors, tensors) * (1 - params.learning_rate * params.weight_decay)
        moved = decayed - params.learning_rate * (first / first_bias) / root
        return parted(moved, tensors), Adam(tensors, steps, parted(first, tensors), parted(second, tensors))


def joined(values, like):
    return torch.cat([values[name].flatten() for name in like])


def parted(values, like):
    parts = values.split([tensor.numel() for tensor in like.values()])
    return {name: part.view(tensor.shape) for (name, tensor), part in zip(like.items(), parts)}


def norm_of(gradients):
    return math.sqrt(float(joined(gradients, gradients).double().pow(2).sum()))


def clip_scale(gradients, longest):
    if longest == 0:
        return 1.0
    return min(1.0, longest / (norm_of(gradients) + 1e-6))
