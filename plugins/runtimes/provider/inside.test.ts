/** The address of a scenario's model is somebody's wish: it must not lead into the network that the service stands in. */
import dns from 'node:dns'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sendJson, startUpstream } from '../../../test/support/upstream.ts'
import type { JsonObject, Runtime, RuntimeCall } from '../../../src/contract/index.ts'
import provider from './index.ts'

async function open(config: (url: string) => JsonObject) {
  const upstream = await startUpstream()
  const runtime: Runtime = await provider.plugin.make(config(upstream.url))
  onTestFinished(async () => {
    await runtime.close()
    await upstream.close()
  })
  const ask = (url = upstream.url) => runtime.infer(callTo(url))
  return { upstream, runtime, ask }
}

const callTo = (url: string): RuntimeCall => ({
  dialect: 'chat',
  path: '/v1/chat/completions',
  headers: {},
  body: Buffer.from('{}'),
  model: { url, model: null, api: 'openai', apiKey: null },
  purpose: 'traffic',
  release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
  signal: new AbortController().signal,
})

describe('a model inside the network', () => {
  it('is not asked, nor for its models', async () => {
    const { upstream, ask, runtime } = await open(() => ({ allow_inside: [] }))
    await expect(ask()).rejects.toMatchObject({ kind: 'upstream', code: 'inside_address' })
    await expect(runtime.models(callTo(upstream.url))).rejects.toMatchObject({ code: 'inside_address' })
    expect(upstream.received).toEqual([])
  })

  it('behind a name is not connected to', async () => {
    const { upstream, ask } = await open(() => ({ allow_inside: [] }))
    const { port } = new URL(upstream.url)
    const real = dns.lookup
    Reflect.set(dns, 'lookup', (_name: string, ...others: readonly unknown[]) => Reflect.apply(real, dns, ['127.0.0.1', ...others]))
    onTestFinished(() => void Reflect.set(dns, 'lookup', real))
    await expect(ask(`http://rebinds.example:${port}`)).rejects.toMatchObject({ code: 'inside_address' })
    expect(upstream.received).toEqual([])
  })

  it('is not followed to by a redirect', async () => {
    const { upstream, ask } = await open((url) => ({ allow_inside: [], own_urls: [url] }))
    const inner = await startUpstream()
    onTestFinished(() => inner.close())
    upstream.answer((_received, response) => sendJson(response, 307, {}, { location: `${inner.url}/v1/chat/completions` }))
    expect(await ask()).toMatchObject({ status: 307 })
    expect(inner.received).toEqual([])
  })

  it.each<[string, (url: string) => JsonObject]>([
    ["it is the deployment's own", (url) => ({ allow_inside: [], own_urls: [url] })],
    ['its address is allowed', () => ({ allow_inside: ['127.0.0.0/8'] })],
  ])('is asked where %s', async (_why, config) => {
    const { upstream, ask } = await open(config)
    expect(await ask()).toMatchObject({ status: 200 })
    expect(upstream.received).toHaveLength(1)
  })
})
