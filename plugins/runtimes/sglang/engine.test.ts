import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../test/support/wait.ts'
import { adapterFolder } from '../../../test/weights/engines/adapter-folder.ts'
import { startSglang } from '../../../test/weights/engines/sglang-server.ts'
import type { EngineServer } from '../../../test/weights/engines/server.ts'
import type { EngineOptions } from '../../../test/weights/engines/state.ts'
import { readEngineSettings } from '../common/settings.ts'
import { SglangEngine } from './engine.ts'

const NEVER = new AbortController().signal
const BODY = { model: 'mine', messages: [{ role: 'user', content: 'hello' }], max_tokens: 5, temperature: 0 }

async function open(options: EngineOptions = {}): Promise<{ server: EngineServer; engine: SglangEngine }> {
  const server = await startSglang(options)
  const engine = new SglangEngine(readEngineSettings('sglang', { url: server.url }))
  onTestFinished(async () => {
    await engine.close()
    await server.close()
  })
  return { server, engine }
}

describe('the engine sglang', () => {
  it('names the adapter in every call, since nothing else applies it', async () => {
    const { server, engine } = await open()
    await engine.load({ name: 'svc.a.1', directory: await adapterFolder(1) }, NEVER)
    await engine.chat({ body: BODY, adapter: 'svc.a.1', signal: NEVER })
    await engine.generate({ prompt: [1], adapter: 'svc.a.1', sampling: { maxTokens: 1, temperature: 0 }, signal: NEVER })
    await engine.score([1, 2], 'svc.a.1', NEVER)
    const asked = server.calls.filter(({ path }) => /completions|generate$/.test(path) && path.startsWith('POST'))
    expect(asked.map(({ body }) => body['lora_path'])).toEqual(['svc.a.1', 'svc.a.1', 'svc.a.1'])
  })

  it('names an answer by the changed weights under the adapters, so that it is never taken for one of theirs', async () => {
    const { server, engine } = await open()
    await engine.load({ name: 'svc.a.1', directory: await adapterFolder(1) }, NEVER)
    await engine.model(NEVER)
    server.faults.add('otherWeightVersion')
    const answer = await engine.chat({ body: BODY, adapter: 'svc.a.1', signal: NEVER })
    expect(answer).toMatchObject({ kind: 'answer', capture: { spans: [{ adapter: 'weight-version:other' }] } })
    const generation = await engine.generate({ prompt: [1], adapter: null, sampling: { maxTokens: 2, temperature: 0 }, signal: NEVER })
    expect(generation.spans).toMatchObject([{ adapter: 'weight-version:other' }])
    await expect(engine.score([1, 2], 'svc.a.1', NEVER)).rejects.toMatchObject({ code: 'engine_answer_broken' })
  })

  it('of an older version is called by its earlier routes, and its adapters are read from its replies', async () => {
    const { server, engine } = await open({ faults: ['old'] })
    const directory = await adapterFolder(1)
    expect(await engine.model(NEVER)).toMatchObject({ name: 'tiny', weightVersion: 'default' })
    await engine.load({ name: 'svc.a.1', directory }, NEVER)
    await engine.load({ name: 'svc.a.2', directory }, NEVER)
    await engine.unload('svc.a.2', NEVER)
    expect(await engine.adapters(NEVER)).toEqual(['svc.a.1'])
    server.restart()
    await until(() =>
      engine.health(NEVER).then(
        () => true,
        () => false,
      ),
    )
    await expect(engine.chat({ body: BODY, adapter: 'svc.a.1', signal: NEVER })).rejects.toMatchObject({ code: 'adapter_lost' })
    expect(await engine.adapters(NEVER)).toEqual([])
  })
})
