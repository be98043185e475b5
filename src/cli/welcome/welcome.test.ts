/** The demo against a fake service that improves on demand. */
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/server.ts'
import { loadConfig, readCommandLine } from '../../config/index.ts'
import { fakeSurroundings } from '../testing/surroundings.ts'
import { calmLog, welcome, withPractice } from './index.ts'

interface Asked {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: Record<string, unknown>
}

/** The answer's body, or the code by which it is refused. */
type Script = (asked: Asked, all: readonly Asked[]) => object | { readonly refused: string }

async function scripted(script: Script): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = []
  const url = await testServer(async (incoming, response) => {
    const request = await read(incoming)
    asked.push(request)
    const answer = script(request, asked)
    response.writeHead('refused' in answer ? 409 : 200, { 'x-svc-agent-record-id': `r${asked.length}` })
    response.end(JSON.stringify('refused' in answer ? { error: { code: answer.refused, message: `no: ${answer.refused}` } } : answer))
  })
  return { url, asked }
}

async function read(request: IncomingMessage): Promise<Asked> {
  const body = await text(request)
  return { path: request.url ?? '', authorization: request.headers.authorization, body: body === '' ? {} : JSON.parse(body) }
}

/** A scenario that learns with its third report, from a model that says what it likes. */
function learning(rule: string, learnsWith = 3): Script {
  return ({ path }, all) => {
    const reports = all.filter((each) => each.path === '/svc/report').length
    const learnt = reports >= learnsWith
    if (path.endsWith('/releases'))
      return { releases: [...(learnt ? [row(rule)] : []), { operation: 'create', result: 'published', step: 0 }] }
    if (path.includes('/commits')) return { commits: [{ step: 1 }] }
    if (path === '/svc/harness') return { release_id: 'x', files: { 'native/AGENTS.md': 'Be right.' } }
    return { choices: [{ message: { content: learnt ? 'So:\nMCD' : 'MCCCC' } }] }
  }
}

const row = (rule: string) => ({
  step: 3,
  operation: 'train',
  result: 'published',
  metrics: {
    mutation: { options: { config: { text: rule } } },
    selection: { reason: 'better on 9 of 9 tasks: the evidence is strong enough (1 in 50 by luck, 1 in 41 needed)' },
  },
})

async function greet(url: string, signal = new AbortController().signal, more: readonly string[] = []) {
  const surroundings = fakeSurroundings()
  const commandLine = readCommandLine(['--inference.runtime', 'practice', ...more])
  await welcome(await loadConfig({ commandLine, environment: {} }), url, signal, surroundings)
  return { out: surroundings.printed.join('\n'), err: surroundings.complaints }
}

test('every wrong answer is reported by itself, quoting its receipt, until something better is served; then the same is asked again', async () => {
  const { url, asked } = await scripted(learning('Be exact.'))
  const { out, err } = await greet(url)
  expect(err).toEqual([])
  const reports = asked.filter(({ path }) => path === '/svc/report').map(({ body }) => body)
  expect(reports.map((body) => body['agent_record_id'])).toEqual(['welcome-1-1', 'welcome-1-2', 'welcome-1-3'])
  expect(new Set(reports.flatMap((body) => body['references'])).size).toBe(3)
  expect(asked.filter(({ path }) => path === '/v1/chat/completions')).toHaveLength(6)
  expect(out).toContain('before  0 of 3 Roman numerals right')
  expect(out).toContain('after   1 of 3, by the rule "Be exact."')
  expect(out).toContain(`Served as v3, because it was better on 9 of 9 tasks. Every step: ${url}/console`)
})

test('sends the token of the service where it has one', async () => {
  const { url, asked } = await scripted(learning('x', 1))
  await greet(url, undefined, ['--svc.tokens', '[one, two]'])
  expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer one']))
})

test('text that a model wrote cannot control the terminal', async () => {
  const { url } = await scripted(learning('\u001B[2J\u202Eevil\r\nsvc is ready'))
  const { out } = await greet(url)
  for (const character of ['\u001B', '\u202E', '\r']) expect(out).not.toContain(character)
  expect(out.split('\n')).toHaveLength(4)
})

test('when no change is better, one line reports it after every answer was reported twice', async () => {
  const { url, asked } = await scripted(learning('', Infinity))
  const { out, err } = await greet(url)
  expect([err, out.trim().split('\n')]).toEqual([[], [expect.stringContaining('no change tried so far is better')]])
  const ids = asked.filter(({ path }) => path === '/svc/report').map(({ body }) => body['agent_record_id'])
  expect(ids).toEqual([1, 2].flatMap((round) => [1, 2, 3].map((question) => `welcome-${round}-${question}`)))
})

test('a scenario of that name that is for something else is left alone', async () => {
  const { url, asked } = await scripted(() => ({ refused: 'other_recipe' }))
  expect(await greet(url)).toEqual({ out: '', err: [] })
  expect(asked).toHaveLength(1)
})

test('a failure is one line, and the service goes on', async () => {
  const { url } = await scripted(({ path }) => (path === '/svc/scenarios' ? { refused: 'too_many_scenarios' } : {}))
  const { out, err } = await greet(url)
  expect([out, err]).toEqual(['', ['the demo scenario practice failed: no: too_many_scenarios; the service itself runs on']])
})

test('a service that stops ends it without output, in the middle of a wait', async () => {
  const leaving = new AbortController()
  const { url } = await scripted((asked, all) => {
    if (!asked.path.includes('/commits')) return learning('x')(asked, all)
    leaving.abort()
    return { commits: [] }
  })
  expect(await greet(url, leaving.signal)).toEqual({ out: '', err: [] })
})

async function loadDemo(args: readonly string[], environment: Readonly<Record<string, string>> = {}, config?: string) {
  const commandLine = readCommandLine(args)
  const plain = await loadConfig({ commandLine, environment, probe: () => Promise.resolve(null) })
  return withPractice(plain, { commandLine, ...(config !== undefined && { config }) }, environment)
}

describe('the configuration with the demo', () => {
  test('while the mock model answers there is a recipe that improves, and scenarios that name none are recorded as before', async () => {
    const loaded = await loadDemo(['--svc.port', '0', '--storage.record_backend', 'memory'])
    expect(loaded?.config).toMatchObject({
      svc: { port: 0 },
      storage: { record_backend: 'memory' },
      recipe: 'record-only',
      recipes: { 'record-only': { use: 'record-only' }, practice: { use: 'harness', evolution: { adapter: 'native' } } },
    })
  })

  test('reports how the model was found; plug-ins are resolved from the working directory', async () => {
    const loaded = await loadDemo([])
    expect(loaded?.upstream).toMatchObject({ runtime: 'practice', found: 'no upstream is set or found' })
    expect(loaded?.baseDirectory).toBe(process.cwd())
  })

  test('no program is started: there is no executor, and the seed is text only', async () => {
    const { executor, seed } = (await loadDemo([]))?.config.recipes['practice']?.evolution ?? {}
    expect(executor).toBe('none')
    expect(seed?.map(({ name }) => name)).toEqual(['rules'])
  })

  test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, string | undefined]>([
    ['another model answers', [], { OPENAI_API_KEY: 'k' }, undefined],
    ['an upstream is set', ['--inference.upstream_url', 'http://127.0.0.1:9'], {}, undefined],
    ['a configuration file is given', [], {}, 'svc.yaml'],
    ['the one recipe is configured by options', ['--recipe', 'harness', '--evolution.adapter', 'pi'], {}, undefined],
  ])('there is none where %s', async (_where, args, environment, config) => {
    expect(await loadDemo(args, environment, config)).toBeNull()
  })

  test('another default recipe stays the default', async () => {
    expect((await loadDemo(['--recipe', 'harness']))?.config).toMatchObject({
      recipe: 'harness',
      recipes: { practice: { use: 'harness' } },
    })
  })
})

test('the log leaves out successes; a failure is one line without control characters', () => {
  const said: string[] = []
  const log = calmLog((line) => void said.push(line))
  log.write('info', 'request', { status: 200 })
  log.write('warn', 'recipe', { recipe: 'practice', message: 'no sandbox' })
  log.write('error', 'failure', { stack: 'at \u001B[2J\u202Ex\nat y' })
  log.flush()
  expect(said).toEqual(['recipe: no sandbox {"recipe":"practice"}', String.raw`failure {"stack":"at \u001b[2J[U+202E]x\nat y"}`])
})
