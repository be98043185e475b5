import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { listenOnLoopback } from '../../test/support/listen.ts'
import type { Environment } from './interpolate.ts'
import { readConfig } from './load.ts'
import { ConfigProblem } from './problem.ts'
import { discoverUpstream, probeOllama } from './upstream.ts'

const absent = () => Promise.resolve(null)
const present = () => Promise.resolve(['llama3.2:latest'])
const EVERYTHING = { SVC_UPSTREAM_URL: 'http://env-up', OPENAI_API_KEY: 'o-key', ANTHROPIC_API_KEY: 'a-key' }

function discover(text: string, environment: Environment, probe = absent as () => Promise<readonly string[] | null>) {
  const file = 'svc.yaml'
  return discoverUpstream({ ...readConfig({ text, environment, file }), file }, environment, probe)
}

async function withServer<T>(answer: (path: string) => string | null, use: (url: string) => Promise<T>, afterMs = 0): Promise<T> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? '')
    if (body !== null) setTimeout(() => response.end(body), afterMs)
  })
  const port = await listenOnLoopback(server)
  try {
    return await use(`http://127.0.0.1:${port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

describe('the order of discovery', () => {
  test('the configuration comes first', async () => {
    const found = await discover(
      'inference: {upstream_url: "http://mine/", upstream_model: m, upstream_api: anthropic}',
      EVERYTHING,
      present,
    )
    expect(found).toEqual({
      runtime: 'provider',
      model: { url: 'http://mine', model: 'm', api: 'anthropic', apiKey: null },
      found: 'inference.upstream_url',
      exampleModel: 'm',
    })
  })

  test('then the variables of the service', async () => {
    const found = await discover('', EVERYTHING, present)
    expect(found).toMatchObject({
      runtime: 'provider',
      model: { url: 'http://env-up', apiKey: null },
      found: 'environment SVC_UPSTREAM_URL',
    })
  })

  test('then an OpenAI key', async () => {
    const found = await discover('', { OPENAI_API_KEY: 'o-key', ANTHROPIC_API_KEY: 'a-key' }, present)
    expect(found.model).toEqual({ url: 'https://api.openai.com', model: null, api: 'openai', apiKey: 'o-key' })
    expect(found.found).toBe('environment OPENAI_API_KEY')
  })

  test('then an Anthropic key', async () => {
    const found = await discover('', { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: 'a-key' }, present)
    expect(found.model).toEqual({ url: 'https://api.anthropic.com', model: null, api: 'anthropic', apiKey: 'a-key' })
  })

  test('then a local Ollama', async () => {
    const found = await discover('', {}, present)
    expect(found).toEqual({
      runtime: 'provider',
      model: { url: 'http://127.0.0.1:11434', model: null, api: 'openai', apiKey: null },
      found: 'Ollama answers at http://127.0.0.1:11434',
      exampleModel: 'llama3.2:latest',
    })
  })

  test('else the practice model [config.upstream]', async () => {
    expect(await discover('', {})).toEqual({
      runtime: 'practice',
      model: null,
      found: 'no upstream is set or found',
      exampleModel: 'practice',
    })
  })
})

describe('the runtime that was asked for', () => {
  test('an explicit practice wins over everything found', async () => {
    const found = await discover('inference: {runtime: practice, upstream_url: "http://mine"}', EVERYTHING, present)
    expect(found).toMatchObject({ runtime: 'practice', model: null })
  })

  test('an explicit provider without any upstream is refused with what to set', async () => {
    await expect(discover('inference:\n  runtime: provider', {})).rejects.toThrow(ConfigProblem)
    await expect(discover('inference:\n  runtime: provider', {})).rejects.toThrow(/^svc\.yaml:2: .*inference\.upstream_url/)
  })

  test('an explicit provider uses what is found', async () => {
    expect(await discover('inference: {runtime: provider}', { OPENAI_API_KEY: 'k' })).toMatchObject({ runtime: 'provider' })
  })

  test('a runtime plug-in gets only an upstream that was set for it', async () => {
    expect(await discover('inference: {runtime: ./mine.ts}', { OPENAI_API_KEY: 'k' }, present)).toMatchObject({
      runtime: './mine.ts',
      model: null,
    })
    expect(await discover('inference: {runtime: ./mine.ts, upstream_url: "http://m"}', {})).toMatchObject({ model: { url: 'http://m' } })
  })

  test('a found key is passed over when its vendor does not speak the format asked for', async () => {
    const keys = { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' }
    expect((await discover('inference: {upstream_api: anthropic}', keys)).model?.url).toBe('https://api.anthropic.com')
    expect((await discover('inference: {upstream_api: responses}', keys)).model).toMatchObject({ api: 'responses', apiKey: 'o' })
  })
})

describe('the probe', () => {
  test('answers the models that are there', async () => {
    const tags = JSON.stringify({ models: [{ name: 'a' }, { name: 'b' }] })
    expect(
      await withServer(
        (path) => (path === '/api/tags' ? tags : '{}'),
        (url) => probeOllama(url, 30_000),
      ),
    ).toEqual(['a', 'b'])
  })

  test('finds a server that is too busy to answer at once', async () => {
    expect(await withServer(() => '{}', probeOllama, 400)).toEqual([])
  })

  test('gives up on a server that stays silent', async () => {
    expect(
      await withServer(
        () => null,
        (url) => probeOllama(url, 50),
      ),
    ).toBeNull()
  })

  test('answers null where no server listens', async () => {
    expect(await probeOllama('http://127.0.0.1:1')).toBeNull()
  })
})
