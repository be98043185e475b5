/** The files that are written here, in the real llama.cpp: it must think of every next token what PyTorch thinks of it. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlamaEngine } from '../../plugins/runtimes/llama/engine.ts'
import { sharedFolder } from '../../test/support/folder.ts'
import { withLlama } from '../../test/weights/support/llama.ts'
import type { Engine } from '../../src/contract/index.ts'
import { adapterGguf } from '../../src/weights/formats/adapter-gguf.ts'
import { exportModelGguf } from './model-gguf.ts'
import { readModelShape } from '../../src/weights/formats/model-shape.ts'
import { readAdapter } from '../../src/weights/formats/peft.ts'

/** Made by fixtures/make.py: a random model, an adapter for it, and the whole distribution after one prompt, with and without. */
const TINY = join(import.meta.dirname, 'fixtures/tiny')
const TEXT = 'user: Pick a  colour ▁é.\n'
const folder = sharedFolder()
const never = new AbortController().signal

interface Expected {
  readonly tokens: readonly number[]
  readonly base: readonly number[]
  readonly adapted: readonly number[]
}
let expected: Expected
let engine: Engine

beforeAll(async () => {
  withLlama()
  expected = JSON.parse(await readFile(join(TINY, 'expected.json'), 'utf8'))
  const model = join(folder, 'model.gguf')
  await exportModelGguf(join(TINY, 'model'), model)
  await cp(join(TINY, 'adapter'), join(folder, 'adapter'), { recursive: true })
  const adapter = adapterGguf(await readAdapter(join(folder, 'adapter')), await readModelShape(model))
  await writeFile(join(folder, 'adapter/adapter.gguf'), adapter)
  engine = await openLlamaEngine({ model, capacity: 1, parallel: 1, contextTokens: null, threads: 1, gpu: 'off' })
  await engine.load({ name: 'tiny', directory: join(folder, 'adapter') }, never)
})
afterAll(() => engine.close())

async function chances(adapter: string | null): Promise<readonly number[]> {
  const all: number[] = []
  for (const token of expected.base.keys()) {
    const scores = await engine.score([...expected.tokens, token], adapter, never)
    all.push(Math.exp(scores.at(-1) ?? Number.NaN))
  }
  return all
}

const farthest = (some: readonly number[], others: readonly number[]): number =>
  Math.max(...some.map((chance, token) => Math.abs(chance - (others[token] ?? Number.NaN))))

describe('llama.cpp', () => {
  it('agrees with PyTorch on the model', async () => {
    expect(farthest(await chances(null), expected.base)).toBeLessThan(1e-3)
  })

  it('agrees with PyTorch on the model with the adapter, which changes it', async () => {
    expect(farthest(await chances('tiny'), expected.adapted)).toBeLessThan(1e-3)
    expect(farthest(expected.base, expected.adapted)).toBeGreaterThan(0.1)
  })

  it('reads text as bytes, with the token that begins it where the template writes it', async () => {
    const encoded = await engine.encode?.({ messages: [{ role: 'user', content: TEXT.slice('user: '.length, -1) }] }, null, never)
    expect(encoded?.prompt).toEqual([...expected.tokens, ...Buffer.from('assistant:').map((byte) => byte + 3)])
  })
})
