"""Parses requests: every field is checked here; messages name the field and the rule, never the value."""

import math
import re
from dataclasses import dataclass
from typing import Dict, List

from .losses import LOSSES
from .refusal import invalid

ROWS_MAX = 65_536
RANK_MAX = 512
ALPHA_DEFAULT = 32
# The size of the tensors that hold the numbers of a row.
FLOAT_MAX = (2 - 2**-23) * 2.0**127
# Models and names become folders, so they may not start with a dot.
MODEL = r"[A-Za-z0-9_-][A-Za-z0-9._:-]{0,127}"
NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}"
KIND = r"weights|sampler_weights"


@dataclass(frozen=True)
class LoraSettings:
    rank: int
    alpha: float
    seed: int
    train_attn: bool
    train_mlp: bool
    train_unembed: bool = False


@dataclass(frozen=True)
class AdamParams:
    learning_rate: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    grad_clip_norm: float


@dataclass(frozen=True)
class Row:
    tokens: List[int]
    targets: List[int]
    inputs: Dict[str, List[float]]


@dataclass(frozen=True)
class Work:
    rows: List[Row]
    loss_fn: str
    settings: Dict[str, float]


KIND_WORDS = {int: "a whole number", str: "a text", bool: "true or false", list: "an array", dict: "an object"}


def field(body, name, kind, default=None):
    """A field of that type, required unless it has a default."""
    value = body.get(name, default)
    if value is None and default is not None:
        return default
    if type(value) is not kind:
        raise invalid(f"{name} must be {KIND_WORDS[kind]}" if name in body else f"{name} is missing")
    return value


def lora_settings(config):
    settings = LoraSettings(
        rank=field(config, "rank", int),
        alpha=number(config, "alpha", ALPHA_DEFAULT, least=0),
        seed=field(config, "seed", int, 0),
        train_attn=field(config, "train_attn", bool, True),
        train_mlp=field(config, "train_mlp", bool, True),
        train_unembed=field(config, "train_unembed", bool, False),
    )
    if not 1 <= settings.rank <= RANK_MAX:
        raise invalid(f"lora_config.rank must be from 1 to {RANK_MAX}")
    if not 0 <= settings.seed < 2**63:
        raise invalid("lora_config.seed must be from 0 to 9223372036854775807")
    if settings.alpha == 0 or not (settings.train_attn or settings.train_mlp or settings.train_unembed):
        raise invalid("lora_config would train nothing: alpha must be above 0, and train_attn, train_mlp or train_unembed true")
    return settings


def check_optimizer(config):
    if config.get("type", "adamw") != "adamw":
        raise invalid("optimizer_config.type must be adamw: this trainer has no other optimizer")


def adam_params(body):
    if body.get("optimizer_params") is not None:
        raise invalid("optimizer_params is not supported by this trainer: send adam_params")
    params = field(body, "adam_params", dict)
    adam = AdamParams(
        learning_rate=number(params, "learning_rate", None, least=0),
        beta1=number(params, "beta1", 0.9, least=0),
        beta2=number(params, "beta2", 0.95, least=0),
        eps=number(params, "eps", 1e-12, least=0),
        weight_decay=number(params, "weight_decay", 0.0, least=0),
        grad_clip_norm=number(params, "grad_clip_norm", 0.0, least=0),
    )
    if adam.beta1 >= 1 or adam.beta2 >= 1 or adam.eps == 0:
        raise invalid("adam_params: beta1 and beta2 must be below 1, and eps above 0")
    return adam


def number(values, name, default, least):
    value = values.get(name, default)
    if type(value) not in (int, float) or not is_finite(value) or value < least:
        raise invalid(f"{name} must be a finite number from {least}")
    return value


def is_finite(value):
    """An integer may be too large for a float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def work_of(given, base):
    loss_fn = field(given, "loss_fn", str)
    if loss_fn not in LOSSES:
        raise invalid(f"loss_fn must be one of {', '.join(LOSSES)}")
    data = field(given, "data", list)
    if not 1 <= len(data) <= ROWS_MAX:
        raise invalid(f"data must hold from 1 to {ROWS_MAX} rows")
    rows = [row_of(datum, f"data[{at}]", LOSSES[loss_fn].inputs, base) for at, datum in enumerate(data)]
    return Work(rows, loss_fn, loss_settings(given.get("loss_fn_config") or {}, loss_fn))


def loss_settings(given, loss_fn):
    known = LOSSES[loss_fn].settings
    if type(given) is not dict or set(given) - set(known):
        raise invalid(f"loss_fn_config of {loss_fn} takes {' and '.join(known) or 'nothing'}")
    settings = {name: number(given, name, default, least=0) for name, default in known.items()}
    if settings and not settings["clip_low_threshold"] <= 1 <= settings["clip_high_threshold"]:
        raise invalid("loss_fn_config: clip_low_threshold must be at most 1, and clip_high_threshold at least 1")
    return settings


def row_of(datum, where, names, base):
    if type(datum) is not dict:
        raise invalid(f"{where} must be an object")
    tokens = tokens_of(datum, where, base)
    inputs = field(datum, "loss_fn_inputs", dict)
    expected = ("target_tokens", *names)
    if set(inputs) != set(expected):
        raise invalid(f"{where}.loss_fn_inputs must hold {', '.join(expected)}, and nothing else")
    numbers = {name: tensor_of(inputs[name], f"{where}.{name}", len(tokens)) for name in expected}
    check_tokens(numbers["target_tokens"], f"{where}.target_tokens", base)
    for name in names:
        if not all(type(value) in (int, float) and abs(value) <= FLOAT_MAX for value in numbers[name]):
            raise invalid(f"{where}.{name} must hold finite numbers")
    return Row(tokens, numbers.pop("target_tokens"), numbers)


def tokens_of(datum, where, base):
    chunks = field(field(datum, "model_input", dict), "chunks", list)
    tokens = []
    for chunk in chunks:
        if type(chunk) is not dict or chunk.get("type", "encoded_text") != "encoded_text" or type(chunk.get("tokens")) is not list:
            raise invalid(f"{where}.model_input must hold chunks of encoded_text, each with its tokens")
        tokens += chunk["tokens"]
    if not 1 <= len(tokens) <= base.context:
        raise invalid(f"{where} must hold from 1 to {base.context} tokens, as many as the base model reads")
    check_tokens(tokens, f"{where}.model_input", base)
    return tokens


def check_tokens(tokens, where, base):
    if not all(type(token) is int and 0 <= token < base.vocabulary for token in tokens):
        raise invalid(f"{where} must hold token ids from 0 to {base.vocabulary - 1}, the vocabulary of the base model")


def tensor_of(tensor, where, length):
    data = tensor.get("data") if type(tensor) is dict else None
    if type(data) is not list:
        raise invalid(f"{where} must be an object with data, a flat array")
    if len(data) != length:
        raise invalid(f"{where} has {len(data)} numbers, and model_input {length} tokens: they must be as many")
    if tensor.get("shape") not in (None, [length]):
        raise invalid(f"{where}.shape must be [{length}]: as long as its data")
    return data


def checkpoint_name(body):
    name = field(body, "path", str)
    if not re.fullmatch(NAME, name):
        raise invalid("path must be a name of letters, digits, '.', '_' and '-', of at most 128, not with a dot first")
    return name


def checkpoint_path(text):
    """The model, the kind and the name."""
    found = re.fullmatch(rf"tinker://({MODEL})/({KIND})/({NAME})", text)
    if found is None:
        raise invalid("the path must have the form tinker://MODEL/weights/NAME or tinker://MODEL/sampler_weights/NAME")
    return found.groups()
