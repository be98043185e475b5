"""One pass over rows of tokens: log-probabilities, the loss, and optionally its gradient."""

import torch
from torch.nn import functional

from .losses import LOSSES, token_losses
from .refusal import invalid

BATCH_TOKENS_MAX = 8192
BATCH_LOGITS_MAX = 1 << 27


def run_pass(llm, vocabulary, adapter, work, device, wants_gradient):
    """Returns the log-probabilities of each row, the metrics, and the gradients by name (empty unless requested)."""
    leaves = {name: tensor.detach().requires_grad_(wants_gradient) for name, tensor in adapter.tensors.items()}
    leaf = type(adapter)(adapter.settings, leaves)
    logprobs, gradients, total = [None] * len(work.rows), {}, Total()
    for places in batches(work.rows, vocabulary):
        rows = [work.rows[place] for place in places]
        with torch.set_grad_enabled(wants_gradient):
            logp, inputs, loss = evaluate(llm, leaf, rows, work, device)
        total.add(loss, logp, inputs, LOSSES[work.loss_fn].weight)
        if wants_gradient:
            # A layer without tokens has no gradient.
            parts = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
            for name, part in zip(leaves, parts):
                part = torch.zeros_like(leaves[name]) if part is None else part
                gradients[name] = gradients[name] + part if name in gradients else part
        for place, row in zip(places, logp.detach().tolist()):
            logprobs[place] = row[: len(work.rows[place].tokens)]
    check_finite({"loss": torch.tensor(total.loss), **gradients})
    return logprobs, total.metrics(), gradients


def evaluate(llm, adapter, rows, work, device):
    tokens = padded([row.tokens for row in rows], torch.long, device)
    targets = padded([row.targets for row in rows], torch.long, device)
    names = LOSSES[work.loss_fn].inputs
    inputs = {name: padded([row.inputs[name] for row in rows], torch.float32, device) for name in names}
    logits = llm.logits(tokens, adapter)
    logp = -functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)
    loss = token_losses(LOSSES[work.loss_fn], logp, inputs, work.settings).sum()
    return logp, inputs, loss


def padded(lists, dtype, device):
    """Pads with zeros on the right; the loss weights are zero there."""
    longest = max(len(values) for values in lists)
    return torch.tensor([values + [0] * (longest - len(values)) for values in lists], dtype=dtype, device=device)


def batches(rows, vocabulary):
    """Groups rows of similar length, as many as fit."""
    room = max(1, min(BATCH_TOKENS_MAX, BATCH_LOGITS_MAX // vocabulary))
    batch = []
    for place in sorted(range(len(rows)), key=lambda at: (len(rows[at].tokens), at)):
        if batch and (len(batch) + 1) * len(rows[place].tokens) > room:
            yield batch
            batch = []
        batch.append(place)
    yield batch


def check_finite(tensors):
    if all_finite(tensors):
        return
    raise invalid("the loss or its gradient is not finite, nothing was added: look for log-probs far off, or large advantages")


def all_finite(tensors):
    """Asks each device once: every question waits for a graphics card."""
    parts = {}
    for tensor in tensors.values():
        parts.setdefault(tensor.device, []).append(tensor.flatten())
    return all(bool(torch.isfinite(torch.cat(part)).all()) for part in parts.values())


class Total:
    def __init__(self):
        self.loss = 0.0
        self.tokens = 0
        self.difference = 0.0
        self.largest = None

    def add(self, loss, logp, inputs, weight):
        counts = inputs[weight] != 0
        self.loss += float(loss.detach())
        self.tokens += int(counts.sum())
        if "logprobs" not in inputs or not bool(counts.any()):
            return
        apart = (logp.detach() - inputs["logprobs"])[counts].abs()
        self.difference += float(apart.sum())
        self.largest = max(self.largest or 0.0, float(apart.max()))

    def metrics(self):
        """The distance from the sampler's log-probabilities shows whether the engine computes something else."""
        metrics = {"loss:sum": self.loss, "tokens:sum": self.tokens}
        if self.largest is not None:
            metrics |= {"logprob_difference:mean": self.difference / self.tokens, "logprob_difference:max": self.largest}
        return metrics
