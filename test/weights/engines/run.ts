/**
 * Runs a test engine as a process: `run.ts sglang|vllm [--port N] [--capacity N] [--rank N] [--modules A,B] [--gguf FILE]`. With a
 * GGUF file it uses a real model. Prints its address when it listens.
 */
import { parseArgs } from 'node:util'
import { openLlamaEngine } from '../../../plugins/runtimes/llama/engine.ts'
import { readSettings } from '../../../plugins/runtimes/llama/settings.ts'
import { scriptedDecoder } from './decoder.ts'
import { llamaDecoder } from './llama-decoder.ts'
import { startSglang } from './sglang-server.ts'
import { startVllm } from './vllm-server.ts'

/** The decoder's capacity must not be the limit. */
const DECODER_CAPACITY = 64

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string' },
    capacity: { type: 'string' },
    rank: { type: 'string' },
    modules: { type: 'string' },
    gguf: { type: 'string' },
  },
})
const { port, capacity, rank, modules, gguf } = values
const start = positionals[0] === 'vllm' ? startVllm : startSglang
const { url } = await start({
  port: Number(port ?? 0),
  decoder:
    gguf === undefined
      ? scriptedDecoder()
      : await llamaDecoder(await openLlamaEngine(readSettings({ model: gguf, capacity: DECODER_CAPACITY }))),
  ...(capacity !== undefined && { capacity: Number(capacity) }),
  ...(rank !== undefined && { rankMax: Number(rank) }),
  ...(modules !== undefined && { modules: modules.split(',') }),
})
process.stdout.write(`${url}\n`)
