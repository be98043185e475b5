/** Writes a data directory with a long history, through the plug-ins themselves. */

import gitContents from '../plugins/contents/git/index.ts'
import sqlite from '../plugins/stores/sqlite/index.ts'
import { BODY_BYTES_MAX, type Commit, type ContentStore, type NewRecord, type Release, type ScenarioStore } from '../src/contract/index.ts'
import { History as RowHistory } from '../src/scenarios/history.ts'
import { withTotals } from '../src/scenarios/read-history.ts'
import { newId } from '../src/kit/index.ts'
import { artifactsIn, recordsIn, type Site } from './contestant.ts'
import { FORMAT } from './formats.ts'
import recipe, { withLines } from './recipe.ts'
import { RECIPE } from './training.ts'

export interface History {
  readonly scenarios: number
  /** Per scenario: exchanges and reports in turn, so a multiple of twice the batch. */
  readonly records: number
}

/** Reports per step, each with the exchange it quotes. */
export const BATCH = 10
/** One in this many steps publishes. */
const PUBLISHED_EVERY = 25
/** One in this many scenarios has an unprocessed last batch. */
const BACKLOG_EVERY = 10
const RECORDS_PER_APPEND = 1000
const CAPACITY_BYTES = 256 * BODY_BYTES_MAX
const RECORDED_AT = 1_700_000_000

export const nameOf = (index: number): string => `scenario-${String(index).padStart(6, '0')}`
export const namesIn = ({ scenarios }: History): readonly string[] => Array.from({ length: scenarios }, (_, index) => nameOf(index))
export const isBehind = (_name: string, index: number): boolean => index % BACKLOG_EVERY === 0

/** Returns a receipt of the last scenario, for a report to quote. */
export async function buildHistory(site: Site, history: History, progress: (records: number) => void): Promise<string> {
  const store = await sqlite.plugin.make({ directory: recordsIn(site), capacity_bytes: CAPACITY_BYTES })
  const contents = await gitContents.plugin.make({ repository: artifactsIn(site) })
  const seed = await publish(contents, recipe.plugin.seed ?? {}, null, 0)
  const heads: Release[] = []
  let receipt = ''
  for (const [index, name] of namesIn(history).entries()) {
    const writer = new HistoryWriter(store.scenario(name), contents, seed, isBehind(name, index))
    await writer.create()
    for (let written = 0; written < history.records; written += RECORDS_PER_APPEND) {
      const count = Math.min(RECORDS_PER_APPEND, history.records - written)
      receipt = await writer.write(count, written + count === history.records)
      progress(index * history.records + written)
    }
    heads.push(writer.head)
  }
  await Promise.all(heads.map((head, index) => contents.point(nameOf(index), head)))
  await contents.close()
  await store.close()
  return receipt
}

/** How many reports of the backlog no step has consumed. */
export async function countBacklog(site: Site, history: History): Promise<number> {
  const store = await sqlite.plugin.make({ directory: recordsIn(site), capacity_bytes: CAPACITY_BYTES })
  let left = 0
  for (const name of namesIn(history).filter(isBehind)) {
    left += (await store.scenario(name).pending({ component: '', types: ['report'], after: 0, limit: BATCH })).length
  }
  await store.close()
  return left
}

async function publish(contents: ContentStore, files: Readonly<Record<string, string>>, parent: Release | null, step: number) {
  const content = await contents.write({ kind: 'files', files })
  return contents.seal(content, parent, { step, operation: step === 0 ? 'create' : 'train', at: RECORDED_AT })
}

class HistoryWriter {
  readonly #store: ScenarioStore
  readonly #contents: ContentStore
  readonly #isBehind: boolean
  readonly #seed: Release
  /** Rows carry their totals, as those of a service do. */
  readonly #history = new RowHistory(undefined)
  #head: Release
  #step = 0
  #sequence = 0

  constructor(store: ScenarioStore, contents: ContentStore, seed: Release, behind: boolean) {
    this.#store = store
    this.#contents = contents
    this.#seed = seed
    this.#head = seed
    this.#isBehind = behind
  }

  get head(): Release {
    return this.#head
  }

  async create(): Promise<void> {
    const state = { recipe: RECIPE, folder: newId() }
    await this.#store.commit(await this.#followed({ ...ROW, step: 0, operation: 'create', release: this.#seed, state }))
  }

  /** Records first, then the steps that consumed them, all concurrently: the writer keeps the order and groups the syncs. */
  async write(count: number, isLast: boolean): Promise<string> {
    const units = Array.from({ length: count / 2 }, unitOf)
    const batches = Array.from({ length: units.length / BATCH }, (_, index) => units.slice(index * BATCH, (index + 1) * BATCH))
    const stepped = isLast && this.#isBehind ? batches.slice(0, -1) : batches
    const writing: Promise<unknown>[] = [this.#store.append(units.flat())]
    for (const batch of stepped) writing.push(this.#store.commit(await this.#rowOf(batch.flat().map((record) => record.agent_record_id))))
    this.#sequence += (batches.length - stepped.length) * BATCH * 2
    await Promise.all(writing)
    return units[0]?.[0].agent_record_id ?? ''
  }

  async #rowOf(consumed: readonly string[]): Promise<Commit> {
    this.#step += 1
    this.#sequence += consumed.length
    const state = { settled_through: this.#sequence, set_aside: {}, trainer: {} }
    const row = { ...ROW, step: this.#step, consumed_ids: consumed, metrics: { samples: BATCH, score: 0.5 }, state }
    if (this.#step % PUBLISHED_EVERY !== 0) return this.#followed({ ...row, release: null, outcome: 'rejected' })
    this.#head = await publish(this.#contents, withLines({}, [`${consumed.join(' ')}\n`]), this.#head, this.#step)
    return this.#followed({ ...row, release: this.#head })
  }

  async #followed(row: Commit): Promise<Commit> {
    const whole = await withTotals(this.#store, this.#history, row)
    this.#history.follow(whole)
    return whole
  }
}

const ROW = { operation: 'train', recorded_at: RECORDED_AT, pending: false, outcome: 'published', consumed_ids: [], metrics: {} } as const

const REQUEST = FORMAT.chat.request({ bytes: 200, turns: 1, tools: 0 })
const EXCHANGE = Buffer.from(`${REQUEST.slice(0, -1)},"response":${FORMAT.chat.answer(800)}}`)

/** An exchange and the report about it. */
function unitOf(): readonly [NewRecord, NewRecord] {
  const exchange = newId()
  const about = { created_at: RECORDED_AT, score: 1, references: [exchange], artifact_ref: null }
  const report = Buffer.from(JSON.stringify({ score: 1, feedback: 'as it should be', references: [exchange] }))
  return [
    { agent_record_id: exchange, request_type: 'inference', ...about, score: null, references: [], payload: EXCHANGE },
    { agent_record_id: newId(), request_type: 'report', ...about, payload: report },
  ]
}
