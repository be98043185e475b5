import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '@svc-ai/client/shared'
import { installed, NOWHERE, SCENARIO, start } from './testing/agent-install.ts'
import { transcript } from './testing/harness-home.ts'
import { json, listening, upstream } from './testing/upstream.ts'
import { openCapture } from './captures.ts'
import { doctor } from './doctor.ts'
import { notice } from './notice.ts'
import { page } from './page.ts'
import { capturesFolder } from './places.ts'
import { request } from './request.ts'

const row = (step: number, changes: object = {}): object => ({
  step,
  release_id: `release-${step}`,
  content_id: `content-${step}`,
  parent_release_id: null,
  operation: 'train',
  recorded_at: 1,
  pending: false,
  restorable: true,
  current: false,
  result: 'published',
  metrics: {},
  page_path: `/svc/harness/releases/${step}/page?scenario=s&key=k`,
  ...changes,
})

/** Answers each route from its own list; the last answer of a list goes on for ever. */
async function serving(routes: Readonly<Record<string, readonly (object | number)[]>>) {
  const asked = new Map<string, number>()
  return upstream(({ method, url }, response) => {
    const route = `${method} ${url}`
    const answers = routes[route] ?? [404]
    const count = asked.get(route) ?? 0
    asked.set(route, count + 1)
    const answer = answers[Math.min(count, answers.length - 1)] ?? 404
    if (answer === 0) return response.destroy()
    return typeof answer === 'number' ? json(response, answer, { error: { message: 'no' } }) : json(response, 200, answer)
  })
}

const catalog = (...rows: object[]) => serving({ 'GET /svc/harness/releases?limit=100': [{ releases: rows }] })
const headed = (release: number) => catalog(row(1), row(release, { current: true }))

const FILED = { agent_record_id: 'q-1', scenario: SCENARIO, request_type: 'train', page_path: '/svc/requests/q-1?key=k' }
const progress = (state: string, settled = false) => ({
  request_id: 'q-1',
  settled,
  step: settled ? 2 : null,
  state,
  meaning: settled ? null : 'words',
})
const filing = (states: readonly (object | number)[], last: object = {}) =>
  serving({
    'POST /svc/train': [FILED],
    'GET /svc/harness/requests/q-1/progress': states,
    'GET /svc/harness/releases?limit=100': [{ releases: [row(0), row(1), row(2, { training_request: { id: 'q-1' }, ...last })] }],
  })

describe('harness', () => {
  it('files the request with the machine it comes from, and prints where to look', async () => {
    const service = await filing([])
    const install = await installed(service.url)
    const { url, scenario, adapter, release_id } = install.record
    const session = '00000000-0000-4000-8000-000000000001'
    openCapture(capturesFolder(install.home), { url, scenario, adapter, release_id, session, pid: 1, started_at: 1 }).keep('r-1')
    const terminal = transcript()
    expect(await request(install, ['be', 'nicer'], terminal)).toBe(0)
    expect(terminal.printed).toEqual([`request q-1 is filed\n${service.url}/svc/requests/q-1?key=k`])
    expect(JSON.parse(service.heard[0]?.body ?? '')).toMatchObject({
      text: 'be nicer',
      session,
      release_id: 'release-1',
      client: {
        platform: process.platform,
        arch: process.arch,
        commands: { node: expect.any(Boolean), brew: expect.any(Boolean) },
      },
    })
  })

  it.each([[[]], [[' ']], [['x', '--timeout', '0']], [['x', '--timeout', 'soon']], [['x', '--later']]])(
    'is not understood with %j',
    async (args) => {
      await expect(request(await installed(), args, transcript())).rejects.toThrow(UsageError)
    },
  )

  it('waits, shows each state once, outlasts a service that is away, and names the next command', async () => {
    const states = [progress('queued'), progress('queued'), 0, 503, progress('proposing'), progress('published', true)]
    const install = await installed((await filing(states)).url)
    const terminal = transcript()
    expect(await request(install, ['x', '--wait'], terminal, 0.001)).toBe(0)
    expect(terminal.warned).toEqual(['queued: words', 'waiting: the service does not answer', 'proposing: words'])
    expect(terminal.printed.at(-1)).toBe("published; 'svc-pi update' installs it")
  })

  it.each([
    ['pending', {}, 0, 'a person must promote release release-2'],
    ['rejected', { metrics: { selection: { reason: 'it lost' } } }, 1, 'rejected: it lost'],
    ['skipped', { skipped: 'nothing to change' }, 1, 'skipped: nothing to change'],
    ['failed', { skipped: 'instruction failed', error: 'no model' }, 1, 'failed: no model'],
  ])('that ends %s says so', async (state, last, code, words) => {
    const install = await installed((await filing([progress(state, true)], last)).url)
    const terminal = transcript()
    expect(await request(install, ['x', '--wait'], terminal)).toBe(code)
    expect(terminal.printed.at(-1)).toContain(words)
    const asJson = transcript()
    expect(await request(install, ['x', '--wait', '--json'], asJson)).toBe(code)
    expect(JSON.parse(asJson.printed.join(''))).toMatchObject({ agent_record_id: 'q-1', settled: true, state, release_id: 'release-2' })
  })

  it('gives up when it is not settled in time, and leaves the request to go on', async () => {
    const install = await installed((await filing([progress('evaluating')])).url)
    const terminal = transcript()
    expect(await request(install, ['x', '--wait', '--timeout', '0.01'], terminal)).toBe(4)
    expect(terminal.printed.at(-1)).toContain('it goes on')
  })
})

describe('page', () => {
  it('opens the page of a step, and prints its link', async () => {
    const service = await serving({ 'GET /svc/harness/releases?limit=100': [{ releases: [row(0), row(1)] }] })
    const install = await installed(service.url)
    const bin = join(install.home, 'tools')
    mkdirSync(bin)
    const browser = join(bin, process.platform === 'darwin' ? 'open' : 'xdg-open')
    writeFileSync(
      browser,
      `#!/bin/sh\necho "$1" > '${install.home}/opened.part'; mv '${install.home}/opened.part' '${install.home}/opened'\n`,
    )
    chmodSync(browser, 0o755)
    const terminal = transcript()
    const link = `${service.url}/svc/harness/releases/1/page?scenario=s&key=k`
    expect(await page({ ...install, env: { ...install.env, PATH: `${bin}:${process.env['PATH']}` } }, ['v1'], terminal)).toBe(0)
    expect(await page(install, ['0', '--print'], terminal)).toBe(0)
    expect(terminal.printed).toEqual([link, link.replace('/1/', '/0/')])
    expect(await written(join(install.home, 'opened'))).toBe(`${link}\n`)
    await expect(page(install, ['v2'], terminal)).rejects.toThrow('pages have the numbers 0 to 1')
  })

  it.each([[[]], [['newest']], [['1', '2']], [['-1']]])('is not understood with %j', async (args) => {
    await expect(page(await installed(), args, transcript())).rejects.toThrow(UsageError)
  })
})

async function written(path: string): Promise<string> {
  for (;;) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

describe('doctor', () => {
  const VERSION = `console.log('pi 1.2.3')`

  it('finds nothing to say about an install that is in order', async () => {
    const install = await installed((await catalog(row(1, { current: true }))).url, VERSION)
    const terminal = transcript()
    expect(await doctor(install, [], terminal)).toBe(0)
    expect(terminal.printed.every((line) => line.startsWith('ok  '))).toBe(true)
    const asJson = transcript()
    await doctor(install, ['--json'], asJson)
    expect(JSON.parse(asJson.printed.join(''))).toMatchObject({
      ok: true,
      findings: expect.arrayContaining([{ name: 'release', ok: true, text: 'release-1' }]),
    })
  })

  it('names each thing that is not, with what to do', async () => {
    const held = row(2, { pending: true, release_id: 'held' })
    const service = await catalog(row(1), held, row(3, { current: true }))
    const install = await installed(service.url, `console.log('pi 9')`, {
      requires: [{ name: 'mail', kind: 'service' }],
      client: { env: {}, env_defaults: {}, state: [], tools: [{ command: 'no-such-tool', package: 'the-tool' }] },
    })
    rmSync(join(install.destination, 'pi-agent/AGENTS.md'))
    const terminal = transcript()
    expect(await doctor(install, [], terminal)).toBe(1)
    const words = terminal.printed.join('\n')
    for (const expected of [
      'does not say it is 1.2.3',
      '(package the-tool)',
      'release-3 is served',
      'review: held',
      'pi-agent/AGENTS.md',
      'missing: mail',
    ])
      expect(words).toContain(expected)
  })

  it('says what is wrong with the service and looks at the rest', async () => {
    const install = await installed((await serving({ 'GET /svc/harness/releases?limit=100': [401] })).url, VERSION)
    const terminal = transcript()
    expect(await doctor(install, [], terminal)).toBe(1)
    expect(terminal.printed.filter((line) => line.startsWith('!!'))).toEqual([expect.stringContaining('SVC_TOKEN')])
  })
})

describe('notice', () => {
  it('reports a newer release to an agent’s start hook', async () => {
    const terminal = transcript()
    expect(await notice(await installed((await headed(2)).url), ['--hook', 'claude'], terminal)).toBe(0)
    expect(JSON.parse(terminal.printed.join(''))).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: expect.stringContaining("'svc-pi update'") },
    })
  })

  it('says nothing when there is none, when the service fails, or to a hook it does not know', async () => {
    const terminal = transcript()
    await notice(await installed((await headed(1)).url), ['--hook', 'claude'], terminal)
    await notice(await installed(await listening((_request, response) => response.writeHead(500).end())), ['--hook', 'claude'], terminal)
    await notice(await installed((await headed(2)).url), ['--hook', 'another'], terminal)
    expect([terminal.printed, terminal.warned]).toEqual([[], []])
  })
})

describe('the command', () => {
  it('explains itself, and with --help lets the agent do so too', async () => {
    const install = await installed(NOWHERE, 'console.log("the agent: " + process.argv.slice(2))')
    const help = await start(install, 'help').end
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('Usage: svc-pi')
    expect((await start(install, '--help').end).stdout).toMatch(/^Usage: svc-pi[^]*the agent: --help\n$/)
  })

  it('that is not understood is one line and 2; one that fails is one line and 1', async () => {
    const install = await installed()
    expect(await start(install, 'report').end).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^svc-pi: --score.*'svc-pi help'\n$/),
    })
    expect(await start(install, 'harness', 'x').end).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^svc-pi: .*http:\/\/127\.0\.0\.1:1.*\n$/),
    })
  })
})
