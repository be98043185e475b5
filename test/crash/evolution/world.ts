/** A service that evolves harnesses: each proposal is settled once, and a kill leaves no process, folder or torn file that matters. */
import { watch, readFileSync, truncateSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { startChild, type Child } from '../child.ts'
import { violation, type Violation } from '../oracle.ts'
import { ordealOracle, waitForRest, type Kill, type Life, type Trigger, type World } from '../ordeal.ts'
import type { Random } from '../random.ts'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { castSettings, NAMES, sceneIn, type Scene } from './cast.ts'
import { judge, judgeEnd, judgeInbox, judgeWork } from './oracle.ts'
import { sandboxed } from './processes.ts'
import { Book, type Seen, PLACES, type Lying } from './seen.ts'
import { Reader } from './snapshot.ts'
import { Client } from './traffic.ts'

const LINE =
  /^\["[0-9a-f]{64}",[\d.]+,(?:null|"[^"]*"),\d+,\d+,\d+,(?:null|"[^"]*")(?:,(?:null|[\d.]+),(?:null|[\d.e-]+)(?:,(?:null|"[^"]*")){0,2})?\]$/
const END = /\]$/

/** A moment that does not come is not waited for longer than this. */
const ROUND_MS_MAX = 8000
const LOOK_AGAIN_MS = 100
/** What is not at rest by then is stuck: a step takes seconds, and few are left over by a crash. */
const PATIENCE = { looks: 720, everyMs: 500 }
/** A sandbox dies with the service; on a busy machine it takes the kernel a moment. */
const DYING_LOOKS = 50
const TORN_SHARE = 0.5
const STARTING_MS_MAX = 2500
const EPISODE_MS_MAX = 500
const LATE_MS_MAX = 60

export const oracle = ordealOracle({ kills: 60, shortKills: 3 }, (directory) => new EvolutionWorld(sceneIn(directory)))

class EvolutionWorld implements World {
  readonly place: Scene
  /** On a sound machine nothing but the kills goes wrong, and no step fails to land. */
  readonly never = ['failure', 'background_error']
  readonly rules = { store: 'lost', releases: 'tree' }
  readonly violations: Violation[] = []
  readonly #book = new Book()
  readonly #reader = new Reader()
  #leftovers: readonly string[] = []
  #torn = 0
  /** How many kills ended episodes that were being played. */
  #midEpisode = 0

  constructor(place: Scene) {
    this.place = place
  }

  /**
   * - episode: the folder of an episode came or went.
   * - claimed: a proposal was taken from the inbox, or left its step.
   * - settling: a step has reported everything, and its row is about to be written.
   */
  drawKill(random: Random): Omit<Kill, 'who'> {
    const chance = random.fraction()
    const afterMs = random.fraction() < 0.5 ? 0 : random.between(1, LATE_MS_MAX)
    if (chance < 0.15) return { when: 'starting', count: 0, afterMs: random.between(0, STARTING_MS_MAX) }
    if (chance < 0.3) return { when: 'acknowledged', count: random.between(1, 12), afterMs }
    if (chance < 0.6) return { when: 'episode', count: random.between(1, 40), afterMs: random.between(0, EPISODE_MS_MAX) }
    if (chance < 0.75) return { when: 'claimed', count: random.between(1, 6), afterMs }
    return { when: 'settling', count: random.between(1, 4), afterMs }
  }

  watch(trigger: Trigger): () => void {
    const watching = (folder: string, event: string, isIt: (name: string) => boolean) =>
      watch(folder, { recursive: event !== 'episode' }, (_event, name) => {
        if (name !== null && isIt(name)) trigger.happened(event)
        // A folder that went while it was looked at shows nothing any more.
      }).on('error', () => undefined)
    const watchers = [
      watching(this.place.temporary, 'episode', (name) => name.startsWith('svc-episode-')),
      watching(this.place.proposals, 'claimed', (name) => name.includes('/claimed/')),
      watching(this.place.steps, 'settling', (name) => name.endsWith('/proposer.json')),
    ]
    return () => watchers.forEach((watcher) => watcher.close())
  }

  start(): Child {
    return startChild(this.place, { settings: castSettings(this.place), environment: { TMPDIR: this.place.temporary } })
  }

  async live(address: string, { round, random, trigger }: Life): Promise<void> {
    this.#checkLeftovers()
    if (this.violations.length > 0) return
    const client = new Client(address, this.#book, { label: `${round}-0`, random: random.branch('0'), trigger })
    await client.resume()
    if (trigger.isOver) return
    await this.#look(address)
    if (this.violations.length > 0) return
    const timer = setTimeout(() => trigger.now(), ROUND_MS_MAX)
    await client.work()
    clearTimeout(timer)
  }

  /** What a kill leaves: no process, folders for the next start to remove, every proposal, and perhaps half a line in a cache. */
  async afterKill(random: Random): Promise<void> {
    let alive = sandboxed(this.place)
    for (let look = 0; look < DYING_LOOKS && alive.length > 0; look += 1) {
      await sleep(LOOK_AGAIN_MS)
      alive = sandboxed(this.place)
    }
    this.violations.push(...alive.map((pid) => violation('process', `${pid} of an episode outlives the service`)))
    this.#leftovers = namesIn(this.place.temporary)
    this.#midEpisode += this.#leftovers.some((name) => name.startsWith('svc-episode-')) ? 1 : 0
    this.violations.push(...judgeInbox(this.#book, readInboxes(this.place.proposals)))
    if (random.fraction() < TORN_SHARE) this.#torn += tearCaches(this.place, random)
  }

  async conclude(address: string, { random, trigger }: Life): Promise<void> {
    this.#checkLeftovers()
    const client = new Client(address, this.#book, { label: 'last', random, trigger })
    await client.resume()
    await this.#settle(address)
    if (this.violations.length > 0) return
    // What the latest step of each has claimed is put away by the next one.
    for (const name of NAMES) await client.instruct(name)
    await this.#settle(address)
    if (this.violations.length > 0) return
    this.#reader.forgetTrees()
    this.violations.push(...judgeEnd(this.#book, await this.#look(address), readInboxes(this.place.proposals)))
  }

  afterStop(): void {
    const left = namesIn(this.place.temporary).map((name) => violation('folder', `${name} is left after a stop`))
    this.violations.push(...judgeCaches(this.place, this.#torn), ...left)
  }

  progress(): string {
    const { rows, published } = this.outcome()
    return `${rows} rows, ${published} published`
  }

  outcome() {
    const rows = NAMES.flatMap((name) => this.#book.lives[name].rows)
    const published = rows.filter(({ step, release }) => step > 0 && release !== null).length
    const { acknowledged, admitted } = this.#book
    return { acknowledged, admitted, rows: rows.length, published, midEpisode: this.#midEpisode }
  }

  summary(kills: number): string {
    const { midEpisode, acknowledged, admitted, rows, published } = this.outcome()
    const endured = `${kills} kills (${midEpisode} while episodes ran), ${acknowledged} acknowledged`
    return `${endured}, ${admitted} proposals admitted, ${rows} rows, ${published} published`
  }

  /** After a start nothing is left of what the last kill cut off. */
  #checkLeftovers(): void {
    const still = namesIn(this.place.temporary).filter((name) => this.#leftovers.includes(name))
    this.violations.push(...still.map((name) => violation('folder', `${name} was left by a kill and is there after the next start`)))
  }

  /** What was read once may never be read otherwise. */
  async #look(address: string): Promise<readonly Seen[]> {
    const all = await this.#reader.read(address)
    for (const seen of all) {
      this.violations.push(...judge(this.#book, seen))
      this.#book.lives[seen.name].rows = seen.rows
    }
    return all
  }

  #settle(address: string): Promise<void> {
    return waitForRest(this, PATIENCE, async () => (await this.#look(address)).flatMap((seen) => judgeWork(this.#book, seen)))
  }
}

/**
 * The files in which scenarios keep scores they know: torn as a power cut would, and looked through at the end. Takes the end of the last
 * line away from each. Answers how many lines that cost.
 */
function tearCaches(scene: Scene, random: Random): number {
  const whole = cachesOf(scene).filter(({ text }) => text.endsWith('\n'))
  for (const { path, text } of whole) {
    const lineBytes = text.length - (text.lastIndexOf('\n', text.length - 2) + 1)
    truncateSync(path, text.length - random.between(2, lineBytes - 1))
  }
  return whole.length
}

/** A torn line costs itself alone: none goes on with what was written later. */
function judgeCaches(scene: Scene, torn: number): readonly Violation[] {
  const lines = cachesOf(scene).flatMap(({ text }) => text.split('\n').filter((line) => line !== ''))
  const broken = lines.filter((line) => !LINE.test(line))
  const mixed = broken.filter((line) => END.test(line))
  return [
    ...mixed.map((line) => violation('cache', `a line was written on to a torn one: ${line}`)),
    ...(broken.length > torn ? [violation('cache', `${broken.length} lines cannot be read, and ${torn} were torn`)] : []),
  ]
}

/** Plain ASCII, so that bytes and characters are the same. */
function cachesOf({ records }: Scene): readonly { readonly path: string; readonly text: string }[] {
  const folder = join(records, 'scenarios')
  const paths = namesIn(folder).flatMap((name) =>
    namesIn(join(folder, name)).includes('episodes.jsonl') ? [join(folder, name, 'episodes.jsonl')] : [],
  )
  return paths.map((path) => ({ path, text: readFileSync(path, 'latin1') }))
}

/** Reads the inboxes of all scenarios from the disk, whether a service runs or not. No two proposals have the same id. */
const readInboxes = (folder: string): readonly Lying[] => namesIn(folder).flatMap((name) => readInbox(join(folder, name)))

function readInbox(folder: string): readonly Lying[] {
  return PLACES.flatMap((place) => {
    const at = place === 'pending' ? folder : join(folder, place)
    const files = namesIn(at).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    return files.map((name) => ({ id: name.slice(0, -'.json'.length), place, file: objectAt(join(at, name)) }))
  })
}

/** A folder appears with its first file. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function objectAt(path: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
