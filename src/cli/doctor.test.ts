import { createServer } from 'node:http'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedFolder, temporaryFolder } from '../../test/support/folder.ts'
import { listenOnLoopback } from '../../test/support/listen.ts'
import { testServer } from '../../test/support/server.ts'
import { ConfigProblem } from '../config/index.ts'
import { unavailable } from '../contract/index.ts'
import { checkGit, checkNode, checkSqlite, diskFinding } from './doctor-machine.ts'
import { examineParts } from './doctor-parts.ts'
import { execute, fakeStore, fakeSurroundings } from './testing/surroundings.ts'
import type { Finding } from './explain.ts'
import type { ServiceModule, Surroundings } from './surroundings.ts'

/** An upstream that takes one key, and says that it is healthy like a service does. */
const upstream = createServer((request, response) => {
  const isKnown = request.headers.authorization === 'Bearer good' || request.headers['x-api-key'] === 'good'
  response.statusCode = request.url === '/v1/models' && !isKnown ? 401 : request.url === '/' ? 404 : 200
  response.end(JSON.stringify({ data: [{ id: 'small' }, { id: 'large' }, 7] }))
})
let url = ''
const directory = sharedFolder()

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(upstream)}`
})
afterAll(() => upstream.close())

/** By default no plug-in of the configuration is loaded. */
async function examine(
  args: readonly string[],
  service: Partial<ServiceModule> = { openStore: () => Promise.resolve(fakeStore([])) },
  parts: Surroundings['parts'] = () => Promise.resolve([]),
) {
  const surroundings = { ...fakeSurroundings(service, { SVC_UPSTREAM_URL: url }), parts }
  const base = ['--storage.agent_record_dir', directory, '--storage.artifact_repository', join(directory, 'a.git'), '--svc.port', '0']
  const own = new Set(args)
  const kept = base.flatMap((arg, index) => (index % 2 === 0 && !own.has(arg) ? [arg, base[index + 1] ?? ''] : []))
  const { exit, out, err } = await execute(['doctor', '--json', ...kept, ...args], surroundings)
  expect(out, `exit ${exit}: ${err.join()}`).not.toBe('')
  const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(out)
  return { exit, find: (check: string) => findings.find((finding) => finding.check === check), findings }
}

const evolving: Surroundings['parts'] = () => Promise.resolve([{ part: 'recipe harness', problems: [], warnings: [], asksModels: true }])

const several = (name: string, more: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(more).flatMap(([key, value]) => [`--inference.upstreams.${name}.${key}`, value])

const KEY = '--inference.upstream_api_key'

const withoutKey = () => Promise.reject(new ConfigProblem(['svc.tls.key: k.pem: there is no such file; name a PEM file']))

describe('doctor', () => {
  test('warns of what the store remarks, and leaves the exit code 0', async () => {
    const remark = { found: 'PostgreSQL has no synchronous standby', fix: 'set one up' }
    const store = { ...fakeStore([]), remarks: () => Promise.resolve([remark]) }
    const { exit, findings } = await examine([KEY, 'good'], { openStore: () => Promise.resolve(store) })
    expect(findings.filter(({ check }) => check === 'store')).toEqual([
      { check: 'store', state: 'ok', found: 'sqlite, 3 records' },
      { check: 'store', state: 'warning', ...remark },
    ])
    expect(exit).toBe(0)
  })

  test('finds nothing to fix where nothing is wrong', async () => {
    const { exit, findings } = await examine([KEY, 'good'])
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([])
    expect(exit).toBe(0)
  })

  test('says how long the certificate is valid, and warns in time', async () => {
    const certificate = async (days: number, readTls?: ServiceModule['readTls']) => {
      const pair = { certificate: '', key: '', minVersion: 'TLSv1.2', expiresAt: Date.now() / 1000 + (days + 0.5) * 24 * 3600 } as const
      const service = { openStore: () => Promise.resolve(fakeStore([])), readTls: readTls ?? (() => Promise.resolve(pair)) }
      return (await examine([KEY, 'good'], service)).find('certificate')
    }
    expect(await certificate(60)).toMatchObject({ state: 'ok', found: 'valid for 60 days more' })
    expect(await certificate(3)).toMatchObject({ state: 'warning', fix: expect.stringContaining('SIGHUP') })
    expect(await certificate(0, withoutKey)).toMatchObject({ state: 'problem', fix: 'name a PEM file' })
    expect((await examine([KEY, 'good'])).find('certificate')).toBeUndefined()
  })

  test('says line by line what isolates episodes here, and what does not', async () => {
    const { findings } = await examine([KEY, 'good'])
    const lines = findings.filter(({ check }) => check.startsWith('sandbox'))
    const names = ['sandbox', ...['bubblewrap', 'users', 'seccomp', 'cgroup', 'rlimits', 'folders'].map((name) => `sandbox ${name}`)]
    expect(lines.map(({ check }) => check)).toEqual(names)
    for (const { state, fix } of lines) expect(fix === undefined).toBe(state === 'ok')
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

  test('tries each of several upstreams with its own key', async () => {
    const { exit, find } = await examine([
      ...several('good', { url, api_key: 'good', models: '[small, lagre, x-*]', aliases: '{fast: large, odd: hgue}' }),
      ...several('refused', { url, api_key: 'bad' }),
      ...several('gone', { url: 'http://127.0.0.1:1' }),
      ...several('torn', { url: 'https://127.0.0.1:1', 'tls.ca_file': join(directory, 'no-such.pem') }),
    ])
    expect(exit).toBe(2)
    expect(find('upstream good')).toMatchObject({ state: 'ok', found: `${url} answers` })
    expect(find('upstream good key')).toMatchObject({ state: 'ok' })
    expect(find('upstream model')).toMatchObject({ state: 'ok', found: 'none is set; clients name their own' })
    expect(find('upstream good models')).toMatchObject({ state: 'warning', found: 'it does not list lagre, hgue' })
    expect(find('upstream refused key')).toMatchObject({ state: 'problem', fix: 'set inference.upstreams.refused.api_key' })
    expect(find('upstream gone')).toMatchObject({ state: 'problem', fix: 'check the network, or set inference.upstreams.gone.url' })
    expect(find('upstream torn')).toMatchObject({ state: 'problem', fix: 'check the files of inference.upstreams.torn.tls' })
  })

  test.each([
    [
      'an upstream that refuses the key is a problem',
      'upstream key',
      'problem',
      { found: 'the upstream refused the key (401)' },
      [KEY, 'bad'],
    ],
    ['a messages upstream gets its own header', 'upstream key', 'ok', {}, ['--inference.upstream_api', 'anthropic', KEY, 'good']],
    [
      'an upstream that does not answer is a problem',
      'upstream',
      'problem',
      { fix: 'check the network, or set inference.upstream_url' },
      ['--inference.upstream_url', 'http://127.0.0.1:1'],
    ],
    [
      'a model that the upstream does not list is a warning',
      'upstream model',
      'warning',
      { found: 'the upstream does not list lagre' },
      [KEY, 'good', '--inference.upstream_model', 'lagre'],
    ],
  ])('%s', async (_title, check, state, words, args) => {
    const { exit, find } = await examine(args)
    expect([exit, find(check)]).toEqual([state === 'problem' ? 2 : 0, expect.objectContaining({ state, ...words })])
  })

  test('a recipe that asks the model itself needs the name of one; clients name their own', async () => {
    const key = [KEY, 'good']
    const without = await examine(key, undefined, evolving)
    expect(without.exit).toBe(2)
    expect(without.find('upstream model')).toEqual({
      check: 'upstream model',
      state: 'problem',
      found: 'none is set, and a recipe asks the model itself',
      fix: 'set inference.upstream_model (or SVC_UPSTREAM_MODEL)',
    })
    expect((await examine([...key, '--inference.upstream_model', 'large'], undefined, evolving)).exit).toBe(0)
    expect((await examine(key)).find('upstream model')).toMatchObject({ state: 'ok' })
  })

  test('the mock model is a warning, unless it was chosen', async () => {
    const args = ['doctor', '--svc.port', '0', '--storage.record_backend', 'memory']
    const { out } = await execute(args, fakeSurroundings({}, { SVC_UPSTREAM_URL: '' }))
    expect(out).toContain('the built-in mock model answers, since no upstream is set or found')
    const chosen = await examine(['--inference.runtime', 'practice'])
    expect(chosen.find('upstream')).toEqual({ check: 'upstream', state: 'ok', found: 'practice (inference.runtime says so)' })
  })

  test('a token that is easily guessed is a problem where other machines can try', async () => {
    const open = await examine(['--svc.host', '0.0.0.0', '--svc.token', 'hunter2', '--svc.port', '0'])
    expect(open.exit).toBe(2)
    expect(open.findings).toContainEqual(
      expect.objectContaining({ state: 'problem', fix: expect.stringContaining('openssl rand -hex 32') }),
    )
    expect(JSON.stringify(open.findings)).not.toContain('hunter2')
    expect((await examine(['--svc.token', 'hunter2'])).find('token')).toMatchObject({ state: 'ok' })
    const strong = await examine(['--svc.host', '0.0.0.0', '--svc.token', 'a-token-of-many-characters'])
    expect(strong.find('token')).toMatchObject({ state: 'ok' })
  })

  test('a file where a directory should be is a problem', async () => {
    const file = join(directory, 'a-file')
    await writeFile(file, '')
    const { find } = await examine(['--storage.artifact_repository', file])
    expect(find('storage.artifact_repository')).toMatchObject({ state: 'problem', found: `${file} is not a directory` })
  })

  test('a port that a service answers on is a warning, any other taken port a problem', async () => {
    const { find } = await examine(['--svc.port', new URL(url).port])
    expect(find('port')).toMatchObject({ state: 'warning' })
    const { port } = new URL(await testServer((_, response) => response.writeHead(500).end()))
    const taken = await examine(['--svc.port', port])
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

  test('a store that refuses writes is a problem, and so is a key that cannot be used', async () => {
    const trouble = unavailable('store_forbidden', 'the user lacks a right; grant it')
    const writing = { check: () => Promise.resolve(trouble), onChange: () => undefined }
    const refusing = await examine([], { openStore: () => Promise.resolve({ ...fakeStore([]), writing }) })
    expect(refusing.find('store')).toMatchObject({ state: 'problem', fix: 'grant it' })
    const locked = await examine([], {
      openStore: () => Promise.resolve(fakeStore([])),
      checkKey: () => Promise.reject(unavailable('signing_key_damaged', 'the key was encrypted with another; set it as it was')),
    })
    expect(locked).toMatchObject({ exit: 2 })
    expect(locked.find('store')).toMatchObject({ state: 'problem', fix: 'set it as it was' })
  })

  test('a store that is not there yet is not made', async () => {
    const { find } = await examine(['--storage.agent_record_dir', join(directory, 'absent')], {})
    expect(find('store')).toMatchObject({ state: 'ok', found: 'none yet; the service will create it' })
  })

  test('for people it is a table', async () => {
    const { exit, out } = await execute(['doctor', '--svc.prot', '1'], fakeSurroundings({}, { SVC_UPSTREAM_URL: url }))
    expect(exit).toBe(2)
    expect(out).toMatch(/PROBLEM {2}configuration {2}command line: svc\.prot is not a known key\n +fix: did you mean svc\.port\?/)
  })
})

/** Each in a file of that name, used as a recipe. */
const MODULES: Readonly<Record<string, string>> = {
  throws: "throw new Error('boom')",
  waits: 'await new Promise(() => undefined)',
  exits: 'process.exit(0)',
  fails: "setTimeout(() => { throw new Error('later') }); await new Promise((resolve) => setTimeout(resolve, 2 ** 30))",
  other: "export default { kind: 'proposer', contract: 1, plugin: {} }",
}

const TASK = { name: 'sum', prompt: '1 + 1', answer: '2' }

/** What is wrong with the settings of a recipe, and the words that doctor has for it. */
const SETTINGS: Readonly<Record<string, readonly [recipe: object, found: string, fix: string]>> = {
  unknown: [{ use: 'harnes' }, 'neither built in nor an installed package', 'did you mean harness?'],
  absent: [{ use: './absent.mjs' }, 'cannot be loaded', 'correct the configuration'],
  proposer: [{ evolution: { proposer: 'txt' } }, 'proposer plug-in txt is neither built in', 'did you mean text?'],
  prompt: [{ evolution: { tasks: [{ name: 'x' }] } }, 'task x: prompt must be non-blank text', 'say what the agent is asked'],
  folder: [{ evolution: { tasks_dir: './absent' } }, 'evolution.tasks_dir: it cannot be read', 'name an existing folder'],
  twice: [{ evolution: { tasks: [TASK, TASK] } }, 'two tasks are named sum', 'rename one of them'],
  scorer: [{ evolution: { tasks: [{ ...TASK, evaluator: 'absent' }] } }, 'task sum: its evaluator cannot be used', 'answer, verify'],
  few: [{ evolution: { tasks: [TASK] } }, 'the gate has 1 task, and this decision needs 5', 'add tasks of role gate'],
  seed: [{ evolution: { seed: [{ id: 'a', name: 'song', config: {} }] } }, 'evolution.seed', 'correct the entry'],
}

describe('what the configuration names', () => {
  test('is loaded: each problem has a line with its fix, and none hides another', async () => {
    for (const [name, code] of Object.entries(MODULES)) await writeFile(join(directory, `${name}.mjs`), code)
    const ofModules = Object.keys(MODULES).map((name) => [name, { use: `./${name}.mjs` }])
    const ofSettings = Object.entries(SETTINGS).map(([name, [recipe]]) => [name, { use: 'harness', ...recipe }])
    const taught = { use: 'harness', data: { training_mode: 'manual' }, evolution: { tasks: [TASK] } }
    const recipes = Object.fromEntries([...ofModules, ...ofSettings, ['taught', taught], ['bundled', { use: 'harness' }]])
    const file = join(directory, 'broken.yaml')
    await writeFile(file, JSON.stringify({ recipe: 'bundled', recipes }))
    const { exit, find } = await examine(['-c', file], undefined, examineParts)
    expect(exit).toBe(2)
    for (const name of ['taught', 'bundled']) expect(find(`recipe ${name}`)).not.toMatchObject({ state: 'problem' })
    for (const [name, [, found, fix]] of Object.entries(SETTINGS))
      expect(find(`recipe ${name}`)).toMatchObject({
        state: 'problem',
        found: expect.stringContaining(found),
        fix: expect.stringContaining(fix),
      })
    expect(Object.keys(MODULES).map((name) => find(`recipe ${name}`)?.found)).toEqual([
      'recipe plug-in ./throws.mjs cannot be loaded: boom',
      'it is still loading, and nothing is left that could finish it',
      'it ends the process while it is loaded',
      'it fails while it is loaded: later',
      "recipe plug-in ./other.mjs: wanted export default made by define('recipe', …), found a plug-in of kind proposer",
    ])
    expect(find('upstream model')).toMatchObject({ state: 'problem' })
  })

  test('is abandoned when it does not end, and reported as still loading', async () => {
    await writeFile(join(directory, 'spins.mjs'), 'for (;;);')
    const file = join(directory, 'spinning.yaml')
    await writeFile(file, JSON.stringify({ recipe: './spins.mjs' }))
    const { exit, find } = await examine(['-c', file], undefined, (loaded) => examineParts(loaded, 1))
    expect(exit).toBe(2)
    expect(find('recipe ./spins.mjs')).toMatchObject({ state: 'problem', found: expect.stringContaining('it is still loading after 1 s') })
  })

  test('is a store that cannot be loaded: it is reported once, and not opened', async () => {
    const { findings } = await examine(['--storage.record_backend', './absent.mjs'], {}, examineParts)
    expect(findings.filter(({ check }) => check.startsWith('store'))).toMatchObject([{ check: 'store ./absent.mjs', state: 'problem' }])
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

test('what a target of webhooks refused is a warning with the command that sends it again, and what cannot be read a problem', async () => {
  const folder = temporaryFolder()
  const hook = [
    '--webhooks.chat.url',
    'https://hooks.example.com/',
    '--webhooks.chat.secret',
    `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  ]
  const found = async () => (await examine(['--storage.agent_record_dir', folder, ...hook])).find('webhooks')
  expect(await found()).toBeUndefined()
  await mkdir(join(folder, 'webhooks'))
  await writeFile(join(folder, 'webhooks', 'chat.set-aside.json'), JSON.stringify([{ id: '1' }, { id: '2' }]))
  expect(await found()).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('2 events'),
    fix: expect.stringContaining('svc webhooks retry'),
  })
  await writeFile(join(folder, 'webhooks', 'chat.set-aside.json'), '[')
  expect(await found()).toMatchObject({ state: 'problem', fix: expect.stringContaining('restore webhooks/chat.set-aside.json') })
})

test.each([
  [50 * 1024 ** 2, 'problem'],
  [5 * 1024 ** 3, 'warning'],
  [50 * 1024 ** 3, 'ok'],
])('%d bytes free: %s', (free, state) => expect(diskFinding(free, 20 * 1024 ** 3).state).toBe(state))
