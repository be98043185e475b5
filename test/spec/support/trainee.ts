/** A training scenario from the client's side: sends records and waits for rows. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject, TrainingMode } from '../../../src/contract/index.ts'
import { until } from '../../support/wait.ts'
import type { Answer, World } from '../../support/world.ts'
import { named, rowsOf, textAt } from './helpers.ts'

export type Trainee = ReturnType<typeof trainee>

export function trainee(here: World, name: string) {
  const path = `/svc/scenarios/${encodeURIComponent(name)}`
  const commits = async (query: string): Promise<readonly JsonObject[]> =>
    rowsOf(await here.get(`${path}/commits?limit=100${query}`), 'commits')
  /** The catalog, newest first. */
  const releases = async (): Promise<readonly JsonObject[]> => rowsOf(await here.get(`${path}/releases`), 'releases')
  const report = (body: JsonObject): Promise<Answer> => here.post('/svc/report', body, named(name))
  const progress = async (id: string): Promise<JsonObject> =>
    (await here.get(`/svc/harness/requests/${encodeURIComponent(id)}/progress`, named(name))).json
  /** Its part of the status. */
  const status = async (): Promise<JsonObject> => memberOf((await here.get('/svc/status')).json['scenarios'], name)
  /** Sends an instruction; returns its id. */
  const ask = async (text: string, more: JsonObject = {}): Promise<string> =>
    textAt((await here.post('/svc/train', { text, session: 's', release_id: 'r', ...more }, named(name))).json, 'agent_record_id')
  /** The row that consumed that record, once it has landed. */
  const consumer = (id: string): Promise<JsonObject> => found(async () => (await commits(`&record_id=${encodeURIComponent(id)}`))[0])
  return {
    name,
    report,
    releases,
    progress,
    status,
    ask,
    consumer,
    /** Its background errors in the status. */
    async errors(): Promise<readonly string[]> {
      const { error } = (await here.get('/svc/status')).json
      return typeof error === 'string' ? error.split('\n').filter((line) => line.startsWith(name)) : []
    },
    /** Sends an exchange and a report about it; returns both ids. */
    async reported(body: JsonObject = {}): Promise<readonly [receipt: string, report: string]> {
      const receipt = await here.exchange(name)
      return [receipt, textAt((await report({ references: [receipt], ...body })).json, 'agent_record_id')]
    },
    /** Sends an instruction and waits for the row that consumes it; returns its id. */
    async asked(text: string, more: JsonObject = {}): Promise<string> {
      const id = await ask(text, more)
      await consumer(id)
      return id
    },
    /** Sends an instruction whose step is then under way, and waits until its gate is opened. */
    async paused(rest = ''): Promise<{ readonly id: string; readonly open: () => Promise<void>; readonly gate: string }> {
      const gate = gateIn(here)
      const id = await ask(`wait ${gate.path}${rest}`)
      await gate.reached()
      return { id, open: gate.open, gate: gate.path }
    },
    useMode: (training_mode: TrainingMode) => here.post(`${path}/update`, { training_mode }),
    move: (operation: 'promote' | 'rollback' | 'withdraw' | 'reject' | 'comment', release_id: string, words: JsonObject = {}) =>
      here.post(`${path}/${operation}`, { release_id, ...words }),
    remove: () => here.ask('DELETE', path),
    /** The row of that step, once it has landed. */
    row: (step: number) => found(async () => (await commits('')).find((row) => row['step'] === step)),
    rows: () => commits(''),
    /** The newest of the catalog. */
    release: async () => (await releases())[0] ?? {},
    /** What is served now. */
    head: async () => (await releases()).find(({ current }) => current === true) ?? {},
    /** The catalog of the files it serves, oldest first. */
    listed: async () => rowsOf(await here.get('/svc/harness/releases', named(name)), 'releases'),
    /** Waits until a step has the instruction in this state. */
    reached: (id: string, state: string) =>
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

/** A step that waits for this gate continues when the test opens it. */
export const gateIn = ({ directory }: World) => gateAt(join(directory, randomUUID()))

export const gateAt = (path: string) => ({
  path,
  /** A step waits for it. */
  reached: () => until(() => existsSync(`${path}.reached`)),
  open: () => writeFile(path, ''),
})

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
