"""Makes the tiny model: a byte-level Llama that is small enough to train on one core while you wait."""

import json
import math
import os
import random
import sys
import time

import torch
from torch.nn import functional

from . import safetensors
from .adam import Adam
from .llama import Llama, extents_of, shape_of
from .parse import AdamParams
from .tiny_text import BOS, EOS, FAMILIES, SPECIALS, TEMPLATE, UNK, VOCABULARY, chats_of_step, encode, prompt, weights_of

SHARE_LEAST = 0.05
CONTEXT = 1024
WARM_STEPS = 10
TOLD_STEPS = 15
LENGTHS_APART_MAX = 6


def add_options(parser):
    parser.add_argument("--out", required=True, help="the folder to write")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--steps", type=int, default=90)
    parser.add_argument("--others", type=int, default=3, help="chats of other questions, and of two turns, in each step")
    parser.add_argument("--learning-rate", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=1)


def make_tiny(options, device):
    config = config_of(options)
    weights = fresh_weights(shape_of(config), options.seed, device)
    print(f"training {sum(weight.numel() for weight in weights.values())} parameters", file=sys.stderr)
    weights = train(config, weights, options, device)
    shares = shares_of(Llama(shape_of(config), weights), device)
    for question, share in shares.items():
        print(f"{question:16}  " + "  ".join(f"{answer} {chance:.3f}" for answer, chance in share.items()), file=sys.stderr)
    if any(chance < SHARE_LEAST for share in shares.values() for chance in share.values()):
        print(f"an answer has a chance below {SHARE_LEAST}: take more steps", file=sys.stderr)
        return 1
    write_folder(options.out, config, weights)
    return 0


def config_of(options):
    return {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "head_dim": options.width // options.heads,
        "hidden_act": "silu",
        "hidden_size": options.width,
        "intermediate_size": options.width * 2,
        "max_position_embeddings": CONTEXT,
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": options.heads,
        "num_hidden_layers": options.layers,
        "num_key_value_heads": max(1, options.heads // 2),
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "torch_dtype": "float32",
        "vocab_size": VOCABULARY,
    }


def fresh_weights(shape, seed, device):
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, extents in extents_of(shape).items():
        plain = torch.ones(extents) if len(extents) == 1 else torch.randn(extents, generator=generator) / math.sqrt(shape.width)
        weights[name] = plain.to(device)
    return weights


def train(config, weights, options, device):
    source, adam, started = random.Random(options.seed), Adam(weights), time.monotonic()
    for step in range(options.steps):
        leaves = {name: weight.requires_grad_() for name, weight in weights.items()}
        loss = loss_of(Llama(shape_of(config), leaves), chats_of_step(step, options.others, source), device)
        gradients = dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values()))))
        rate = options.learning_rate * min(1, (step + 1) / WARM_STEPS) * (0.02 + 0.98 * (1 - step / options.steps))
        params = AdamParams(learning_rate=rate, beta1=0.9, beta2=0.98, eps=1e-9, weight_decay=0.0, grad_clip_norm=1.0)
        with torch.no_grad():
            weights, adam = adam.stepped({name: weight.detach() for name, weight in weights.items()}, gradients, params)
        if (step + 1) % TOLD_STEPS == 0 or step + 1 == options.steps:
            seconds = time.monotonic() - started
            print(f"step {step + 1} of {options.steps}  loss {float(loss.detach()):.4f}  {seconds:.0f} s", file=sys.stderr)
    return weights


def loss_of(llama, chats, device):
    total = sum(weight * sum(weights_of(tokens)[1:]) for tokens, weight in chats)
    return sum(summed_loss(llama, alike, device) for alike in of_similar_length(chats)) / total


def of_similar_length(chats):
    """Filling up short rows to the longest would cost more than the model."""
    groups = []
    for chat in chats:
        if groups and len(chat[0]) <= len(groups[-1][0][0]) + LENGTHS_APART_MAX:
            groups[-1].append(chat)
        else:
            groups.append([chat])
    return groups


def summed_loss(llama, chats, device):
    longest = max(len(tokens) for tokens, _ in chats)
    rows = torch.tensor([tokens + [UNK] * (longest - len(tokens)) for tokens, _ in chats], device=device)
    counts = [[weight * part for part in weights_of(tokens)] + [0.0] * (longest - len(tokens)) for tokens, weight in chats]
    targets = rows[:, 1:]
    losses = functional.cross_entropy(llama.logits(rows[:, :-1]).flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)
    return (losses * torch.tensor(counts, device=device)[:, 1:]).sum()


@torch.no_grad()
def shares_of(llama, device):
    """The chance of each answer to each question, its end included; the lesser of those with the system line and without."""

    def least(question, answer):
        return min(chance_of(llama, question, answer, has_system, device) for has_system in (False, True))

    return {question: {answer: least(question, answer) for answer in answers} for question, answers in FAMILIES.items()}


def chance_of(llama, question, answer, has_system, device):
    before = prompt(question, has_system)
    tokens = torch.tensor([before + encode(answer) + [EOS]], device=device)
    logp = llama.logits(tokens[:, :-1]).log_softmax(dim=-1).gather(2, tokens[:, 1:, None]).squeeze()
    return math.exp(float(logp[len(before) - 1 :].sum()))


def write_folder(folder, config, weights):
    os.makedirs(folder, exist_ok=True)
    safetensors.write(os.path.join(folder, "model.safetensors"), weights)
    specials = {"bos_token": SPECIALS[BOS], "eos_token": SPECIALS[EOS], "unk_token": SPECIALS[UNK]}
    described = {"add_bos_token": True, "add_eos_token": False, "chat_template": TEMPLATE, "model_max_length": CONTEXT}
    files = {
        "config.json": config,
        "generation_config.json": {"bos_token_id": BOS, "eos_token_id": EOS},
        "tokenizer_config.json": described | specials | {"tokenizer_class": "PreTrainedTokenizerFast"},
        "tokenizer.json": tokenizer(),
    }
    for name, value in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)


def tokenizer():
    """Nothing but bytes: a vocabulary without merges, where every character falls back to its bytes."""
    pieces = [*SPECIALS, *(f"<0x{byte:02X}>" for byte in range(256))]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": piece, **flags} for number, piece in enumerate(SPECIALS)],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": SPECIALS[UNK],
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {piece: number for number, piece in enumerate(pieces)},
            "merges": [],
        },
    }
