import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedFolder } from '../../test/support/folder.ts'
import { listenOnLoopback } from '../../test/support/listen.ts'
import { unavailable } from '../contract/index.ts'
import { checkGit, checkNode, checkSqlite, diskFinding } from './doctor-machine.ts'
import { fakeStore, fakeSurroundings } from './testing/surroundings.ts'
import type { Finding } from './finding.ts'
import { runCli } from './program.ts'
import type { House } from './surroundings.ts'

/** An upstream that takes one key, and says that it is healthy like a service does. */
const upstream = createServer((request, response) => {
  const isKnown = request.headers.authorization === 'Bearer good' || request.headers['x-api-key'] === 'good'
  response.statusCode = request.url === '/v1/models' && !isKnown ? 401 : request.url === '/' ? 404 : 200
  response.end()
})
let url = ''
const directory = sharedFolder()

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(upstream)}`
})
afterAll(() => upstream.close())

function findingsIn(printed: unknown): readonly Finding[] {
  return hasFindings(printed) ? printed.findings : []
}

function hasFindings(printed: unknown): printed is { readonly findings: readonly Finding[] } {
  return typeof printed === 'object' && printed !== null && 'findings' in printed
}

async function examine(args: readonly string[], house: Partial<House> = { openStore: () => Promise.resolve(fakeStore([])) }) {
  const surroundings = fakeSurroundings(house, { SVC_UPSTREAM_URL: url })
  const base = ['--storage.agent_record_dir', directory, '--storage.artifact_repository', join(directory, 'a.git'), '--svc.port', '0']
  const own = new Set(args)
  const kept = base.flatMap((arg, index) => (index % 2 === 0 && !own.has(arg) ? [arg, base[index + 1] ?? ''] : []))
  const exit = await runCli(['doctor', '--json', ...kept, ...args], surroundings)
  const findings = findingsIn(JSON.parse(surroundings.printed.join('\n')))
  return { exit, find: (check: string) => findings.find((finding) => finding.check === check), findings }
}

describe('doctor', () => {
  test('finds nothing to fix where nothing is wrong', async () => {
    const { exit, findings } = await examine(['--inference.upstream_api_key', 'good'])
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([])
    expect(exit).toBe(0)
  })

  test('names each problem of the configuration with its fix, and still looks at the machine', async () => {
    const { exit, findings } = await examine(['--svc.prot', '1', '--svc.max_scenarios', '0'])
    expect(exit).toBe(2)
    expect(findings.filter(({ check }) => check === 'configuration')).toEqual([
      { check: 'configuration', state: 'problem', found: 'command line: svc.prot is not a known key', fix: 'did you mean svc.port?' },
      { check: 'configuration', state: 'problem', found: 'command line: svc.max_scenarios must be a whole number of at least 1' },
    ])
    expect(findings.some(({ check }) => check === 'git')).toBe(true)
  })

  test('an upstream that refuses the key is a problem', async () => {
    const { exit, find } = await examine(['--inference.upstream_api_key', 'bad'])
    expect(exit).toBe(2)
    expect(find('upstream')).toMatchObject({ state: 'ok' })
    expect(find('upstream key')).toMatchObject({ state: 'problem', found: 'the upstream refused the key (401)' })
  })

  test('a messages upstream is asked with its own header', async () => {
    const { find } = await examine(['--inference.upstream_api', 'anthropic', '--inference.upstream_api_key', 'good'])
    expect(find('upstream key')).toMatchObject({ state: 'ok' })
  })

  test('an upstream that does not answer is a problem', async () => {
    const { find } = await examine(['--inference.upstream_url', 'http://127.0.0.1:1'])
    expect(find('upstream')).toMatchObject({ state: 'problem', fix: 'check the network, or set inference.upstream_url' })
  })

  test('a port that a service answers on is a warning, any other taken port a problem', async () => {
    const { find } = await examine(['--svc.port', new URL(url).port])
    expect(find('port')).toMatchObject({ state: 'warning' })
    const other = createServer((_, response) => response.writeHead(500).end())
    const port = await listenOnLoopback(other)
    const taken = await examine(['--svc.port', String(port)])
    other.close()
    expect(taken.find('port')).toMatchObject({
      state: 'problem',
      found: `port ${port} is in use`,
      fix: 'stop the other process or set svc.port',
    })
  })

  test('a store that cannot be opened is a problem, one in use a warning', async () => {
    const newer = await examine([], {
      openStore: () => Promise.reject(unavailable('newer_store', 'format 9; start the version that wrote it')),
    })
    expect(newer.find('store')).toMatchObject({ state: 'problem', fix: 'start the version that wrote it' })
    const inUse = await examine([], { openStore: () => Promise.reject(unavailable('store_in_use', 'in use; stop it')) })
    expect(inUse.find('store')).toMatchObject({ state: 'warning', fix: 'stop it' })
  })

  test('a store that is not there yet is not made', async () => {
    const { find } = await examine(['--storage.agent_record_dir', join(directory, 'absent')], {})
    expect(find('store')).toMatchObject({ state: 'ok', found: 'none yet; the service will make it' })
  })

  test('for people it is a table', async () => {
    const surroundings = fakeSurroundings({}, { SVC_UPSTREAM_URL: url })
    expect(await runCli(['doctor', '--svc.prot', '1'], surroundings)).toBe(2)
    expect(surroundings.printed.join('\n')).toMatch(
      /PROBLEM {2}configuration {2}command line: svc\.prot is not a known key\n +fix: did you mean svc\.port\?/,
    )
  })
})

describe('versions', () => {
  test.each([
    ['22.19.0', 'ok'],
    ['24.1.0', 'ok'],
    ['22.18.9', 'problem'],
    ['20.20.2', 'problem'],
  ])('node %s: %s', (node, state) => expect(checkNode({ node }).state).toBe(state))

  test.each([
    ['3.51.3', 'ok'],
    ['3.51.2', 'problem'],
    [undefined, 'problem'],
  ])('sqlite %s: %s', (sqlite, state) => expect(checkSqlite({ sqlite }).state).toBe(state))

  test.each([
    ['git version 2.36.0', 'ok'],
    ['git version 2.39.5 (Apple Git-154)', 'ok'],
    ['git version 2.35.9', 'problem'],
  ])('%s: %s', async (text, state) => expect((await checkGit(() => Promise.resolve(text))).state).toBe(state))

  test('no git is a problem', async () => {
    expect(await checkGit(() => Promise.reject(new Error('ENOENT')))).toMatchObject({ state: 'problem', found: 'git is not on the PATH' })
  })
})

test.each([
  [50 * 1024 ** 2, 'problem'],
  [5 * 1024 ** 3, 'warning'],
  [50 * 1024 ** 3, 'ok'],
])('%d bytes free: %s', (free, state) => expect(diskFinding(free, 20 * 1024 ** 3).state).toBe(state))
