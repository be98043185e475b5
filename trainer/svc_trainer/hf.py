"""Other models, run by the transformers package; hooks add adapters to their linear layers."""

import torch
from transformers import AutoModelForCausalLM

from .llama import ATTENTION, FEED_FORWARD, HEAD


class Transformer:
    def __init__(self, folder, device, dtype):
        # Runs no code of the folder, and downloads nothing.
        options = {"torch_dtype": dtype, "local_files_only": True, "trust_remote_code": False}
        self.model = AutoModelForCausalLM.from_pretrained(folder, **options).to(device).eval().requires_grad_(False)
        self.adapter = None
        modules = {name: module for name, module in self.model.named_modules() if is_target(name, module)}
        self.extents = {name: (module.out_features, module.in_features) for name, module in modules.items()}
        for name, module in modules.items():
            module.register_forward_hook(self.hook_of(name))

    def hook_of(self, name):
        return lambda _module, inputs, output: output if self.adapter is None else self.adapter.add_to(output, name, inputs[0])

    def linears(self):
        return self.extents

    def logits(self, tokens, adapter=None):
        """Rows are padded on the right and attention is causal, so no mask is needed."""
        self.adapter = adapter
        try:
            return self.model(input_ids=tokens, use_cache=False).logits.float()
        finally:
            self.adapter = None


def is_target(name, module):
    return isinstance(module, torch.nn.Linear) and name.rsplit(".", 1)[-1] in (*ATTENTION, *FEED_FORWARD, HEAD)
