"""The trainer on one device, without the service: a reward curve, tokens and steps per second, and its step beside a plain loop."""

import argparse
import os
import statistics
import sys
import tempfile
import time

import torch
from svc_trainer import tiny, tiny_text
from svc_trainer.adam import Adam
from svc_trainer.base import Base
from svc_trainer.generate import generate
from svc_trainer.model import Model
from svc_trainer.parse import AdamParams, LoraSettings, Row, Work
from svc_trainer.samplers import Wish

# The plain loop that the tests compare with as well.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "numbers"))

QUESTION, WANTED = "Pick a colour.", "blue"
TIMED_STEPS = 20
# How much longer than a plain loop a step may take. How far its weights may be from the plain ones is the tests' matter: they take
# a large epsilon. Here gradients are near zero, a first step of Adam is as long as the rate all the same, and so the rounding of them shows.
TIMES_MOST = 1.2
# Betas, epsilon, decay and clipping.
ADAM = (0.9, 0.95, 1e-8, 0.0, 0.0)
# The usual one of adapters.
COMPARED_RATE = 1e-4


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
    params = AdamParams(options.adapter_rate, *ADAM)
    work = play(model, base, options, params)
    beside_plain(model, base, work, params)


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


def beside_plain(model, base, work, params):
    """The same rows by PEFT and PyTorch's AdamW, where PEFT is installed: as fast, and how far their weights are apart after one step."""
    try:
        from plain_loop import PlainLoop
    except ImportError as problem:
        (ours,) = timed(base, lambda: (model.forward(work, True), model.step(params)))
        return print(f"trainer: {ours:.4f} s for a step; no plain loop beside it, since {problem.name} is not installed")
    # Both begin with the adapter that was trained above, and with an optimizer that has seen nothing.
    model.adam = Adam(model.adapter.tensors)
    compared = AdamParams(COMPARED_RATE, *ADAM)
    plain = PlainLoop(base, model.adapter, compared)
    plain.step(work), model.forward(work, True), model.step(compared)
    apart = plain.apart(model.adapter)
    ours, plainly = timed(base, lambda: (model.forward(work, True), model.step(compared)), lambda: plain.step(work))
    print(f"trainer: {ours:.4f} s for a step, PEFT: {plainly:.4f} s: {ours / plainly:.2f} times; after one step at a rate of {COMPARED_RATE:.0e} no weight differs by more than {apart:.1e}")
    if ours / plainly > TIMES_MOST:
        raise SystemExit(f"at most {TIMES_MOST} times is wanted")


def timed(base, *steps):
    """The middle time of each, in turns: a machine that is busy for a while is busy for all."""
    times = [[] for _ in steps]
    print(f"timing {TIMED_STEPS} steps of each, in turns", file=sys.stderr, flush=True)
    for _ in range(TIMED_STEPS + 1):
        for at, step in enumerate(steps):
            began = now(base)
            step()
            times[at].append(now(base) - began)
    # The first of each is slower.
    return [statistics.median(one[1:]) for one in times]


def now(base):
    if base.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


if __name__ == "__main__":
    main()
