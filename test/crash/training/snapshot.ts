/** Reads back what training made, over the service's own routes and from the repository itself. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { REF, type JsonObject, type RequestType, type TrainingMode } from '../../../src/contract/index.ts'
import { LEDGER } from '../../fixtures/training/play.ts'
import type { Place } from '../child.ts'
import { get, listIn, pages, textIn, textsIn } from '../http.ts'
import { partOf } from './cast.ts'
import { ledgerKey, type Row, type Seen, type SeenRecord, type Snapshot } from './seen.ts'

const PAGE_ROWS = 100

/** Records never change and are the other ordeal's business, and a release is what it is for good: both are read once and remembered. */
export class Reader {
  readonly #place: Place
  readonly #records = new Map<string, SeenRecord[]>()
  #ledgers = new Map<string, readonly string[]>()

  constructor(place: Place) {
    this.#place = place
  }

  /** The ledgers of all releases are read from the disk again. */
  forgetLedgers(): void {
    this.#ledgers = new Map()
  }

  async snapshot(address: string): Promise<Snapshot> {
    const [listed, status] = [await get(address, '/svc/scenarios'), await get(address, '/svc/status')]
    const stories = []
    for (const row of listIn(listed, 'scenarios')) stories.push(await this.#story(address, row, status))
    const refs = await refsIn(this.#place)
    const scenarios = stories.map((story) => ({ ...story, pointer: refs.get(pointerOf(story.name)) ?? null }))
    await this.#readLedgers(scenarios)
    const held = [...refs].filter(([ref]) => ref.startsWith(REF.held)).map(([, release]) => release)
    return { scenarios, held: new Set(held), ledgers: this.#ledgers }
  }

  /** Rows before records: whatever a row consumed is in a list that was read after it. */
  async #story(address: string, listed: JsonObject, status: JsonObject): Promise<Omit<Seen, 'pointer'>> {
    const name = textIn(listed, 'scenario')
    const base = `/svc/scenarios/${encodeURIComponent(name)}`
    const commits = await pages(address, `${base}/commits?limit=${PAGE_ROWS}&after_step=`, 'commits', 'next_after_step', 0)
    const releases = listIn(await get(address, `${base}/releases`), 'releases').toReversed()
    // A scenario of the same name that was made later has records of its own.
    const life = `${name} made at ${Number(releases[0]?.['recorded_at'])}`
    return {
      name,
      mode: modeIn(listed),
      head: textIn(listed, 'release_id'),
      current: releases.filter(({ current }) => current === true).map(({ step }) => Number(step)),
      statusStep: Number(memberOf(memberOf(status, 'scenarios'), name)['scenario_step']),
      // The catalog was read later: what landed in between is left for the next reading.
      rows: releases.slice(0, commits.length + 1).map((release, step) => rowOf(release, commits[step - 1])),
      records: await this.#readRecords(address, base, life),
    }
  }

  async #readRecords(address: string, base: string, life: string): Promise<readonly SeenRecord[]> {
    const known = this.#records.get(life) ?? []
    const path = `${base}/records?limit=${PAGE_ROWS}&after_sequence=`
    known.push(...(await pages(address, path, 'records', 'next_after_sequence', known.length)).map(recordOf))
    this.#records.set(life, known)
    return known
  }

  async #readLedgers(scenarios: readonly Seen[]): Promise<void> {
    const wanted = scenarios.flatMap(({ name, rows }) =>
      rows.flatMap(({ release }) => (release === null ? [] : partOf(name).components.map((component) => ({ release, component })))),
    )
    const missing = wanted.filter(({ release, component }) => !this.#ledgers.has(ledgerKey(release, component)))
    if (missing.length === 0) return
    const texts = await readFiles(this.#place, missing.map(ledgerObject))
    for (const [at, { release, component }] of missing.entries()) {
      const found = texts[at]
      if (typeof found === 'string') this.#ledgers.set(ledgerKey(release, component), found.split('\n').slice(0, -1))
    }
  }
}

function modeIn(listed: JsonObject): TrainingMode | null {
  const mode = textIn(listed, 'training_mode')
  return mode === 'auto' || mode === 'manual' || mode === 'hybrid' ? mode : null
}

function memberOf(object: JsonObject, name: string): JsonObject {
  const member: JsonObject = Object(object[name])
  return member
}

/** The creation has no row among the commits. What is current changes with every publish; nothing else may. */
function rowOf({ current: _current, ...release }: JsonObject, commit: JsonObject | undefined): Row {
  const own = commit === undefined ? textIn(release, 'release_id') : commit['artifact_ref']
  return {
    step: Number(release['step']),
    operation: textIn(release, 'operation'),
    result: textIn(release, 'result'),
    release: typeof own === 'string' ? own : null,
    parent: textIn(release, 'parent_release_id') || null,
    component: textIn(release, 'component'),
    target: textIn(release, 'rollback_target_release_id') || null,
    consumed: commit === undefined ? [] : textsIn(commit, 'consumed_ids'),
    printed: JSON.stringify([commit ?? null, release]),
  }
}

function recordOf(row: JsonObject): SeenRecord {
  const type: RequestType =
    textIn(row, 'request_type') === 'train' ? 'train' : textIn(row, 'request_type') === 'report' ? 'report' : 'inference'
  return { id: textIn(row, 'agent_record_id'), type, references: textsIn(row, 'references') }
}

const pointerOf = (name: string): string => REF.scenarios + Buffer.from(name).toString('base64url')

async function refsIn(place: Place): Promise<ReadonlyMap<string, string>> {
  const printed = await git(place, ['for-each-ref', '--format=%(refname) %(objectname)', REF.all])
  const lines = printed.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', line.split(' ')[1] ?? '']))
}

function ledgerObject({ release, component }: { readonly release: string; readonly component: string }): string {
  return `${release}:${component === '' ? '' : `${component}/`}${LEDGER}`
}

/** The text of each object in one git process, null for one that is not there. */
async function readFiles(place: Place, objects: readonly string[]): Promise<readonly (string | null)[]> {
  const printed = await git(place, ['cat-file', '--batch'], objects.map((object) => `${object}\n`).join(''))
  let at = 0
  return objects.map(() => {
    const end = printed.indexOf('\n', at)
    const [, type, size] = printed.slice(at, end).split(' ')
    at = end + 1
    if (type !== 'blob') return null
    const body = printed.slice(at, at + Number(size))
    at += Number(size) + 1
    return body
  })
}

/** Everything these ledgers hold is plain ASCII, so that bytes and characters are the same. */
async function git({ repository }: Place, args: readonly string[], input = ''): Promise<string> {
  const child = spawn('git', [`--git-dir=${repository}`, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  // A git that reads nothing, or found no repository, may be gone before it is told.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return text(child.stdout)
}
