import { describe, expect, it, onTestFinished } from 'vitest'
import { adapterFolder } from '../../../test/weights/engines/adapter-folder.ts'
import { scriptedDecoder, type Decoder } from '../../../test/weights/engines/decoder.ts'
import { startVllm } from '../../../test/weights/engines/vllm-server.ts'
import type { EngineServer } from '../../../test/weights/engines/server.ts'
import type { EngineOptions } from '../../../test/weights/engines/state.ts'
import { readEngineSettings } from '../common/settings.ts'
import { VllmEngine } from './engine.ts'

const NEVER = new AbortController().signal
const MESSAGES = [{ role: 'user', content: 'hello' }]
const BODY = { model: 'mine', messages: MESSAGES, max_tokens: 5, temperature: 0 }

async function open(options: EngineOptions = {}): Promise<{ server: EngineServer; engine: VllmEngine }> {
  const server = await startVllm(options)
  const engine = new VllmEngine(readEngineSettings('vllm', { url: server.url }))
  onTestFinished(async () => {
    await engine.close()
    await server.close()
  })
  return { server, engine }
}

describe('the engine vllm', () => {
  it('names an answer by the model in its reply, and accepts no score of another', async () => {
    const { engine } = await open({ faults: ['otherModel'] })
    await engine.load({ name: 'svc.a.1', directory: await adapterFolder(1) }, NEVER)
    for (const adapter of ['svc.a.1', null]) {
      const answer = await engine.chat({ body: BODY, adapter, signal: NEVER })
      expect(answer).toMatchObject({ answer: { model: 'mine' }, capture: { spans: [{ adapter: 'another-model' }] } })
      await expect(engine.score([1, 2], adapter, NEVER)).rejects.toMatchObject({ code: 'engine_answer_broken' })
    }
  })

  it('never loads in place, so that no folder is read with every step', async () => {
    const { server, engine } = await open()
    const directory = await adapterFolder(1)
    await engine.load({ name: 'svc.a.1', directory }, NEVER)
    await engine.chat({ body: BODY, adapter: 'svc.a.1', signal: NEVER })
    expect(server.rereads).toBe(0)
    // Loading in place shows the fault.
    await fetch(`${server.url}/v1/load_lora_adapter`, {
      method: 'POST',
      body: JSON.stringify({ lora_name: 'svc.a.1', lora_path: directory, load_inplace: true }),
    })
    await engine.chat({ body: BODY, adapter: 'svc.a.1', signal: NEVER })
    expect(server.rereads).toBe(1)
  })

  it('explains how to start it when the routes for adapters are off, also for an unload', async () => {
    const { engine } = await open({ faults: ['loraOff'] })
    const off = { code: 'engine_without_lora', message: expect.stringContaining('VLLM_ALLOW_RUNTIME_LORA_UPDATING=1') }
    await expect(engine.load({ name: 'svc.a.1', directory: await adapterFolder(1) }, NEVER)).rejects.toMatchObject(off)
    await expect(engine.unload('svc.a.1', NEVER)).rejects.toMatchObject(off)
  })

  it('is not paused where it has no route for that, and reports it', async () => {
    const { engine } = await open({ faults: ['noDevMode'] })
    expect(engine.status()).toMatchObject({ pauses: null })
    await engine.pause(NEVER)
    await engine.resume(NEVER)
    expect(engine.status()).toMatchObject({ pauses: false })
    expect(await engine.chat({ body: BODY, adapter: null, signal: NEVER })).toMatchObject({ kind: 'answer' })
  })

  it('encodes a chat, and an answer as the turn that follows it', async () => {
    const { engine } = await open()
    const decoder = scriptedDecoder()
    const prompt = await decoder.encodeChat(MESSAGES, true)
    expect(await engine.encode(BODY, null, NEVER)).toEqual({ prompt, answer: [] })
    const whole = await decoder.encodeChat([...MESSAGES, { role: 'assistant', content: 'hi' }], false)
    const encoded = await engine.encode(BODY, { role: 'assistant', content: 'hi' }, NEVER)
    expect(encoded).toEqual({ prompt, answer: whole.slice(prompt.length) })
    expect(encoded?.answer.length).toBeGreaterThan(0)
  })

  it('cannot encode an answer where the template rewrites earlier turns once there are more', async () => {
    const plain = scriptedDecoder()
    const shifty: Decoder = {
      ...plain,
      encodeChat: async (messages, opens) => [messages.length, ...(await plain.encodeChat(messages, opens))],
    }
    const { engine } = await open({ decoder: shifty })
    expect(await engine.encode(BODY, { role: 'assistant', content: 'hi' }, NEVER)).toBeNull()
  })
})
