/** Tokens of a real model for the test engines. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine, ModelShape, Sampling } from '../../../src/contract/index.ts'
import { ADAPTER_GGUF, adapterGguf } from '../../../src/weights/formats/adapter-gguf.ts'
import { readAdapter } from '../../../src/weights/formats/peft.ts'
import type { Decoder } from './decoder.ts'

export async function llamaDecoder(engine: Engine): Promise<Decoder> {
  const { signal } = new AbortController()
  const { vocabulary, contextTokens, shape } = await engine.model(signal)
  const loading = new Map<string, Promise<string>>()
  /** Names are derived from folders: the test engine has its own names. */
  const adapterOf = (directory: string | null): Promise<string> | null => {
    if (directory === null) return null
    const known = loading.get(directory) ?? load(directory)
    loading.set(directory, known)
    return known
  }
  const load = async (directory: string): Promise<string> => {
    const name = createHash('sha256').update(directory).digest('hex')
    await engine.load({ name, directory: await withGguf(directory, shape) }, signal)
    return name
  }
  return {
    vocabulary,
    contextTokens,
    encodeChat: async (messages, opens) => {
      const earlier = opens ? messages : messages.slice(0, -1)
      const encoded = await engine.encode?.({ messages: earlier }, opens ? null : (messages.at(-1) ?? null), signal)
      if (encoded === undefined || encoded === null) throw new Error('this engine cannot encode a chat')
      return [...encoded.prompt, ...encoded.answer]
    },
    generate: async (prompt, directory, sampling: Sampling) => {
      const { tokens, logProbs, text, finish } = await engine.generate({ prompt, adapter: await adapterOf(directory), sampling, signal })
      return { tokens, logProbs, text, finish: finish === 'length' ? 'length' : 'stop' }
    },
    score: async (tokens, directory) => engine.score(tokens, await adapterOf(directory), signal),
  }
}

/** Engines that do not read GGUF get folders without one: then it is made. */
async function withGguf(directory: string, shape: ModelShape | null): Promise<string> {
  if (shape === null || existsSync(join(directory, ADAPTER_GGUF))) return directory
  const beside = await mkdtemp(join(tmpdir(), 'svc-engine-'))
  await writeFile(join(beside, ADAPTER_GGUF), adapterGguf(await readAdapter(directory), shape))
  return beside
}
