import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { until } from '../../test/support/wait.ts'
import type { LoadedConfig } from '../config/index.ts'
import { unavailable } from '../contract/index.ts'
import { printError } from './explain.ts'
import type { ServiceModule } from './surroundings.ts'
import { fakeSurroundings, type FakeTerminal } from './testing/surroundings.ts'
import { runCli } from './program.ts'
import type { RunningService } from '../main.ts'

/** Many modules, which a busy machine loads for longer than a test may take. */
beforeAll(() => Promise.all([import('./serve.ts'), import('./welcome/demo.ts')]))

const GOOD_TOKEN = 'b1946ac92492d2347c6235b4d2611184'
const KEY = `ed25519:${'k'.repeat(43)}`

const service = (close = () => Promise.resolve(), port = 4321, reload: RunningService['reload'] = () => Promise.resolve()) => ({
  startService: () => Promise.resolve({ address: `http://127.0.0.1:${port}`, key: KEY, reload, close }),
})

async function serveOnce(args: readonly string[], close?: () => Promise<void>, terminal?: FakeTerminal) {
  const surroundings = fakeSurroundings(service(close), {}, terminal)
  const exit = runCli(['serve', ...args], surroundings)
  await until(() => surroundings.printed.length > 0)
  surroundings.signal('SIGTERM')
  return { exit: await exit, printed: surroundings.printed.join('\n'), complaints: surroundings.complaints }
}

const isWarning = (line: string): boolean => line.startsWith('warning: ')

describe('a service that is ready', () => {
  test('prints its address, the access, the model and the data folders', async () => {
    const { exit, printed } = await serveOnce(['--svc.port', '0'])
    expect(exit).toBe(0)
    expect(printed).toContain('svc is ready at http://127.0.0.1:4321')
    expect(printed).toContain('open on loopback, because no token is set')
    expect(printed).toContain('http://127.0.0.1:9 (environment SVC_UPSTREAM_URL)')
    expect(printed).toMatch(/data +\/.*\.svc\/agent-record \(records\), \/.*\.svc\/artifacts\.git \(releases\)/)
  })

  test('prints a call that works as printed', async () => {
    const { printed } = await serveOnce(['--inference.runtime', 'practice'])
    expect(printed.split('\n').at(-1)).toBe(
      `  curl -sS http://127.0.0.1:4321/v1/chat/completions -H 'content-type: application/json' -H 'x-svc-scenario: demo' ` +
        `-d '{"model":"practice","messages":[{"role":"user","content":"Hello"}]}'`,
    )
    expect(printed).toContain('a built-in mock model; no API key needed')
  })

  test('never prints the token, but where to put it', async () => {
    const { printed } = await serveOnce(['--svc.host', '0.0.0.0', '--svc.token', GOOD_TOKEN])
    expect(printed).not.toContain(GOOD_TOKEN)
    expect(printed).toContain(`  printf 'authorization: Bearer %s\\n' "$SVC_TOKEN" | curl -sS -H @- http://`)
    expect(printed).toContain('a token is needed: set SVC_TOKEN, or enter it once in the console')
    expect(printed).toContain('http://127.0.0.1:4321')
  })

  test('warns of a token on its command line, which others on the machine can read', async () => {
    const { complaints } = await serveOnce(['--svc.token', GOOD_TOKEN, '--svc.tokens', 'other'])
    expect(complaints.filter(isWarning)).toEqual([
      'warning: --svc.token stands in the list of processes, where everybody on this machine can read it; set SVC_TOKEN, or svc.token in the file',
      'warning: --svc.tokens stands in the list of processes, where everybody on this machine can read it; set it in the file',
    ])
    expect((await serveOnce([])).complaints.filter(isWarning)).toEqual([])
  })

  test('prints the key, and the line that installs with its fingerprint where an agent can be installed', async () => {
    const { printed } = await serveOnce(['--recipe', 'harness', '--evolution.adapter', 'pi', '--svc.token', 'hunter2'])
    expect(printed).toContain(`  key      ${KEY} signs the releases`)
    expect(printed).toContain(
      `  printf 'authorization: Bearer %s\\n' "$SVC_TOKEN" | curl -sS -H @- 'http://127.0.0.1:4321/svc/harness/install?adapter=pi' | env SVC_KEY=${KEY} sh\n`,
    )
    expect((await serveOnce(['--recipe', 'harness', '--evolution.adapter', 'native'])).printed).not.toContain('Install')
  })

  test('speaks the format of the upstream', async () => {
    const { printed } = await serveOnce(['--inference.upstream_api', 'anthropic', '--inference.upstream_model', "it's"])
    expect(printed).toContain('/v1/messages')
    expect(printed).toContain(String.raw`"model":"it'\''s"`)
    const gemini = await serveOnce(['--inference.upstream_api', 'gemini', '--inference.upstream_model', 'm'])
    expect(gemini.printed).toContain('/v1beta/models/m:generateContent')
  })

  test('says that the model name is missing when only the user knows one, and how to make the scenario', async () => {
    const { printed } = await serveOnce(['--no-svc.allow_implicit_scenario_creation'])
    expect(printed).toContain('Try it (with a model of your upstream for MODEL)')
    expect(printed).toContain(`/svc/scenarios -H 'content-type: application/json' -d '{"name":"demo"}'`)
  })

  test('has a line for each thing, the console first, and fits on any screen', async () => {
    const { printed } = await serveOnce(['--svc.host', '0.0.0.0', '--svc.token', GOOD_TOKEN, '--no-svc.allow_implicit_scenario_creation'])
    const lines = printed.split('\n')
    expect(lines[1]).toBe('  console  http://127.0.0.1:4321/console')
    expect(lines.length).toBeLessThan(13)
    expect(printed).not.toContain('practice')
  })

  test('is coloured on a terminal only', async () => {
    const { printed } = await serveOnce([], undefined, { colours: true })
    const escape = '\u001B'
    expect(printed).toContain(`svc is ready at ${escape}[1mhttp://127.0.0.1:4321${escape}[0m`)
    expect((await serveOnce([])).printed).not.toContain(escape)
  })

  test('in memory says that the data goes with it', async () => {
    expect((await serveOnce(['--storage.record_backend', 'memory'])).printed).toContain('in memory: lost when the service stops')
  })
})

const PRACTICE = ['--inference.runtime', 'practice'] as const

async function printedConfig(...args: readonly string[]): Promise<string> {
  const surroundings = fakeSurroundings()
  expect(await runCli(['serve', '--print-config', ...PRACTICE, ...args], surroundings)).toBe(0)
  return surroundings.printed.join('\n')
}

describe('a service with --welcome', () => {
  test('announces the demo, and a demo that fails is one line', async () => {
    const surroundings = fakeSurroundings(service(undefined, 1))
    const exit = runCli(['serve', '--welcome', ...PRACTICE], surroundings)
    await until(() => surroundings.complaints.length > 0)
    expect(surroundings.printed[0]).toMatch(/^ {2}practice a small agent/m)
    expect(surroundings.printed[0]?.split('\n').length).toBeLessThan(12)
    const failed = /^the demo scenario practice failed: .*; the service itself runs on$/
    expect(surroundings.complaints).toEqual([expect.stringMatching(failed)])
    surroundings.signal('SIGTERM')
    expect(await exit).toBe(0)
  })

  test.each<readonly [string, readonly string[], boolean]>([
    ['only what went wrong, since people read it', [], true],
    ['everything where its form is asked for', ['--svc.log', 'json'], false],
    ['everything where recipes of their own are served', ['--recipe', 'harness', '--evolution.adapter', 'pi'], false],
  ])('without a terminal logs %s', async (_, args, isCalm) => {
    const logs: unknown[] = []
    const startService: ServiceModule['startService'] = (_loaded, options) => {
      logs.push(options?.log)
      return service().startService()
    }
    const surroundings = fakeSurroundings({ startService })
    const exit = runCli(['serve', '--welcome', ...PRACTICE, ...args], surroundings)
    await until(() => surroundings.printed.length > 0)
    surroundings.signal('SIGTERM')
    expect(await exit).toBe(0)
    expect(logs).toEqual([isCalm ? { write: expect.any(Function), flush: expect.any(Function) } : undefined])
  })

  test('shows with --print-config what it adds, and without --welcome adds nothing', async () => {
    expect(await printedConfig('--welcome')).toContain('recipes.practice.evolution.adapter')
    expect(await printedConfig()).not.toContain('recipes.practice')
  })
})

test('a hangup without a terminal reads the file again, as it was given', async () => {
  const file = join(temporaryFolder(), 'svc.yaml')
  writeFileSync(file, 'svc:\n  max_scenarios: 5\n')
  const read = Promise.withResolvers<LoadedConfig>()
  const reload: RunningService['reload'] = async (readAgain) => read.resolve(await readAgain())
  const surroundings = fakeSurroundings(service(undefined, undefined, reload))
  const exit = runCli(['serve', '-c', file, '--svc.port', '0'], surroundings)
  await until(() => surroundings.printed.length > 0)
  writeFileSync(file, 'svc:\n  max_scenarios: 6\n')
  surroundings.hangUp()
  expect((await read.promise).config.svc).toMatchObject({ max_scenarios: 6, port: 0 })
  surroundings.signal('SIGTERM')
  expect(await exit).toBe(0)
})

test('a hangup while the service starts reads the file again once it has started', async () => {
  const started = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const reloaded = Promise.withResolvers<void>()
  const startService = async () => {
    begun.resolve()
    await started.promise
    return { address: 'http://127.0.0.1:4321', key: KEY, reload: async () => reloaded.resolve(), close: async () => undefined }
  }
  const surroundings = fakeSurroundings({ startService })
  const exit = runCli(['serve'], surroundings)
  await begun.promise
  surroundings.hangUp()
  started.resolve()
  await reloaded.promise
  surroundings.signal('SIGTERM')
  expect(await exit).toBe(0)
})

test.each([
  [1, 'is away', unavailable('store_unreachable', 'no PostgreSQL answers; check that it runs', { retryAfterSeconds: 1 })],
  [2, 'refuses the password', unavailable('store_unauthorized', 'PostgreSQL refused the password; correct it')],
])('ends with %i where the database %s: starting again helps, or does not', async (exit, _, error) => {
  expect(await runCli(['serve'], fakeSurroundings({ startService: () => Promise.reject(error) }))).toBe(exit)
})

describe('stopping', () => {
  test('a close that fails is a failure at work', async () => {
    const { exit, complaints } = await serveOnce([], () => Promise.reject(new Error('stuck')))
    expect(exit).toBe(1)
    expect(complaints).toContain('stuck')
  })

  test('the same signal passed on by npm is one wish; a later one exits at once', async () => {
    const closing = Promise.withResolvers<void>()
    const surroundings = fakeSurroundings(service(() => closing.promise))
    const exit = runCli(['serve'], surroundings)
    await until(() => surroundings.printed.length > 0)
    surroundings.signal('SIGINT')
    surroundings.signal('SIGINT')
    expect(surroundings.exits).toEqual([])
    const later = performance.now() + 350
    vi.spyOn(performance, 'now').mockReturnValue(later)
    onTestFinished(() => void vi.restoreAllMocks())
    surroundings.signal('SIGINT')
    expect(surroundings.exits).toEqual([130])
    closing.resolve()
    expect(await exit).toBe(0)
  })
})

const coded = (code: string, extra: object = {}) => Object.assign(new Error(`${code}: raw`), { code, ...extra })

function raise(error: Error): never {
  throw error
}

describe('a service that does not start', () => {
  test.each([
    [coded('EADDRINUSE'), /^port 8900 is in use: stop the other process or set svc\.port$/],
    [coded('EACCES', { syscall: 'listen' }), /^no right to listen on port 8900: set svc\.port to 1024 or above$/],
    [coded('EACCES', { path: '/data/x' }), /^no right to use \/data\/x: change its owner/],
    [coded('ENOSPC'), /^the disk of .*agent-record is full: free some space/],
    [coded('EADDRNOTAVAIL'), /^127\.0\.0\.1 is not an address of this machine: set svc\.host$/],
    [
      unavailable('store_in_use', 'another process uses it; stop it'),
      /^another process uses it \(records are in \/.*agent-record\): stop it$/,
    ],
    [unavailable('newer_store', 'format 9 is newer; start the version that wrote it'), /^format 9 is newer \(.*\): start the version/],
    [unavailable('directory_unwritable', 'it cannot be written; change its owner'), /^it cannot be written \(.*\): change its owner$/],
    [unavailable('store_damaged', 'it is damaged; run svc verify'), /^it is damaged/],
    [unavailable('disk_full', 'the disk is full; free space'), /^the disk is full/],
    [new Error('something else\n    at somewhere'), /^something else$/],
  ])('%s', async (error, line) => {
    const surroundings = fakeSurroundings({ startService: async () => raise(error) })
    expect(await runCli(['serve'], surroundings)).toBe(2)
    expect(surroundings.complaints).toEqual([expect.stringMatching(line)])
    expect(surroundings.printed).toEqual([])
  })
})

test('a full disk of a command without a configuration is not said to be that of the folder it was given in', () => {
  const said: string[] = []
  printError(coded('ENOSPC', { syscall: 'write' }), null, { err: (line) => said.push(line) })
  expect(said).toEqual(['the disk that this writes to is full: free some space'])
})
