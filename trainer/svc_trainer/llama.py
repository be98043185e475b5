"""A Llama in plain PyTorch, over the weights of a Hugging Face folder."""

from dataclasses import dataclass

import torch
from torch.nn import functional

from .refusal import invalid

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
FEED_FORWARD = ("gate_proj", "up_proj", "down_proj")
HEAD = "lm_head"


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    width: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head: int
    context: int
    epsilon: float
    theta: float
    tied: bool


def runs_plainly(config):
    """Whether this code computes what the model's own would: everything that bends the plain architecture is somebody else's work."""
    bent = ("rope_scaling", "attention_bias", "mlp_bias", "sliding_window", "quantization_config")
    rope = config.get("rope_parameters") or {}
    is_usual = config.get("hidden_act", "silu") == "silu" and rope.get("rope_type", "default") == "default"
    return config.get("model_type") == "llama" and is_usual and not any(config.get(key) for key in bent)


def shape_of(config):
    heads = config["num_attention_heads"]
    rope = config.get("rope_parameters") or {}
    return Shape(
        vocabulary=config["vocab_size"],
        width=config["hidden_size"],
        inner=config["intermediate_size"],
        layers=config["num_hidden_layers"],
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        head=config.get("head_dim") or config["hidden_size"] // heads,
        context=config.get("max_position_embeddings", 2048),
        epsilon=config.get("rms_norm_eps", 1e-6),
        theta=rope.get("rope_theta") or config.get("rope_theta") or 10_000.0,
        tied=config.get("tie_word_embeddings", False),
    )


def extents_of(shape):
    """Every weight's name and extents."""
    queries, keys = shape.heads * shape.head, shape.kv_heads * shape.head
    extents = {"model.embed_tokens.weight": (shape.vocabulary, shape.width), "model.norm.weight": (shape.width,)}
    if not shape.tied:
        extents["lm_head.weight"] = (shape.vocabulary, shape.width)
    for number in range(shape.layers):
        layer = f"model.layers.{number}"
        extents[f"{layer}.input_layernorm.weight"] = (shape.width,)
        extents[f"{layer}.post_attention_layernorm.weight"] = (shape.width,)
        extents[f"{layer}.self_attn.q_proj.weight"] = (queries, shape.width)
        extents[f"{layer}.self_attn.k_proj.weight"] = (keys, shape.width)
        extents[f"{layer}.self_attn.v_proj.weight"] = (keys, shape.width)
        extents[f"{layer}.self_attn.o_proj.weight"] = (shape.width, queries)
        extents[f"{layer}.mlp.gate_proj.weight"] = (shape.inner, shape.width)
        extents[f"{layer}.mlp.up_proj.weight"] = (shape.inner, shape.width)
        extents[f"{layer}.mlp.down_proj.weight"] = (shape.width, shape.inner)
    return extents


class Llama:
    def __init__(self, shape, weights):
        for name, extents in extents_of(shape).items():
            if name not in weights or tuple(weights[name].shape) != extents:
                raise invalid(f"the weights of the base model lack {name}, or it has other extents than config.json says")
        self.shape = shape
        self.weights = weights
        device = weights["model.norm.weight"].device
        steps = torch.arange(0, shape.head, 2, dtype=torch.float64) / shape.head
        angles = torch.outer(torch.arange(shape.context, dtype=torch.float64), shape.theta**-steps)
        angles = torch.cat([angles, angles], dim=-1)
        self.cosines = angles.cos().float().to(device)
        self.sines = angles.sin().float().to(device)

    def linears(self):
        """What an adapter may add to, by module, with its width out and in."""
        names = [name for name in self.weights if name.rsplit(".", 2)[-2] in ATTENTION + FEED_FORWARD]
        layers = {name.removesuffix(".weight"): tuple(self.weights[name].shape) for name in names}
        return {**layers, HEAD: (self.shape.vocabulary, self.shape.width)}

    def logits(self, tokens, adapter=None):
        """Of rows that are filled up on the right: no place sees what comes after it, so filling changes nothing before it."""
        length = tokens.shape[1]
        positions = self.cosines[:length], self.sines[:length]
        hidden = self.weights["model.embed_tokens.weight"][tokens]
        future = torch.full((length, length), float("-inf"), device=tokens.device, dtype=torch.float32).triu(1)
        for number in range(self.shape.layers):
            layer = f"model.layers.{number}"
            hidden = hidden + self.attention(layer, self.norm(f"{layer}.input_layernorm", hidden), positions, future, adapter)
            hidden = hidden + self.feed_forward(layer, self.norm(f"{layer}.post_attention_layernorm", hidden), adapter)
        head = "model.embed_tokens.weight" if self.shape.tied else f"{HEAD}.weight"
        final = self.norm("model.norm", hidden)
        logits = functional.linear(final, self.weights[head])
        return (logits if adapter is None else adapter.add_to(logits, HEAD, final)).float()

    def attention(self, layer, x, positions, future, adapter):
        rows, length, _ = x.shape

        def heads(name, count):
            return self.linear(f"{layer}.self_attn.{name}", x, adapter).view(rows, length, count, self.shape.head).transpose(1, 2)

        queries = rotate(heads("q_proj", self.shape.heads), positions)
        keys = rotate(heads("k_proj", self.shape.kv_heads), positions)
        values = heads("v_proj", self.shape.kv_heads)
        shared = self.shape.heads // self.shape.kv_heads
        keys, values = keys.repeat_interleave(shared, dim=1), values.repeat_interleave(shared, dim=1)
        scores = (queries @ keys.transpose(-1, -2)).float() * self.shape.head**-0.5 + future
        mixed = scores.softmax(dim=-1).to(values.dtype) @ values
        return self.linear(f"{layer}.self_attn.o_proj", mixed.transpose(1, 2).reshape(rows, length, -1), adapter)

    def feed_forward(self, layer, x, adapter):
        gate = functional.silu(self.linear(f"{layer}.mlp.gate_proj", x, adapter))
        return self.linear(f"{layer}.mlp.down_proj", gate * self.linear(f"{layer}.mlp.up_proj", x, adapter), adapter)

    def linear(self, module, x, adapter):
        y = functional.linear(x, self.weights[f"{module}.weight"])
        return y if adapter is None else adapter.add_to(y, module, x)

    def norm(self, module, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.shape.epsilon)
        return wide.to(x.dtype) * self.weights[f"{module}.weight"]


def rotate(x, positions):
    """The halves of a head turn against each other, as the folders of Hugging Face lay them out."""
    cosines, sines = (part.to(x.dtype) for part in positions)
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat([-second, first], dim=-1) * sines
