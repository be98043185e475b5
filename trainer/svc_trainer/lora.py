"""A LoRA adapter: two small matrices per linear layer, with PEFT's names and files."""

import json
import math
import os

import torch
from torch.nn import functional

from . import safetensors
from .llama import ATTENTION, FEED_FORWARD, HEAD

PREFIX = "base_model.model."


class Adapter:
    def __init__(self, settings, tensors, scale=None):
        self.settings = settings
        self.tensors = tensors
        self.scale = settings.alpha / settings.rank if scale is None else scale

    def add_to(self, y, module, x):
        down = self.tensors.get(f"{PREFIX}{module}.lora_A.weight")
        if down is None:
            return y
        up = self.tensors[f"{PREFIX}{module}.lora_B.weight"]
        return y + functional.linear(functional.linear(x, down.to(x.dtype)), up.to(x.dtype)) * self.scale


def fresh(settings, linears, device):
    """A is random by seed and B is zero, so that it starts as the base model, reproducibly."""
    generator = torch.Generator().manual_seed(settings.seed)
    tensors = {}
    for module in sorted(linears):
        if module.rsplit(".", 1)[-1] not in targets_of(settings):
            continue
        wide_out, wide_in = linears[module]
        spread = 1 / math.sqrt(wide_in)
        down = (torch.rand(settings.rank, wide_in, generator=generator) * 2 - 1) * spread
        tensors[f"{PREFIX}{module}.lora_A.weight"] = down.to(device)
        tensors[f"{PREFIX}{module}.lora_B.weight"] = torch.zeros(wide_out, settings.rank, device=device)
    return Adapter(settings, tensors)


def targets_of(settings):
    layers = (ATTENTION if settings.train_attn else ()) + (FEED_FORWARD if settings.train_mlp else ())
    return layers + ((HEAD,) if settings.train_unembed else ())


def write_peft(folder, adapter, base_model):
    """The folder that engines load."""
    safetensors.write(os.path.join(folder, "adapter_model.safetensors"), adapter.tensors)
    config = {
        "base_model_name_or_path": base_model,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "lora_alpha": adapter.settings.alpha,
        "lora_dropout": 0.0,
        "modules_to_save": None,
        "peft_type": "LORA",
        "r": adapter.settings.rank,
        "target_modules": sorted(targets_of(adapter.settings)),
        "task_type": "CAUSAL_LM",
        "use_dora": False,
        "use_rslora": False,
    }
    write_json(os.path.join(folder, "adapter_config.json"), config)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2, sort_keys=True)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
