"""Samples of a model, with the log-probability of every token. It reads the whole text again for each token: for small models and short answers."""

import torch

from .step import padded


@torch.no_grad()
def generate(llm, adapter, base, wish):
    generator = torch.Generator().manual_seed(wish.seed)
    rows = [list(wish.tokens) for _ in range(wish.count)]
    logprobs = [[] for _ in rows]
    reasons = ["length"] * len(rows)
    running = list(range(len(rows)))
    for _ in range(min(wish.tokens_max, base.context - len(wish.tokens))):
        logits = llm.logits(padded([rows[at] for at in running], torch.long, base.device), adapter)[:, -1].cpu()
        picked, scores = pick(logits, wish, generator)
        for at, token, score in zip(running, picked.tolist(), scores.tolist()):
            rows[at].append(token)
            logprobs[at].append(score)
            if token in wish.stop:
                reasons[at] = "stop"
        running = [at for at in running if reasons[at] == "length"]
        if not running:
            break
    start = len(wish.tokens)
    sequences = [
        {"stop_reason": reason, "tokens": row[start:], "logprobs": scores} for reason, row, scores in zip(reasons, rows, logprobs)
    ]
    return {"type": "sample", "sequences": sequences, "prompt_logprobs": prompt_scores(llm, adapter, base, wish)}


def pick(logits, wish, generator):
    """Log-probabilities include the temperature, and not what top_k and top_p leave out."""
    if wish.temperature == 0:
        scores = logits.log_softmax(-1)
        picked = logits.argmax(-1)
    else:
        scores = (logits / wish.temperature).log_softmax(-1)
        picked = torch.multinomial(kept(scores, wish).exp(), 1, generator=generator)[:, 0]
    return picked, scores.gather(1, picked[:, None])[:, 0]


def kept(scores, wish):
    ordered, places = scores.sort(-1, descending=True)
    out = torch.zeros_like(ordered, dtype=torch.bool)
    if wish.top_k > 0:
        out[:, wish.top_k :] = True
    # The first token that reaches top_p is kept.
    out |= ordered.exp().cumsum(-1) - ordered.exp() >= wish.top_p
    out[:, 0] = False
    return scores.masked_fill(out.gather(1, places.argsort(-1)), float("-inf"))


def prompt_scores(llm, adapter, base, wish):
    """One for each token of the prompt; None for the first, and for those before the last that were asked for."""
    if wish.scored == 0:
        return None
    tokens = torch.tensor([wish.tokens], device=base.device)
    scores = llm.logits(tokens, adapter)[0, :-1].log_softmax(-1).gather(1, tokens[0, 1:, None])[:, 0].tolist()
    unscored = len(wish.tokens) - min(wish.scored, len(scores))
    return [None] * unscored + scores[unscored - 1 :]
