"""The trainer's step as others would write it: PEFT, and PyTorch's AdamW."""

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers import AutoModelForCausalLM

MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


class PlainLoop:
    def __init__(self, base, adapter, params):
        """Begins with the adapter's weights, and with an optimizer that has seen nothing."""
        settings = LoraConfig(r=adapter.settings.rank, lora_alpha=adapter.settings.alpha, target_modules=MODULES)
        self.device = base.device
        self.model = get_peft_model(AutoModelForCausalLM.from_pretrained(base.folder), settings).to(base.device)
        set_peft_model_state_dict(self.model, adapter.tensors)
        trained = [weight for weight in self.model.parameters() if weight.requires_grad]
        betas = (params.beta1, params.beta2)
        self.optimizer = torch.optim.AdamW(trained, lr=params.learning_rate, betas=betas, eps=params.eps, weight_decay=params.weight_decay)

    def step(self, work):
        """One step by the published formula of importance sampling. Answers the log-probabilities, as the trainer does."""
        ids, targets = (self.pad([getattr(row, name) for row in work.rows], torch.long) for name in ("tokens", "targets"))
        before, weights = (self.pad([row.inputs[name] for row in work.rows], torch.float) for name in ("logprobs", "advantages"))
        logp = self.model(ids).logits.log_softmax(-1).gather(2, targets[:, :, None])[:, :, 0]
        loss = -(torch.exp(torch.where(weights != 0, logp - before, torch.zeros_like(logp))) * weights).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return logp.tolist()

    def pad(self, lists, kind):
        return torch.nn.utils.rnn.pad_sequence([torch.tensor(one, dtype=kind) for one in lists], True).to(self.device)

    def apart(self, adapter):
        """The largest difference of a weight. Throws where one of them has a tensor that the other has not."""
        theirs = get_peft_model_state_dict(self.model)
        if theirs.keys() != adapter.tensors.keys():
            raise ValueError(f"other tensors: {sorted(theirs.keys() ^ adapter.tensors.keys())}")
        return max(float((tensor - theirs[name]).abs().max()) for name, tensor in adapter.tensors.items())
