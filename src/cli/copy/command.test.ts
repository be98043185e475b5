/** `svc store copy` between folders and deployments of this machine: what is copied, compared, refused and told. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { entry, make, token } from '../../../conformance/store-deployment.ts'
import { bytes, create, evicted, record } from '../../../conformance/store-samples.ts'
import sqlite from '../../../plugins/stores/sqlite/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { makePlace, type Place } from '../../../test/support/place.ts'
import { send, type Answer } from '../../../test/support/world.ts'
import type { Store } from '../../contract/index.ts'
import * as service from '../../main.ts'
import { execute, fakeSurroundings, type FakeTerminal } from '../testing/surroundings.ts'
import { fill, holdings } from './testing/sample.ts'

const RECORDS = 450

async function open(directory: string, capacity_bytes?: number): Promise<Store> {
  const store = await sqlite.plugin.make({ directory, ...(capacity_bytes !== undefined && { capacity_bytes }) })
  onTestFinished(() => store.close())
  return store
}

async function filled(records = RECORDS): Promise<string> {
  const directory = temporaryFolder()
  const store = await open(directory)
  await fill(store, records)
  await store.close()
  return directory
}

async function held(directory: string): Promise<unknown> {
  const store = await open(directory)
  const all = await holdings(store)
  await store.close()
  return all
}

const copy = (args: readonly string[], terminal?: FakeTerminal) => {
  const surroundings = fakeSurroundings(service, {}, terminal)
  const mask = process.umask()
  return execute(['store', 'copy', ...args], surroundings)
    .then((ended) => ({ ...ended, shown: surroundings.shown }))
    .finally(() => process.umask(mask))
}

describe('svc store copy', () => {
  it('copies every row and record, with numbers, bodies and what waits for training, and says so in counts of both sides', async () => {
    const [from, to] = [await filled(), join(temporaryFolder(), 'new')]
    const { exit, out, err } = await copy(['--from', `sqlite:${from}`, '--to', `sqlite:${to}`, '--json'])
    expect([exit, err]).toEqual([0, []])
    const counts = { records: RECORDS, steps: 4 }
    const one = { source: counts, target: counts, added: counts, evicted: 0, differences: [], documents: 0, releases: null }
    expect(JSON.parse(out)).toEqual({
      scenarios: ['support', 'ünïcode 𝄞 \u0000'].map((scenario) => ({ scenario, copied_as: scenario, ...one })),
      deployment: { tokens: 0, tokens_differ: [], audit: 0 },
    })
    expect(await held(to)).toEqual(await held(from))
    const store = await open(to)
    expect(await store.verify(() => undefined)).toEqual([])
  })

  it('adds nothing when it is run again, and what came since when there is more', async () => {
    const [from, to] = [await filled(120), temporaryFolder()]
    const places = ['--from', `sqlite:${from}`, '--to', `sqlite:${to}`]
    await copy(places)
    expect((await copy(places)).out).toContain('records   from       120  to       120  of them now         0')
    const store = await open(from)
    await store.scenario('support').append([record('later')])
    await store.close()
    expect((await copy(places)).out).toContain('records   from       121  to       121  of them now         1')
    expect(await held(to)).toEqual(await held(from))
  })

  it('copies tokens and the audit, once, and says which tokens the target has otherwise', async () => {
    const [from, to] = [await filled(1), temporaryFolder()]
    const source = await open(from)
    for (const name of ['laptop', 'reader']) await make(source.deployment, token(name))
    await source.close()
    const places = ['--from', `sqlite:${from}`, '--to', `sqlite:${to}`]
    expect((await copy(places)).out).toContain('\n2 tokens and 2 entries of the audit are there too')
    expect(await copy(places)).toMatchObject({ exit: 0 })
    const target = await open(to)
    expect(await target.deployment.tokens()).toEqual([token('laptop'), token('reader')])
    expect((await target.deployment.audit({ after: 0, limit: 99 })).map(({ sequence, id, action }) => [sequence, id, action])).toEqual([
      [1, 'make laptop', 'promote'],
      [2, 'make reader', 'promote'],
      [3, expect.stringMatching(/^copy /), 'copyToken'],
      [4, expect.stringMatching(/^copy /), 'copyToken'],
    ])
    const other = token('reader', { digest: 'f'.repeat(64) })
    await target.deployment.changeToken({ name: 'reader', before: token('reader').digest, after: other }, entry('rotated'))
    await target.close()
    const again = await copy(places)
    expect(again).toMatchObject({ exit: 1, out: expect.stringContaining('DIFFERENT  token reader: ') })
  })

  it('shows a bar, which is gone at the end', async () => {
    const [from, to] = [await filled(60), temporaryFolder()]
    const { shown } = await copy(['--from', `sqlite:${from}`, '--to', `sqlite:${to}`], { width: 80 })
    expect(shown.at(-2)).toBe(`[${'#'.repeat(30)}] 100%  240 of 240`)
    expect(shown.at(-1)).toBe('')
  })

  it('copies one scenario alone, also under another name and beside itself', async () => {
    const [from, to] = [await filled(60), temporaryFolder()]
    expect((await copy(['--from', `sqlite:${from}`, '--to', `sqlite:${to}`, '--scenario', 'support', '--as', 'mine'])).exit).toBe(0)
    expect((await copy(['--from', `sqlite:${from}`, '--to', `sqlite:${from}`, '--scenario', 'support', '--as', 'again'])).exit).toBe(0)
    const [there, here] = [await open(to), await open(from)]
    expect(await there.scenarios()).toEqual(['mine'])
    expect((await here.scenarios()).toSorted()).toEqual(['again', 'support', 'ünïcode 𝄞 \u0000'])
    expect(await here.scenario('again').records({ after: 0, limit: 100 })).toEqual(
      await there.scenario('mine').records({ after: 0, limit: 100 }),
    )
  })

  it('leaves records behind whose bodies capacity took, and counts them', async () => {
    const [from, to] = [temporaryFolder(), temporaryFolder()]
    const store = await open(from, 1000)
    const scenario = await create(store, 'a')
    for (let at = 0; at < 20; at += 1)
      await scenario.append([record(`r${at}`, { payload: bytes(JSON.stringify({ at, x: String(at).repeat(90) })) })])
    await evicted(store)
    await store.close()
    const { exit, out } = await copy(['--from', `sqlite:${from}`, '--to', `sqlite:${to}`, '--json'])
    const report: { scenarios: { source: { records: number }; target: { records: number }; evicted: number }[] } = JSON.parse(out)
    const [copied] = report.scenarios
    expect(exit).toBe(0)
    expect(copied?.source.records).toBe(20)
    expect(copied?.evicted).toBeGreaterThan(0)
    expect(copied?.target.records).toBe(20 - (copied?.evicted ?? 0))
  })

  it('copies releases too between two deployments, so that the other one serves the scenario', async () => {
    const [here, there] = [await makePlace(), await makePlace()]
    const first = await here.start()
    const served = await ask(first.address)
    await first.close()
    const [from, to] = [fileOf(here), fileOf(there)]
    const { exit, out, err } = await copy(['--from', from, '--to', to, '--json'])
    expect([exit, err]).toEqual([0, []])
    expect(JSON.parse(out)).toMatchObject({ scenarios: [{ scenario: 'support', releases: { releases: 1, added: 1, missing: [] } }] })
    expect(there.refs()).toEqual(here.refs())
    const second = await there.start()
    expect((await ask(second.address)).headers['x-svc-release-id']).toBe(served.headers['x-svc-release-id'])
    expect((await send(second.address, 'GET', '/svc/scenarios/support/records', {})).json['records']).toHaveLength(2)
  })
})

it('what scenarios keep beside their records comes along, once; the key of a model as each side encrypts it', async () => {
  const [here, there] = [await makePlace(), await makePlace()]
  const first = await here.start()
  await ask(first.address)
  await send(first.address, 'POST', '/svc/scenarios/support/update', { body: { model: { model: 'own', api_key: 'sk-its-own-key' } } })
  await first.close()
  const [folder = ''] = readdirSync(join(here.records, 'scenarios'))
  const settled = ({ records }: Place) => join(besides(records, 'proposals'), folder, 'settled')
  mkdirSync(settled(here), { recursive: true })
  writeFileSync(join(settled(here), 'p1.json'), '{}')
  writeFileSync(join(here.records, 'scenarios', folder, 'episodes.jsonl'), 'line\n')
  const sides = [fileOf(here), fileOf(there, `  secret_key: ${randomBytes(32).toString('hex')}\n`)] as const
  const { exit, err, out } = await copy(['--from', sides[0], '--to', sides[1], '--json'])
  expect([exit, err]).toEqual([0, []])
  expect(JSON.parse(out)).toMatchObject({ scenarios: [{ documents: 3 }] })
  const model = readFileSync(join(there.records, 'scenarios', folder, 'model.json'), 'utf8')
  expect([model.includes('"model":"own"'), model.includes('sk-its-own-key')]).toEqual([true, false])
  expect(readFileSync(join(there.records, 'scenarios', folder, 'episodes.jsonl'), 'utf8')).toBe('line\n')
  expect(readdirSync(settled(there))).toEqual(['p1.json'])
  expect(JSON.parse((await copy(['--from', sides[0], '--to', sides[1], '--json'])).out)).toMatchObject({ scenarios: [{ documents: 0 }] })
})

const besides = (records: string, name: string): string => join(dirname(records), name)

/** A configuration file that names every folder in full: what lies in the working directory is not looked for. */
const fileOf = ({ records, repository }: Place, more = ''): string => {
  const path = join(temporaryFolder(), 'svc.yaml')
  const evolution = `  proposals_dir: ${besides(records, 'proposals')}\n  step_record_dir: ${besides(records, 'steps')}\n`
  const storage = `  agent_record_dir: ${records}\n  artifact_repository: ${repository}\n${more}`
  writeFileSync(path, `storage:\n${storage}recipe: record-only\nevolution:\n${evolution}`)
  return path
}

const ask = (address: string): Promise<Answer> =>
  send(address, 'POST', '/v1/chat/completions', { headers: { 'x-svc-scenario': 'support' }, body: { model: 'm', messages: [] } })

describe('svc store copy is refused', () => {
  it.each([
    [
      'from a folder that is not there',
      ['--from', 'sqlite:/nowhere', '--to', 'sqlite:/elsewhere'],
      /^--from: there is no folder \/nowhere/,
    ],
    ['from what is no place', ['--from', 'mysql:x', '--to', 'sqlite:x'], /^--from must be sqlite:DIR, postgres:\/\//],
    ['with a new name for all', ['--from', 'sqlite:.', '--to', 'sqlite:x', '--as', 'b'], /^--as names the copy of one scenario/],
  ])('%s', async (_, args, words) => {
    const { exit, err } = await copy(args)
    expect([exit, err.length]).toEqual([2, 1])
    expect(err[0]).toMatch(words)
  })

  it('into itself, of a scenario that is not there, and over another scenario of that name', async () => {
    const [from, to] = [await filled(5), temporaryFolder()]
    const places = ['--from', `sqlite:${from}`, '--to', `sqlite:${to}`]
    expect((await copy(['--from', `sqlite:${from}`, '--to', `sqlite:${from}`])).err[0]).toMatch(/same store/)
    expect((await copy([...places, '--scenario', 'none'])).err[0]).toMatch(/the source has no such scenario/)
    const store = await open(to)
    await store.scenario('support').commit({
      step: 0,
      operation: 'create',
      outcome: 'published',
      consumed_ids: [],
      recorded_at: 9,
      release: null,
      pending: false,
      metrics: {},
      state: {},
    })
    await store.close()
    const { exit, err } = await copy(places)
    expect([exit, err[0]]).toEqual([2, expect.stringMatching(/another scenario of this name.*--as/)])
  })

  it('where a service went on with the target', async () => {
    const [from, to] = [await filled(5), temporaryFolder()]
    const places = ['--from', `sqlite:${from}`, '--to', `sqlite:${to}`]
    await copy(places)
    const store = await open(to)
    await store.scenario('support').append([record('made there')])
    await store.close()
    const { exit, err } = await copy(places)
    expect([exit, err[0]]).toEqual([2, expect.stringMatching(/records that the source does not have/)])
  })

  it('while a service uses one of the folders', async () => {
    const from = await filled(5)
    await open(from)
    const { exit, err } = await copy(['--from', `sqlite:${from}`, '--to', `sqlite:${temporaryFolder()}`])
    expect([exit, err[0]]).toEqual([2, expect.stringMatching(/another process uses/)])
  })
})
