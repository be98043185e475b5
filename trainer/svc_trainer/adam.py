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
        moved, first, second = {}, {}, {}
        for name, tensor in tensors.items():
            gradient = gradients[name] * scale
            first[name] = self.first[name] * params.beta1 + gradient * (1 - params.beta1)
            second[name] = self.second[name] * params.beta2 + gradient * gradient * (1 - params.beta2)
            root = (second[name] / second_bias).sqrt() + params.eps
            decayed = tensor * (1 - params.learning_rate * params.weight_decay)
            moved[name] = decayed - params.learning_rate * (first[name] / first_bias) / root
        return moved, Adam(tensors, steps, first, second)


def norm_of(gradients):
    return math.sqrt(sum(float(gradient.double().pow(2).sum()) for gradient in gradients.values()))


def clip_scale(gradients, longest):
    if longest == 0:
        return 1.0
    return min(1.0, longest / (norm_of(gradients) + 1e-6))
