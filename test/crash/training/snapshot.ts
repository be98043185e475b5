/** Reads back what training made, over the service's own routes and from the repository itself. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { REF, type JsonObject, type TrainingMode } from '../../../src/contract/index.ts'
import { LEDGER } from '../../fixtures/training/play.ts'
import type { Place } from '../child.ts'
import { get, listIn, memberIn, requestTypeIn, textIn, textsIn } from '../http.ts'
import { readRecords, readSteps, stepRowOf, type ReadStep } from '../steps.ts'
import { ledgerKey, type Row, type Seen, type SeenRecord, type Snapshot } from './book.ts'
import { partOf } from './cast.ts'

/** Records never change and are judged by the records oracle, and a release is what it is for good: both are read once and remembered. */
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
    const steps = await readSteps(address, base)
    // A scenario of the same name that was made later has records of its own.
    const life = `${name} made at ${Number(steps[0]?.release['recorded_at'])}`
    return {
      name,
      mode: modeIn(listed),
      head: textIn(listed, 'release_id'),
      current: steps.filter(({ release }) => release['current'] === true).map(({ release }) => Number(release['step'])),
      statusStep: Number(memberIn(memberIn(status, 'scenarios'), name)['scenario_step']),
      rows: steps.map(rowOf),
      records: await this.#readRecords(address, base, life),
    }
  }

  async #readRecords(address: string, base: string, life: string): Promise<readonly SeenRecord[]> {
    const known = this.#records.get(life) ?? []
    known.push(...(await readRecords(address, base, known.length)).map(recordOf))
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

const rowOf = (step: ReadStep): Row => ({
  ...stepRowOf(step),
  parent: textIn(step.release, 'parent_release_id') || null,
  component: textIn(step.release, 'component'),
  target: textIn(step.release, 'rollback_target_release_id') || null,
})

const recordOf = (row: JsonObject): SeenRecord => ({
  id: textIn(row, 'agent_record_id'),
  type: requestTypeIn(row),
  references: textsIn(row, 'references'),
})

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
  // A git that reads nothing, or found no repository, may have ended before its input is written.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return text(child.stdout)
}
