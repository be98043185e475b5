"""The trainer on one device, without the service: a reward curve, tokens and steps per second, and its step beside a plain loop."""

import argparse
import sys
import tempfile
import time

import torch
from svc_trainer import tiny, tiny_text
from svc_trainer.base import Base
from svc_trainer.generate import generate
from svc_trainer.model import Model
from svc_trainer.parse import AdamParams, LoraSettings, Row, Work
from svc_trainer.samplers import Wish

QUESTION, WANTED = "Pick a colour.", "blue"
TIMED_STEPS = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--group", type=int, default=32)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--adapter-rate", type=float, default=0.003)
    tiny.add_options(parser)
    options = parser.parse_args(["--out", tempfile.mkdtemp(), *sys.argv[1:]])
    device = torch.device(options.device)
    if tiny.make_tiny(options, device) != 0:
        raise SystemExit("the model was not made")
    base = Base("tiny", options.out, device, "fp32")
    print(f"{sum(weight.numel() for weight in base.load().weights.values())} parameters on {device}")
    model = Model("m", "s", base, LoraSettings(options.rank, 32, 0, True, True))
    model.create()
    params = AdamParams(options.adapter_rate, 0.9, 0.95, 1e-8, 0.0, 0.0)
    work = play(model, base, options, params)
    beside_plain(model, base, work, params, options.rank)


def play(model, base, options, params):
    """Rounds of one question: sampled on the device, scored, and one step."""
    prompt = tiny_text.prompt(QUESTION, False)
    wanted = tiny_text.encode(WANTED) + [tiny_text.EOS]
    tokens, sampling, steps, training, work = 0, 0.0, 0, 0.0, None
    print("| round | reward | seconds for the step |\n|--:|--:|--:|")
    for at in range(options.rounds):
        wish = Wish(prompt, options.group, 8, 1.0, -1, 1.0, at, frozenset([tiny_text.EOS]), 0)
        began = now(base)
        rows = generate(base.load(), model.adapter, base, wish)["sequences"]
        sampled = now(base)
        tokens, sampling = tokens + sum(len(row["tokens"]) for row in rows), sampling + sampled - began
        rewards = [float(row["tokens"] == wanted) for row in rows]
        mean = sum(rewards) / len(rewards)
        if min(rewards) == max(rewards):
            print(f"| {at + 1} | {mean:.2f} | none: all alike |")
            continue
        work = Work([row_of(prompt, row, reward - mean) for row, reward in zip(rows, rewards)], "importance_sampling", {})
        model.forward(work, True)
        model.step(params)
        steps, training = steps + 1, training + now(base) - sampled
        print(f"| {at + 1} | {mean:.2f} | {now(base) - sampled:.3f} |", flush=True)
    if work is None:
        raise SystemExit("every group was answered alike: take a larger --group")
    print(f"{tokens / sampling:.0f} tokens sampled per second, {steps / training:.1f} steps per second")
    return work


def row_of(prompt, row, advantage):
    ids, before = prompt + row["tokens"], [0.0] * (len(prompt) - 1)
    numbers = {"logprobs": before + row["logprobs"], "advantages": before + [advantage] * len(row["tokens"])}
    return Row(ids[:-1], ids[1:], numbers)


def beside_plain(model, base, work, params, rank):
    """The same rows by PEFT and PyTorch's AdamW, where PEFT is installed."""
    ours = timed(base, lambda: (model.forward(work, True), model.step(params)))
    try:
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM
    except ImportError as problem:
        return print(f"trainer: {ours:.4f} s for a step; no plain loop beside it, since {problem.name} is not installed")
    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    plain = get_peft_model(AutoModelForCausalLM.from_pretrained(base.folder), LoraConfig(r=rank, lora_alpha=32, target_modules=targets))
    plain = plain.to(base.device)
    optimizer = torch.optim.AdamW([weight for weight in plain.parameters() if weight.requires_grad], lr=params.learning_rate)
    pad = lambda lists, kind: torch.nn.utils.rnn.pad_sequence([torch.tensor(one, dtype=kind) for one in lists], True).to(base.device)

    def step():
        ids, targets = pad([row.tokens for row in work.rows], torch.long), pad([row.targets for row in work.rows], torch.long)
        before, weights = (pad([row.inputs[name] for row in work.rows], torch.float) for name in ("logprobs", "advantages"))
        logp = plain(ids).logits.log_softmax(-1).gather(2, targets[:, :, None])[:, :, 0]
        loss = -(torch.exp(torch.where(weights != 0, logp - before, 0.0)) * weights).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # As the trainer answers them.
        return logp.tolist()

    theirs = timed(base, step)
    print(f"trainer: {ours:.4f} s for a step, PEFT: {theirs:.4f} s: {ours / theirs:.2f} times")


def timed(base, step):
    step()
    began = now(base)
    for _ in range(TIMED_STEPS):
        step()
    return (now(base) - began) / TIMED_STEPS


def now(base):
    if base.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


if __name__ == "__main__":
    main()
