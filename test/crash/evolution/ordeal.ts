/** One service that evolves, killed and started again on the same data: each round is a start, a look at everything, traffic, a kill, and a look at what it left. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild, type Child } from '../child.ts'
import { randomOf, type Random } from '../random.ts'
import { Book } from './book.ts'
import { judgeCaches, tearCaches } from './caches.ts'
import { castSettings, NAMES } from './cast.ts'
import { namesIn, readInboxes } from './inbox.ts'
import { drawKill, Trigger, type Kill } from './kills.ts'
import { judge, judgeEnd, judgeInbox, judgeWork } from './oracle.ts'
import { sandboxed } from './processes.ts'
import type { Scene } from './scene.ts'
import { violation, type Seen, type Violation } from './seen.ts'
import { Reader } from './snapshot.ts'
import { Client } from './traffic.ts'

/** A moment that does not come is not waited for longer than this. */
const ROUND_MS_MAX = 8000
const LOOK_AGAIN_MS = 100
/** What has not come to rest by then is stuck: a step takes seconds, and few are left over by a crash. */
const PATIENCE_LOOKS = 1800
/** A sandbox dies with the service; on a busy machine it takes the kernel a moment. */
const DYING_LOOKS = 50
const TORN_SHARE = 0.5

export interface Outcome {
  readonly kills: number
  readonly acknowledged: number
  readonly admitted: number
  readonly rows: number
  readonly published: number
  /** How many kills ended episodes that were being played. */
  readonly midEpisode: number
}

export class Ordeal {
  readonly #scene: Scene
  readonly #random: Random
  readonly #book = new Book()
  readonly #reader = new Reader()
  readonly violations: Violation[] = []
  #leftovers: readonly string[] = []
  #torn = 0
  #kills = 0
  #midEpisode = 0

  constructor(scene: Scene, seed: string) {
    this.#scene = scene
    this.#random = randomOf(seed)
  }

  outcome(): Outcome {
    const rows = NAMES.flatMap((name) => this.#book.lives[name].rows)
    const published = rows.filter(({ step, release }) => step > 0 && release !== null).length
    const { acknowledged, admitted } = this.#book
    return { kills: this.#kills, acknowledged, admitted, rows: rows.length, published, midEpisode: this.#midEpisode }
  }

  /** Answers a line about how it went. */
  async round(round: number, rounds: number): Promise<string> {
    const random = this.#random.branch(`round-${round}`)
    const kill = drawKill(random)
    const trigger = new Trigger(kill, this.#scene)
    const child = this.#start()
    const life = this.#live(child, trigger, random).catch((error: unknown) => {
      if (!trigger.isOver) this.violations.push(violation('answer', String(error)))
      trigger.now()
    })
    try {
      const death = await Promise.race([trigger.moment, child.ended])
      if (death !== undefined) this.#book.surprises.push(`the service ended by itself, with ${death}`)
    } finally {
      trigger.now()
      child.kill(kill.who)
      await child.ended
      await life
    }
    this.#kills += 1
    await this.#examine(random)
    const { rows, published } = this.outcome()
    return `${round}/${rounds} killed ${describe(kill)}: ${rows} rows, ${published} published, ${this.violations.length} broken`
  }

  /** The last start: everything is settled and read again, and the service stops when asked to. */
  async finish(): Promise<void> {
    const child = this.#start()
    try {
      await this.#conclude(await this.#ready(child))
    } finally {
      child.stop()
    }
    const code = await child.ended
    if (code !== 0) this.violations.push(violation('answer', `the service ended with ${code} when asked to stop`))
    if (this.violations.length > 0) return
    this.violations.push(...judgeCaches(this.#scene, this.#torn))
    this.#leftovers = namesIn(this.#scene.temporary)
    this.violations.push(...this.#leftovers.map((name) => violation('folder', `${name} is left after a stop`)))
  }

  async #conclude(address: string): Promise<void> {
    const client = this.#client(address, 'last', () => false, this.#random)
    await client.resume()
    await this.#settle(address)
    if (this.violations.length > 0) return
    // What the latest step of each has claimed is put away by the next one.
    for (const name of NAMES) await client.instruct(name)
    await this.#settle(address)
    if (this.violations.length > 0) return
    this.#reader.forgetTrees()
    this.violations.push(...judgeEnd(this.#book, await this.#look(address), readInboxes(this.#scene.proposals)))
  }

  #start(): Child {
    return startChild(this.#scene, { settings: castSettings(this.#scene), environment: { TMPDIR: this.#scene.temporary } })
  }

  async #live(child: Child, trigger: Trigger, random: Random): Promise<void> {
    const address = await this.#ready(child)
    if (this.violations.length > 0) return trigger.now()
    const isOver = (): boolean => trigger.isOver
    const role = { onAcknowledged: () => trigger.happened('acknowledged'), onSurprise: () => trigger.now() }
    const client = this.#client(address, '0', isOver, random.branch('0'), role)
    await client.resume()
    if (isOver()) return
    await this.#look(address)
    if (this.violations.length > 0) return trigger.now()
    const timer = setTimeout(() => trigger.now(), ROUND_MS_MAX)
    await client.work()
    clearTimeout(timer)
  }

  /** By then nothing is left of what the last kill cut off. */
  async #ready(child: Child): Promise<string> {
    const address = await child.address
    if (address === null) throw new Error('the service did not start again; its log is beside its data')
    const still = namesIn(this.#scene.temporary).filter((name) => this.#leftovers.includes(name))
    this.violations.push(...still.map((name) => violation('folder', `${name} was left by a kill and is there after the next start`)))
    return address
  }

  #client(
    address: string,
    label: string,
    isOver: () => boolean,
    random: Random,
    told = { onAcknowledged: (): void => undefined, onSurprise: (): void => undefined },
  ): Client {
    return new Client(address, this.#book, { label: `${this.#kills}-${label}`, random, isOver, ...told })
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

  async #settle(address: string): Promise<void> {
    let left: readonly Violation[] = []
    for (let look = 0; look < PATIENCE_LOOKS; look += 1) {
      left = (await this.#look(address)).flatMap((seen) => judgeWork(this.#book, seen))
      if (left.length === 0 || this.violations.length > 0) return
      await sleep(LOOK_AGAIN_MS)
    }
    this.violations.push(...left)
  }

  /** What a kill leaves: no process, folders for the next start to remove, every proposal, and perhaps half a line in a cache. */
  async #examine(random: Random): Promise<void> {
    let alive = sandboxed(this.#scene)
    for (let look = 0; look < DYING_LOOKS && alive.length > 0; look += 1) {
      await sleep(LOOK_AGAIN_MS)
      alive = sandboxed(this.#scene)
    }
    this.violations.push(...alive.map((pid) => violation('process', `${pid} of an episode outlives the service`)))
    this.#leftovers = namesIn(this.#scene.temporary)
    this.#midEpisode += this.#leftovers.some((name) => name.startsWith('svc-episode-')) ? 1 : 0
    this.violations.push(...judgeInbox(this.#book, readInboxes(this.#scene.proposals)))
    if (random.fraction() < TORN_SHARE) this.#torn += tearCaches(this.#scene, random)
  }
}

function describe({ who, when, count, afterMs }: Kill): string {
  if (when === 'starting') return `(${who}) ${afterMs} ms into its start`
  return `(${who}) ${afterMs} ms after the ${count}. ${when}`
}
