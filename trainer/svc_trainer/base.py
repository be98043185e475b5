"""A base model: its folder, its metadata, and the loaded model."""

import hashlib
import json
import os

import torch

from . import safetensors
from .llama import Llama, runs_plainly, shape_of
from .refusal import invalid

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
CHUNK_BYTES = 1 << 20


class Base:
    """One folder. The weights are loaded on first use and shared by all adapters."""

    def __init__(self, name, folder, device, dtype):
        self.name = name
        self.folder = folder
        self.device = device
        self.dtype = DTYPES[dtype]
        self.config = read_config(folder)
        self.vocabulary = self.config["vocab_size"]
        self.context = self.config.get("max_position_embeddings", 2048)
        self.arch = (self.config.get("architectures") or [self.config.get("model_type", "unknown")])[0]
        self._loaded = None
        self._digest = None

    def load(self):
        if self._loaded is None:
            self._loaded = load_plain(self) if runs_plainly(self.config) else load_by_transformers(self)
        return self._loaded

    def digest(self):
        """Distinguishes these weights from others with the same name."""
        if self._digest is None:
            digest = hashlib.sha256()
            for file in ["config.json", *weight_files(self.folder)]:
                with open(os.path.join(self.folder, file), "rb") as stream:
                    while part := stream.read(CHUNK_BYTES):
                        digest.update(part)
            self._digest = digest.hexdigest()
        return self._digest


def read_config(folder):
    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
    except (OSError, ValueError) as problem:
        raise invalid("the folder of a model needs a config.json that can be read, as Hugging Face lays it out") from problem
    if type(config.get("vocab_size")) is not int:
        raise invalid("config.json of a model must say vocab_size")
    if not weight_files(folder):
        raise invalid("the folder of a model needs model.safetensors, or several *.safetensors")
    return config


def weight_files(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))


def load_plain(base):
    weights = {}
    for file in weight_files(base.folder):
        weights.update(safetensors.read(os.path.join(base.folder, file)))
    return Llama(shape_of(base.config), {name: weight.to(base.device, base.dtype) for name, weight in weights.items()})


def load_by_transformers(base):
    try:
        from .hf import Transformer
    except ImportError as problem:
        raise invalid(f"{base.arch} is no plain Llama: install the Python package transformers beside torch to train it") from problem
    return Transformer(base.folder, base.device, base.dtype)
