/** A training scenario from the client's side: sends records and waits for rows. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject, TrainingMode } from '../../../src/contract/index.ts'
import { until } from '../../support/wait.ts'
import type { Answer, World } from '../../support/world.ts'
import { named, rowsOf, textAt } from './helpers.ts'

const RECIPES = join(import.meta.dirname, '..', '..', 'fixtures', 'training')
export const LEDGER_RECIPE = join(RECIPES, 'ledger.ts')
export const PAIR_RECIPE = join(RECIPES, 'pair.ts')

export interface Trainee {
  readonly name: string
  /** Sends an exchange and a report about it; returns both ids. */
  reported(report?: JsonObject): Promise<readonly [receipt: string, report: string]>
  report(body: JsonObject): Promise<Answer>
  /** Sends an instruction; returns its id. */
  ask(text: string, more?: JsonObject): Promise<string>
  useMode(mode: TrainingMode): Promise<Answer>
  move(operation: 'promote' | 'rollback', releaseId: string): Promise<Answer>
  remove(): Promise<Answer>
  /** The row of that step, once it has landed. */
  row(step: number): Promise<JsonObject>
  /** The row that consumed that record, once it has landed. */
  consumer(id: string): Promise<JsonObject>
  rows(): Promise<readonly JsonObject[]>
  /** The catalog, newest first. */
  releases(): Promise<readonly JsonObject[]>
  /** The newest of the catalog. */
  release(): Promise<JsonObject>
  /** What is served now. */
  head(): Promise<JsonObject>
  /** The catalog of the files it serves, oldest first. */
  listed(): Promise<readonly JsonObject[]>
  progress(id: string): Promise<JsonObject>
  /** Waits until a step has the instruction in this state. */
  reached(id: string, state: string): Promise<JsonObject>
  /** Its part of the status. */
  status(): Promise<JsonObject>
  /** Its background errors in the status. */
  errors(): Promise<readonly string[]>
  processor(): Promise<JsonObject>
}

export function trainee(here: World, name: string): Trainee {
  const path = `/svc/scenarios/${encodeURIComponent(name)}`
  const commits = async (query: string): Promise<readonly JsonObject[]> =>
    rowsOf(await here.get(`${path}/commits?limit=100${query}`), 'commits')
  const releases = async (): Promise<readonly JsonObject[]> => rowsOf(await here.get(`${path}/releases`), 'releases')
  const report = (body: JsonObject): Promise<Answer> => here.post('/svc/report', body, named(name))
  const progress = async (id: string): Promise<JsonObject> =>
    (await here.get(`/svc/harness/requests/${encodeURIComponent(id)}/progress`, named(name))).json
  const status = async (): Promise<JsonObject> => memberOf((await here.get('/svc/status')).json['scenarios'], name)
  return {
    name,
    report,
    releases,
    async errors() {
      const { error } = (await here.get('/svc/status')).json
      return typeof error === 'string' ? error.split('\n').filter((line) => line.startsWith(name)) : []
    },
    progress,
    status,
    async reported(body = {}) {
      const receipt = await here.exchange(name)
      return [receipt, textAt((await report({ references: [receipt], ...body })).json, 'agent_record_id')]
    },
    async ask(text, more = {}) {
      const answer = await here.post('/svc/train', { text, session: 's', release_id: 'r', ...more }, named(name))
      return textAt(answer.json, 'agent_record_id')
    },
    useMode: (training_mode) => here.post(`${path}/update`, { training_mode }),
    move: (operation, release_id) => here.post(`${path}/${operation}`, { release_id }),
    remove: () => here.ask('DELETE', path),
    row: (step) => found(async () => (await commits('')).find((row) => row['step'] === step)),
    consumer: (id) => found(async () => (await commits(`&record_id=${encodeURIComponent(id)}`))[0]),
    rows: () => commits(''),
    release: async () => (await releases())[0] ?? {},
    head: async () => (await releases()).find(({ current }) => current === true) ?? {},
    listed: async () => rowsOf(await here.get('/svc/harness/releases', named(name)), 'releases'),
    reached: (id, state) =>
      found(async () => {
        const view = await progress(id)
        return view['state'] === state ? view : undefined
      }),
    processor: async () => memberOf(await status(), 'processor'),
  }
}

/** A new scenario in that mode. */
export async function fresh(here: World, mode?: TrainingMode, more: JsonObject = {}): Promise<Trainee> {
  const scenario = trainee(here, randomUUID())
  await here.post('/svc/scenarios', { name: scenario.name, ...more })
  if (mode !== undefined) await scenario.useMode(mode)
  return scenario
}

export interface Gate {
  readonly path: string
  /** A step waits for it. */
  reached(): Promise<void>
  open(): Promise<void>
}

/** A step that waits for this gate continues when the test opens it. */
export function gateIn({ directory }: World): Gate {
  return gateAt(join(directory, randomUUID()))
}

export function gateAt(path: string): Gate {
  return { path, reached: () => until(() => existsSync(`${path}.reached`)), open: () => writeFile(path, '') }
}

/** The object under that name, or an empty one. */
export function memberOf(object: unknown, name: string): JsonObject {
  const member: JsonObject = Object(Object(object)[name])
  return member
}

/** Polls until there is a value. */
async function found(look: () => Promise<JsonObject | undefined>): Promise<JsonObject> {
  let seen: JsonObject | undefined
  await until(async () => {
    seen = await look()
    return seen !== undefined
  })
  return seen ?? {}
}
