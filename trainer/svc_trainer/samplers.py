"""Sampling sessions: a base model, or an adapter that was saved or is kept for the session."""

import functools
import os
import random
import uuid
from dataclasses import dataclass
from typing import FrozenSet, List, Optional

from . import parse, safetensors
from .checkpoints import read_config
from .generate import generate
from .lora import PREFIX, Adapter
from .refusal import invalid, unknown

SAMPLES_MAX = 1024
UNSUPPORTED = ("topk_prompt_logprobs", "topk_sample_logprobs", "target_prompt_logprobs", "prompt_alt_tokens_k", "record_stability_info")


@dataclass(frozen=True)
class Wish:
    tokens: List[int]
    count: int
    tokens_max: int
    temperature: float
    top_k: int
    top_p: float
    seed: int
    stop: FrozenSet[int]
    # How many tokens at the end of the prompt are scored.
    scored: int


@dataclass(frozen=True)
class Sampler:
    id: str
    session_id: str
    base: object
    adapter: Optional[Adapter]
    path: Optional[str]

    def view(self):
        return {"sampler_id": self.id, "base_model": self.base.name, "model_path": self.path}


class Samplers:
    def __init__(self, service):
        self.service = service
        # By the sampler's id, and by (session, number).
        self.known = {}
        self.numbered = {}

    def create(self, body):
        session_id = parse.field(body, "session_id", str)
        self.service.touch(session_id)
        number = parse.field(body, "sampling_session_seq_id", int)
        with self.service.lock:
            earlier = self.numbered.get((session_id, number))
        sampler = earlier or self.add(session_id, number, *self.source_of(body))
        return {"type": "create_sampling_session", "sampling_session_id": sampler.id}

    def add(self, session_id, number, base, adapter, path):
        sampler = Sampler(uuid.uuid4().hex, session_id, base, adapter, path)
        with self.service.lock:
            self.known[sampler.id] = sampler
            self.numbered[session_id, number] = sampler
        return sampler

    def source_of(self, body):
        if (body.get("base_model") is None) == (body.get("model_path") is None):
            raise invalid("either base_model or model_path must be given")
        if body.get("base_model") is not None:
            return self.service.base_of(parse.field(body, "base_model", str)), None, None
        path = parse.field(body, "model_path", str)
        run, kind, name = parse.checkpoint_path(path)
        if kind != "sampler_weights":
            raise invalid("model_path must name weights for a sampler: tinker://MODEL/sampler_weights/NAME")
        folder = self.service.checkpoints.folder(run, kind, name)
        config = read_config(folder)
        base = self.service.base_of(config["base_model_name_or_path"])
        return base, adapter_in(folder, config, base.device), path

    def of(self, sampler_id):
        with self.service.lock:
            if sampler_id not in self.known:
                raise unknown("there is no such sampling session: the trainer was started again, or its session was silent; create another")
            return self.known[sampler_id]

    def of_session(self, session_id):
        return [sampler.id for sampler in list(self.known.values()) if sampler.session_id == session_id]

    def forget(self, session_ids):
        """The caller holds the lock."""
        self.known = {name: sampler for name, sampler in self.known.items() if sampler.session_id not in session_ids}
        self.numbered = {key: sampler for key, sampler in self.numbered.items() if key[0] not in session_ids}

    def sample(self, body):
        sampler = self.of(parse.field(body, "sampling_session_id", str))
        self.service.touch(sampler.session_id)

        def accept():
            wish = wish_of(body, sampler.base)
            return functools.partial(run, sampler, wish), {"sample_sequence_ids": [uuid.uuid4().hex for _ in range(wish.count)]}

        return self.service.futures.once((sampler.session_id, sampler.id, parse.field(body, "seq_id", int)), body, accept)


def run(sampler, wish):
    return generate(sampler.base.load(), sampler.adapter, sampler.base, wish)


def adapter_in(folder, config, device):
    tensors = safetensors.read(os.path.join(folder, "adapter_model.safetensors"))
    # Copied, since the file may be deleted meanwhile.
    tensors = {name: tensor.to(device, copy=True) for name, tensor in tensors.items() if name.startswith(PREFIX)}
    return Adapter(None, tensors, config["lora_alpha"] / config["r"])


def wish_of(body, base):
    for name in UNSUPPORTED:
        if body.get(name):
            raise invalid(f"{name} is not supported by this trainer: leave it out")
    tokens = parse.tokens_of({"model_input": parse.field(body, "prompt", dict)}, "prompt", base)
    params = parse.field(body, "sampling_params", dict)
    count = parse.field(body, "num_samples", int, 1)
    tokens_max = parse.field(params, "max_tokens", int, base.context)
    top_k = parse.field(params, "top_k", int, -1)
    top_p = parse.number({"top_p": 1.0, **params}, "top_p", None, least=0)
    seed = parse.field(params, "seed", int, random.SystemRandom().getrandbits(62))
    last = parse.field(body, "prompt_logprobs_last_n", int, len(tokens))
    if not 1 <= count <= SAMPLES_MAX or tokens_max < 1 or last < 1:
        raise invalid(f"num_samples must be from 1 to {SAMPLES_MAX}; max_tokens and prompt_logprobs_last_n must be above 0")
    if top_k == 0 or top_k < -1 or not 0 < top_p <= 1 or not 0 <= seed < 2**64:
        raise invalid("sampling_params: top_k must be -1 or above 0, top_p above 0 and at most 1, seed from 0 to 18446744073709551615")
    return Wish(
        tokens=tokens,
        count=count,
        tokens_max=tokens_max,
        temperature=parse.number({"temperature": 1.0, **params}, "temperature", None, least=0),
        top_k=top_k,
        top_p=top_p,
        seed=seed % 2**63,
        stop=stop_of(params.get("stop"), base),
        scored=last if parse.field(body, "prompt_logprobs", bool, False) else 0,
    )


def stop_of(stop, base):
    """Without a stop the model's own end counts."""
    if not stop:
        ends = base.config.get("eos_token_id")
        return frozenset(ends if isinstance(ends, list) else [ends])
    if type(stop) is not list or not all(type(token) is int for token in stop):
        raise invalid("sampling_params.stop must be a list of token ids: this trainer has no tokenizer to find texts with")
    return frozenset(stop)
