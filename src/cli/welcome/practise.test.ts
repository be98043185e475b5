/** The demo against a fake service that improves on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../../test/support/listen.ts'
import { loadConfig, readCommandLine, type LoadedConfig } from '../../config/index.ts'
import { fakeSurroundings } from '../testing/surroundings.ts'
import { welcome } from './index.ts'

interface Asked {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: Record<string, unknown>
}

/** The answer's body, or the code by which it is refused. */
type Script = (asked: Asked, all: readonly Asked[]) => object | { readonly refused: string }

async function loadedWith(more: readonly string[] = []): Promise<LoadedConfig> {
  const commandLine = readCommandLine(['--inference.runtime', 'practice', ...more])
  return loadConfig({ commandLine, environment: {} })
}

async function scripted(script: Script): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = []
  const answerTo = (request: Asked, response: ServerResponse): void => {
    asked.push(request)
    const answer = script(request, asked)
    response.writeHead('refused' in answer ? 409 : 200, { 'x-svc-agent-record-id': `r${asked.length}` })
    response.end(JSON.stringify('refused' in answer ? { error: { code: answer.refused, message: `no: ${answer.refused}` } } : answer))
  }
  const server = createServer((request, response) => void read(request).then((each) => answerTo(each, response)))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${await listenOnLoopback(server)}`, asked }
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
  await welcome(await loadedWith(more), url, signal, surroundings)
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

test('a token goes along where the service has one', async () => {
  const { url, asked } = await scripted(learning('x', 1))
  await greet(url, undefined, ['--svc.tokens', '[one, two]'])
  expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer one']))
})

test('what a model wrote is text on the terminal and nothing else', async () => {
  const { url } = await scripted(learning('\u001B[2J\u202Eevil\r\nsvc is ready'))
  const { out } = await greet(url)
  for (const character of ['\u001B', '\u202E', '\r']) expect(out).not.toContain(character)
  expect(out.split('\n')).toHaveLength(4)
})

test('whatever was tried and is no better is said in one line, after every answer was reported twice', async () => {
  const { url, asked } = await scripted(learning('', Infinity))
  const { out, err } = await greet(url)
  expect([err, out.trim().split('\n')]).toEqual([[], [expect.stringContaining('no change tried so far is better')]])
  expect(asked.filter(({ path }) => path === '/svc/report').map(({ body }) => body['agent_record_id'])).toEqual([
    'welcome-1-1',
    'welcome-1-2',
    'welcome-1-3',
    'welcome-2-1',
    'welcome-2-2',
    'welcome-2-3',
  ])
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

test('a service that stops ends it without a word, in the middle of a wait', async () => {
  const leaving = new AbortController()
  const { url } = await scripted((asked, all) => {
    if (!asked.path.includes('/commits')) return learning('x')(asked, all)
    leaving.abort()
    return { commits: [] }
  })
  expect(await greet(url, leaving.signal)).toEqual({ out: '', err: [] })
})
