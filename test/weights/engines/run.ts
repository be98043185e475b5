/**
 * One engine of the tests as a process of its own: `run.ts sglang|vllm [--port N] [--capacity N] [--gguf FILE]`. With a GGUF file the
 * tokens are those of a real model. Prints its address when it listens.
 */
import { parseArgs } from 'node:util'
import { openLlamaEngine } from '../../../plugins/runtimes/llama/engine.ts'
import { readSettings } from '../../../plugins/runtimes/llama/settings.ts'
import { scriptedDecoder } from './decoder.ts'
import { llamaDecoder } from './llama-decoder.ts'
import { startSglang } from './sglang-server.ts'
import { startVllm } from './vllm-server.ts'

/** The engine behind the engine must never be what runs out of room. */
const DECODER_CAPACITY = 64

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string' }, capacity: { type: 'string' }, gguf: { type: 'string' } },
})
const { port, capacity, gguf } = values
const start = positionals[0] === 'vllm' ? startVllm : startSglang
const { url } = await start({
  port: Number(port ?? 0),
  decoder:
    gguf === undefined
      ? scriptedDecoder()
      : await llamaDecoder(await openLlamaEngine(readSettings({ model: gguf, capacity: DECODER_CAPACITY }))),
  ...(capacity !== undefined && { capacity: Number(capacity) }),
})
process.stdout.write(`${url}\n`)
