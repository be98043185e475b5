"""Starts llama.cpp's own server, with its own settings but for threads and room, and says where it listens."""

import signal
import sys

import xllamacpp

model, clients, tokens, threads = sys.argv[1], *map(int, sys.argv[2:])
params = xllamacpp.CommonParams()
params.model.path = model
params.n_parallel = clients
params.n_ctx = tokens * clients
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
params.port = 0
params.verbosity = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.pause()
