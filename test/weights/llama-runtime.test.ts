/** The llama runtime as the service uses it: made of its settings, in every format, by the suite of all runtimes. */
import { beforeAll, describe, expect, it } from 'vitest'
import { runtimeConformance } from '../../conformance/index.ts'
import llama from '../../plugins/runtimes/llama/index.ts'
import { sharedFolder } from '../support/folder.ts'
import { randomModel, withLlama } from './support/llama.ts'

const folder = sharedFolder()
let file = ''
const make = async () => ({
  runtime: await llama.plugin.make({ model: file, threads: 1, timeout_s: 60 }),
  model: { url: '', model: null, api: 'openai' as const, apiKey: null },
})

beforeAll(async () => {
  withLlama()
  file = await randomModel(folder)
})

runtimeConformance({ describe, it, make })

it('serves the base to a scenario before anything was trained', async () => {
  const { runtime } = await make()
  await runtime.weights?.serve('one', { runtime_load_id: 'ab12:0', directory: null })
  expect(runtime.weights?.served('one')).toEqual({ runtime_load_id: 'ab12:0', adapter: null })
  expect(await runtime.status()).toMatchObject({ runtime: 'llama', model: 'random', generating: 0 })
  await runtime.close()
})
