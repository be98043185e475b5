"""The command line: `serve` runs the trainer, `make-tiny` makes a small model."""

import argparse
import os
import signal
import sys
import threading

import torch

from .base import DTYPES, Base
from .checkpoints import Checkpoints
from .futures import Futures
from .refusal import Refusal, invalid
from .server import make_server
from .service import Service
from .tiny import add_options, make_tiny

LOOPBACK = ("127.0.0.1", "localhost")


def main():
    parser = argparse.ArgumentParser(prog="svc_trainer", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="answer calls of a service")
    serving.add_argument("--state", required=True, help="the folder that saved weights are kept in")
    serving.add_argument("--host", default="127.0.0.1")
    serving.add_argument("--port", type=int, default=8600, help="0 takes any that is free")
    serving.add_argument("--model", action="append", default=[], metavar="NAME=DIR", help="a base model; may be given several times")
    serving.add_argument("--api-key-env", metavar="VAR", help="the variable that holds the key callers must send")
    serving.add_argument("--dtype", choices=list(DTYPES), default="fp32", help="of the base weights")
    serving.add_argument("--end-with-stdin", action="store_true", help="end when standard input does, together with the process that started this")
    add_machine_options(serving)
    tiny = commands.add_parser("make-tiny", help="make a small model for tests")
    add_options(tiny)
    add_machine_options(tiny)
    options = parser.parse_args()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    try:
        return serve(options) if options.command == "serve" else make_tiny(options, device_of(options.device))
    except Refusal as refusal:
        print(refusal.detail, file=sys.stderr)
        return 2


def add_machine_options(parser):
    parser.add_argument("--device", choices=["cpu", "cuda", "auto"], default="auto")
    parser.add_argument("--threads", type=int, help="of the processor; as many as it has by default")


def device_of(name):
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise invalid("--device cuda: torch sees no CUDA device here; take --device cpu")
    return torch.device(name)


def serve(options):
    key = key_of(options)
    device = device_of(options.device)
    bases = dict(base_of(text, device, options.dtype) for text in options.model)
    if not bases:
        raise invalid("no base model: give --model NAME=DIR, a folder as Hugging Face lays it out")
    os.makedirs(options.state, exist_ok=True)
    service = Service(bases, Checkpoints(options.state), Futures())
    try:
        server = make_server(service, options.host, options.port, key)
    except OSError as problem:
        raise invalid(f"--host and --port cannot be listened on: {(problem.strerror or 'not an address').lower()}") from problem
    # Work may be interrupted: checkpoints are atomic.
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: os._exit(0))
    if options.end_with_stdin:
        threading.Thread(target=end_with_stdin, daemon=True).start()
    print(f"svc trainer is ready at http://{options.host}:{server.server_address[1]} on {device}", flush=True)
    server.serve_forever()
    return 0


def key_of(options):
    key = os.environ.get(options.api_key_env) if options.api_key_env else None
    if options.api_key_env and not key:
        raise invalid("--api-key-env names a variable that is not set")
    if key is None and options.host not in LOOPBACK:
        raise invalid("--host: others could reach this trainer, so it needs a key; give --api-key-env VAR")
    return key


def base_of(text, device, dtype):
    name, _, folder = text.partition("=")
    if not name or not os.path.isdir(folder):
        raise invalid("--model must have the form NAME=DIR, and DIR must be a folder")
    return name, Base(name, folder, device, dtype)


def end_with_stdin():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
