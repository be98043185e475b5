/** Crashes at every named point between two durable steps of a landing: after the restart all is as if there had been none. */
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { REF, type JsonObject, type TrainingMode } from '../../src/contract/index.ts'
import { startService } from '../../src/main.ts'
import { placeIn, startChild, type Child } from '../crash/child.ts'
import { listIn, textIn } from '../crash/http.ts'
import { checkRepository } from '../crash/examine.ts'
import type { Point } from '../fixtures/dying-points.ts'
import { LOADED } from '../fixtures/dying-recipes.ts'
import { sharedFolder, temporaryFolder } from '../support/folder.ts'
import { damageIn } from '../support/place.ts'
import { argumentsOf, loadArguments, settingsOf, type Settings } from '../support/settings.ts'
import { until } from '../support/wait.ts'
import { send, type Answer } from '../support/world.ts'

const fixture = (name: string): string => join(import.meta.dirname, '..', 'fixtures', name)
const SERVICE = fixture('dying-service.ts')
const NAME = 'doomed'
const ASKED = 'asked'

const post = (address: string, path: string, body: object): Promise<Answer> =>
  send(address, 'POST', path, { body, headers: { 'x-svc-scenario': NAME } })
const get = async (address: string, path: string): Promise<JsonObject> =>
  (await send(address, 'GET', path, { headers: { 'x-svc-scenario': NAME } })).json
const ofScenario = (route: string): string => `/svc/scenarios/${NAME}/${route}`
const rows = async (address: string): Promise<readonly JsonObject[]> =>
  listIn(await get(address, ofScenario('commits?limit=100')), 'commits')
const releases = async (address: string): Promise<readonly JsonObject[]> =>
  listIn(await get(address, ofScenario('releases')), 'releases').toReversed()

/** Every request may be resent after a lost answer, and nothing happens twice. */
const report = (id: string, exchange: string, feedback: object | string) => (address: string) =>
  post(address, '/svc/report', { agent_record_id: id, references: [exchange], feedback })
const instruct = (id: string, text: string) => (address: string) =>
  post(address, '/svc/train', { agent_record_id: id, text, session: 's', release_id: 'r' })
const move =
  (operation: 'promote' | 'rollback' | 'withdraw' | 'reject', step: number, words: object = {}) =>
  async (address: string) =>
    post(address, ofScenario(operation), { release_id: textIn((await releases(address))[step], 'release_id'), ...words })

type Act = (address: string) => Promise<Answer>
interface Kind {
  readonly mode: TrainingMode
  readonly pair?: true
  /** The setup before it, and its number of rows. */
  readonly before: readonly (readonly [act: Act, rows: number])[]
  readonly act: Act
  readonly points: readonly Point[]
}

const ALWAYS = ['before-row', 'after-row'] as const
const PUBLISHED = ['before-content', 'after-content', ...ALWAYS, 'after-pointer', 'after-load', 'after-step'] as const
const MOVED = [...ALWAYS, 'after-pointer', 'after-load'] as const

const KINDS: Readonly<Record<string, Kind>> = {
  'a step on traffic': { mode: 'auto', before: [], act: report(ASKED, 'x1', 'add'), points: PUBLISHED },
  'a step held for review': {
    mode: 'auto',
    before: [],
    act: report(ASKED, 'x1', 'hold'),
    points: PUBLISHED.filter((point) => point !== 'after-load'),
  },
  'a provisional release': {
    mode: 'auto',
    before: [],
    act: report(ASKED, 'x1', 'offer'),
    points: PUBLISHED.filter((point) => point !== 'after-load'),
  },
  'a withdrawal': { mode: 'auto', before: [[report('offered', 'x1', 'offer'), 1]], act: move('withdraw', 1), points: ALWAYS },
  'a step on an instruction': { mode: 'manual', before: [], act: instruct(ASKED, 'add'), points: PUBLISHED },
  'a failed instruction': { mode: 'manual', before: [], act: instruct(ASKED, 'throw'), points: [...ALWAYS, 'after-step'] },
  'a promote': { mode: 'manual', before: [[instruct('held', 'hold'), 1]], act: move('promote', 1), points: MOVED },
  'a rejection': { mode: 'manual', before: [[instruct('held', 'hold'), 1]], act: move('reject', 1, { reason: 'no' }), points: ALWAYS },
  'a rollback': { mode: 'manual', before: [[instruct('first', 'add'), 1]], act: move('rollback', 0), points: MOVED },
  // An instruction, which one component takes: of two that learn from the same report either may step first.
  'a step of one of two components': { mode: 'manual', pair: true, before: [], act: instruct(ASKED, 'add'), points: PUBLISHED },
  'a promote of one of two components': {
    mode: 'hybrid',
    pair: true,
    before: [
      [instruct('held', 'hold'), 1],
      [report('beside', 'x3', { alpha: 'skip', beta: 'add' }), 3],
    ],
    act: move('promote', 1),
    points: ['before-content', 'after-content', ...MOVED],
  },
}

/** Points that loading passes too: there the restart dies once more before it is let live. */
const RECOVERING: ReadonlySet<string> = new Set<Point>(['after-pointer', 'after-load'])

/** The pointer of a move is written while its release is loaded, so either may be first; a step loads after it. */
const inOrder = ({ points }: Kind, passed: readonly string[]): readonly string[] =>
  points.includes('after-step') ? passed : passed.filter((point) => !RECOVERING.has(point))

/**
 * Every point of the first kind; of the others the one behind the row, where what differs between them is decided. `FAILPOINTS=all` takes all of
 * every kind.
 */
const CASES = Object.entries(KINDS).map(([name, kind], place) => {
  const isWhole = place === 0 || process.env['FAILPOINTS'] === 'all'
  return { name, kind, points: isWhole ? kind.points : kind.points.filter((point) => point === 'after-row') }
})
const prepared = sharedFolder()
const folderOf = (name: string): string => join(prepared, name)
/** The result of the same sequence without a crash. */
const expected = new Map<string, unknown>()

describe.each(CASES)('a crash in $name', ({ name, kind, points }) => {
  beforeAll(async () => {
    await inPlace(folderOf(name), kind, (address) => prepare(address, kind))
    expected.set(name, await complete(copyOf(name, join(prepared, `${name}, whole`)), kind))
  })

  it.each(points.map((point) => ({ point })))('$point: it happened once, and is finished [scenario.restart]', async ({ point }) => {
    const folder = copyOf(name, temporaryFolder())
    const order = join(folder, 'die-at')
    const passed = await dieActing(folder, kind, order, point)
    expect(inOrder(kind, passed)).toEqual(inOrder(kind, kind.points.slice(0, kind.points.indexOf(point))))
    if (RECOVERING.has(point)) expect(await start(folder, kind, order).ended).toBe(null)
    rmSync(order)
    expect(await complete(folder, kind)).toEqual(expected.get(name))
    expect(await checkRepository(placeIn(folder))).toBe('')
  })
})

function copyOf(name: string, folder: string): string {
  cpSync(folderOf(name), folder, { recursive: true })
  return folder
}

/** The model is never called. */
function allSettings(folder: string, { mode, pair }: Kind): Settings {
  return {
    ...settingsOf(placeIn(folder), 'http://127.0.0.1:1'),
    recipe: `${fixture('dying-recipes.ts')}${pair ? '#pair' : ''}`,
    'data.training_mode': mode,
  }
}

/** In this process, stopped before it returns. */
async function inPlace<T>(folder: string, kind: Kind, work: (address: string) => Promise<T>): Promise<T> {
  const loaded = await loadArguments(argumentsOf(allSettings(folder, kind)))
  const service = await startService(loaded, { log: { write: () => undefined, flush: () => undefined }, trainersGiveWay: false })
  try {
    return await work(service.address)
  } finally {
    await service.close()
  }
}

async function prepare(address: string, { before }: Kind): Promise<void> {
  await post(address, '/svc/scenarios', { name: NAME })
  for (const id of ['x1', 'x2', 'x3'])
    await post(address, '/svc/records', { agent_record_id: id, request_type: 'inference', payload: { response: { id } } })
  for (const [act, left] of before) {
    await act(address)
    await until(async () => (await rows(address)).length === left)
  }
}

/** Runs the service until it dies at that point of the act; answers the points that it passed on the way. */
async function dieActing(folder: string, kind: Kind, order: string, point: Point): Promise<readonly string[]> {
  const said: string[] = []
  const child = start(folder, kind, order, (line) => said.push(line))
  const address = String(await child.address)
  // Loading ends with the pointer and with every hold: the order counts from there.
  const held = (await releases(address)).filter(({ pending }) => pending === true).length
  await until(() => said.filter((line) => line === 'after-pointer').length === 1 + held)
  const loading = said.length
  writeFileSync(order, point)
  await kind.act(address).catch(() => undefined)
  expect(await child.ended).toBe(null)
  return [...new Set(said.slice(loading))]
}

function start(folder: string, kind: Kind, order: string, onSaid: (line: string) => void = () => undefined): Child {
  return startChild(placeIn(folder), { settings: allSettings(folder, kind), entry: SERVICE, environment: { DIE_AT: order }, onSaid })
}

/** Resends the interrupted request, then one more; returns the visible state after training on it, and the files. */
async function complete(folder: string, kind: Kind): Promise<unknown> {
  const { shown, ids } = await inPlace(folder, kind, async (address) => {
    expect((await kind.act(address)).status).toBe(200)
    await learnMore(address, kind)
    return { shown: await whatIsShown(address, kind), ids: (await releases(address)).map((row) => textIn(row, 'release_id')) }
  })
  const kept = { loaded: loadedIn(folder), refs: refsOf(folder), damage: await damageIn(placeIn(folder).records) }
  return withoutChance({ ...shown, ...kept }, ids)
}

/** Records are taken in order, so nothing older is left when the newest was trained on. */
async function learnMore(address: string, { mode }: Kind): Promise<void> {
  const act = mode === 'auto' ? report('next', 'x2', 'add') : instruct('next', 'add')
  expect((await act(address)).status).toBe(200)
  const consumers = async (): Promise<number> =>
    listIn(await get(address, ofScenario('commits?limit=100&record_id=next')), 'commits').length
  await until(async () => (await consumers()) > 0)
}

async function whatIsShown(address: string, { mode }: Kind): Promise<object> {
  const { scenarios } = await get(address, '/svc/status')
  const status: JsonObject = Object(Object(scenarios)[NAME])
  return {
    rows: await rows(address),
    releases: await releases(address),
    listed: await get(address, '/svc/harness/releases'),
    head: (await get(address, '/svc/scenarios'))['scenarios'],
    step: status['scenario_step'],
    last: status['last_committed_step'],
    processor: status['processor'],
    progress: mode === 'manual' && (await get(address, `/svc/harness/requests/${ASKED}/progress`)),
  }
}

function loadedIn(folder: string): readonly string[] {
  const scenarios = join(placeIn(folder).records, 'scenarios')
  return readdirSync(scenarios).map((name) => readFileSync(join(scenarios, name, LOADED), 'utf8'))
}

function refsOf(folder: string): readonly string[] {
  const { repository } = placeIn(folder)
  const printed = execFileSync('git', [`--git-dir=${repository}`, 'for-each-ref', '--format=%(refname) %(objectname)', REF.all])
  return printed.toString().split('\n')
}

/** Times and release ids differ between runs: releases are named by their position in the chain. */
function withoutChance(seen: object, releaseIds: readonly string[]): unknown {
  const printed = JSON.stringify(seen, (key, value: unknown) => (key === 'recorded_at' ? undefined : value))
  const named = releaseIds.reduce((text, id, step) => text.replaceAll(id, `release ${step}`), printed)
  return JSON.parse(named)
}
