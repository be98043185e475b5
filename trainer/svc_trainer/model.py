"""A model in training: an adapter, its accumulated gradient and its optimizer; only the worker uses it."""

import os
from dataclasses import asdict

from . import lora, safetensors
from .adam import Adam, norm_of
from .parse import LoraSettings
from .refusal import invalid
from .step import all_finite, check_finite, run_pass


class Model:
    def __init__(self, model_id, session_id, base, settings):
        self.id = model_id
        self.session_id = session_id
        self.base = base
        self.settings = settings
        self.adapter = None
        self.adam = None
        self.gradients = {}

    def create(self):
        self.adapter = lora.fresh(self.settings, self.base.load().linears(), self.base.device)
        self.adam = Adam(self.adapter.tensors)
        return {"model_id": self.id, "type": "create_model"}

    def forward(self, work, wants_gradient):
        self.check_made()
        llm, base = self.base.load(), self.base
        logprobs, metrics, gradients = run_pass(llm, base.vocabulary, self.adapter, work, base.device, wants_gradient)
        if wants_gradient:
            gathered = {name: self.gradients[name] + part for name, part in gradients.items()} if self.gradients else gradients
            check_finite(gathered)
            self.gradients = gathered
        outputs = [{"logprobs": {"data": row, "dtype": "float32", "shape": [len(row)]}} for row in logprobs]
        return {"loss_fn_output_type": "logprobs", "loss_fn_outputs": outputs, "metrics": metrics}

    def step(self, params):
        self.check_made()
        if not self.gradients:
            raise invalid("there is no gradient to step by: call forward_backward first")
        moved, adam = self.adam.stepped(self.adapter.tensors, self.gradients, params)
        if not all_finite(moved):
            raise invalid("the step would make weights that are not finite, nothing was changed: take a smaller learning_rate")
        metrics = {"optimizer_steps": adam.steps, "grad_norm": norm_of(self.gradients), "learning_rate": params.learning_rate}
        self.adapter, self.adam, self.gradients = lora.Adapter(self.settings, moved), adam, {}
        return {"metrics": metrics}

    def write_state(self, folder):
        """The whole state, except an accumulated gradient."""
        self.check_made()
        parts = {"adapter": self.adapter.tensors, "first": self.adam.first, "second": self.adam.second}
        tensors = {f"{part}/{name}": tensor for part, named in parts.items() for name, tensor in named.items()}
        safetensors.write(os.path.join(folder, "state.safetensors"), tensors)
        facts = {"base_model": self.base.name, "base_digest": self.base.digest(), "optimizer_steps": self.adam.steps}
        lora.write_json(os.path.join(folder, "state.json"), facts | asdict(self.settings))

    def write_adapter(self, folder):
        self.check_made()
        lora.write_peft(folder, self.adapter, self.base.name)

    def load_state(self, folder, facts, wants_optimizer):
        self.check_made()
        if facts["base_digest"] != self.base.digest():
            raise invalid("this state was trained over other weights of a base model with the same name: it cannot go on here")
        tensors = safetensors.read(os.path.join(folder, "state.safetensors"))
        part = {which: self.part_of(tensors, which) for which in ("adapter", "first", "second")}
        self.adapter, self.gradients = lora.Adapter(self.settings, part["adapter"]), {}
        self.adam = Adam(part["adapter"])
        if wants_optimizer:
            self.adam = Adam(part["adapter"], facts["optimizer_steps"], part["first"], part["second"])

    def part_of(self, tensors, which):
        """Copied, since the file may be deleted meanwhile."""
        return {name: tensors[f"{which}/{name}"].to(self.base.device, copy=True) for name in self.adapter.tensors}

    def check_state(self, facts):
        if facts["base_model"] != self.base.name:
            raise invalid("this state belongs to another base model: create the model over that one")
        if facts["rank"] != self.settings.rank:
            raise invalid(f"this state has rank {facts['rank']}, the model {self.settings.rank}: create the model with the state's rank")
        # States of older trainers say nothing of the unembedding, which they did not train.
        facts = {"train_unembed": False, **facts}
        same = LoraSettings(**{name: facts[name] for name in asdict(self.settings)} | {"seed": self.settings.seed})
        if same != self.settings:
            raise invalid("this state has another lora_config (alpha, train_attn, train_mlp or train_unembed): create the model with the same")

    def check_made(self):
        if self.adapter is None:
            raise invalid("the model could not be created: the future of create_model says why")
