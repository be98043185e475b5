/** The runtime of weights over engines that are asked by HTTP: what it promises holds whatever the engine does. */
import { describe, expect, it } from 'vitest'
import type { Release, Runtime, WeightRuntime } from '../../../src/contract/index.ts'
import { writeProvenance } from '../../../src/weights/formats/provenance.ts'
import { makeFence } from '../../../src/weights/serving/fence.ts'
import { makeWeightRuntime } from '../../../src/weights/serving/runtime.ts'
import { until } from '../../support/wait.ts'
import { adapterFolder } from './adapter-folder.ts'
import { scriptedDecoder } from './decoder.ts'
import { kinds, NEVER, openEngine, type Kind } from './kinds.ts'

const RELEASE: Release = { release_id: 'r1', parent_release_id: null, content_id: 'c1' }
const BODY = { model: 'mine', messages: [{ role: 'user', content: 'hello' }], max_tokens: 6, temperature: 0 }
const PROBE = [1, 107, 104, 111, 111, 114]

/** `request` sends one request of the scenario through its fence. */
async function open(kind: Kind) {
  const { server, engine } = await openEngine(kind, {}, { vocabulary: 259 })
  const runtime = makeWeightRuntime(engine, { name: kind, modelName: 'tiny' })
  const { weights } = runtime
  if (weights === undefined) throw new Error('this runtime serves no weights')
  return { server, weights, request: () => ask(runtime, weights) }
}

/** The answer, and what is kept of it for training. */
async function ask(runtime: Runtime, weights: WeightRuntime) {
  const fence = makeFence(weights, 's')
  const end = await fence.begin?.(RELEASE, NEVER)
  const body = fence.prepare?.(RELEASE, 'chat', BODY) ?? BODY
  const answer = await runtime.infer({
    dialect: 'chat',
    path: '/v1/chat/completions',
    headers: {},
    body: Buffer.from(JSON.stringify(body)),
    model: { url: 'http://unused', model: 'tiny', api: 'openai', apiKey: null },
    purpose: 'traffic',
    release: RELEASE,
    signal: NEVER,
  })
  end?.()
  return { answer, training: answer.kind === 'whole' ? fence.verify?.(RELEASE, 'chat', {}, answer.capture) : undefined }
}

/** With the probe that its trainer would have written. */
async function trained(weights: number): Promise<string> {
  const directory = await adapterFolder(weights)
  await writeProvenance(directory, {
    scenario: 's',
    job: 'j',
    base_model: 'tiny',
    base_digest: null,
    parent: { release_id: null, job: null },
    trainer_state: 'state',
    objective: 'sft',
    optimizer_steps: 1,
    probe: { tokens: PROBE, log_probs: [...(await scriptedDecoder().score(PROBE, directory))] },
  })
  return directory
}

describe.each(kinds)('weights served by %s', (kind) => {
  it('are the ones that answer, by the load id of every answer', async () => {
    const { weights, request } = await open(kind)
    await weights.serve('s', { runtime_load_id: 'abc:0', directory: null })
    expect((await request()).training).toMatchObject({ runtime_load_id: 'abc:0' })
    const directory = await trained(5)
    await weights.serve('s', { runtime_load_id: 'abc:1', directory })
    const decoder = scriptedDecoder()
    const prompt = await decoder.encodeChat(BODY.messages, true)
    const { tokens, logProbs } = await decoder.generate(prompt, directory, { maxTokens: 6, temperature: 0 })
    expect((await request()).training).toMatchObject({
      tokens: [...prompt, ...tokens],
      rollout_log_probs: logProbs,
      runtime_load_id: 'abc:1',
    })
  })

  it('are not taken over from an engine that ignores them', async () => {
    const { server, weights } = await open(kind)
    await weights.serve('s', { runtime_load_id: 'abc:0', directory: null })
    server.faults.add('ignoreAdapters')
    const served = weights.serve('s', { runtime_load_id: 'abc:1', directory: await trained(5) })
    await expect(served).rejects.toMatchObject({ kind: 'conflict', code: 'adapter_ignored' })
    expect(weights.served('s')).toMatchObject({ runtime_load_id: 'abc:0' })
    expect([...server.adapters.keys()]).toEqual([])
  })

  it('are loaded again into an engine that was started anew', async () => {
    const { server, weights, request } = await open(kind)
    await weights.serve('s', { runtime_load_id: 'abc:1', directory: await trained(5) })
    server.restart()
    await until(async () => {
      const asked = await request().catch(() => null)
      return asked?.answer.kind === 'whole' && asked.answer.status === 200
    })
    expect((await request()).training).toMatchObject({ runtime_load_id: 'abc:1' })
  })

  it('refuse an answer of other weights than theirs', async () => {
    const { server, weights, request } = await open(kind)
    await weights.serve('s', { runtime_load_id: 'abc:1', directory: await trained(5) })
    server.faults.add(kind === 'sglang' ? 'otherWeightVersion' : 'otherModel')
    await expect(request()).rejects.toMatchObject({ kind: 'conflict', code: 'spans_do_not_add_up' })
  })
})
