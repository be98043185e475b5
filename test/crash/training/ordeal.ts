/** One service that learns, killed and started again on the same data: each round is a start, a rest at which everything is judged, traffic, and a kill. */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { settingsOf } from '../../support/settings.ts'
import { startChild, type Child, type Place } from '../child.ts'
import { randomOf, type Random } from '../random.ts'
import { Book } from './book.ts'
import { castSettings, NAMES } from './cast.ts'
import { drawKill, Trigger, type Kill } from './kills.ts'
import { judge, judgeRest } from './oracle.ts'
import type { Snapshot, Violation } from './seen.ts'
import { Reader } from './snapshot.ts'
import { Client } from './traffic.ts'

const CLIENTS = 4
const ENTRY = fileURLToPath(new URL('../../fixtures/dying-service.ts', import.meta.url))
/** Nobody asks the model anything. */
const NOBODY = 'http://127.0.0.1:1'
const LOOK_AGAIN_MS = 50
/** What has not come to rest by then is stuck: a step takes some tens of milliseconds, and few are left over by a crash. */
const PATIENCE_LOOKS = 1200

export interface Outcome {
  readonly kills: number
  readonly acknowledged: number
  readonly removed: number
  /** Rows at the last reading. */
  readonly rows: number
  /** How many kills came before everything was at rest. */
  readonly early: number
}

export class Ordeal {
  readonly #place: Place
  readonly #random: Random
  readonly #book = new Book()
  readonly #reader: Reader
  readonly violations: Violation[] = []
  #kills = 0
  #rows = 0
  #early = 0

  constructor(place: Place, seed: string) {
    this.#place = place
    this.#random = randomOf(seed)
    this.#reader = new Reader(place)
  }

  outcome(): Outcome {
    const { acknowledged, removed } = this.#book
    return { kills: this.#kills, acknowledged, removed, rows: this.#rows, early: this.#early }
  }

  /** Answers a line about how it went. */
  async round(round: number, rounds: number): Promise<string> {
    const random = this.#random.branch(`round-${round}`)
    const kill = drawKill(random)
    const trigger = new Trigger(kill)
    const child = this.#start((line) => trigger.happened(line))
    const life = this.#live(child, trigger, random).catch((error: unknown) => {
      if (!trigger.isOver) this.violations.push({ rule: 'answer', detail: String(error) })
      trigger.now()
    })
    try {
      const death = await Promise.race([trigger.moment, child.ended])
      if (death !== undefined) this.#book.surprise(`the service ended by itself, with ${death}`)
    } finally {
      trigger.now()
      child.kill(kill.who)
      await child.ended
      await life
    }
    this.#kills += 1
    const { acknowledged } = this.#book
    return `${round}/${rounds} killed ${describe(kill)}: ${acknowledged} acknowledged, ${this.#rows} rows, ${this.violations.length} broken`
  }

  /** The last start: every scenario takes what it may, everything is read from the disk again, and the service stops when asked to. */
  async finish(): Promise<void> {
    const child = this.#start(() => undefined)
    try {
      const address = await ready(child)
      const client = this.#client(
        address,
        'last',
        new Trigger({ who: 'service', when: 'acknowledged', count: 1, afterMs: 0 }),
        this.#random,
      )
      await this.#rest(address, () => false)
      for (const name of NAMES) await client.resume(name)
      for (const name of NAMES) await client.useMode(name, 'hybrid')
      this.#reader.forgetLedgers()
      await this.#rest(address, () => false)
    } finally {
      child.stop()
    }
    const code = await child.ended
    if (code !== 0) this.violations.push({ rule: 'answer', detail: `the service ended with ${code} when asked to stop` })
  }

  #start(onSaid: (line: string) => void): Child {
    const settings = { ...settingsOf(this.#place, NOBODY), ...castSettings() }
    return startChild(this.#place, { settings, entry: ENTRY, onSaid })
  }

  async #live(child: Child, trigger: Trigger, random: Random): Promise<void> {
    this.#early += 1
    const address = await ready(child)
    await this.#rest(address, () => trigger.isOver)
    if (trigger.isOver) return
    this.#early -= 1
    if (this.violations.length > 0) return trigger.now()
    const clients = Array.from({ length: CLIENTS }, (_, index) => this.#client(address, `${index}`, trigger, random.branch(`${index}`)))
    for (const name of NAMES) await clients[0]?.resume(name)
    await Promise.all(clients.map((client) => client.work()))
  }

  #client(address: string, label: string, trigger: Trigger, random: Random): Client {
    return new Client(address, this.#book, {
      label: `${this.#kills}-${label}`,
      random,
      isFleeting: label === '0',
      isOver: () => trigger.isOver,
      onAcknowledged: () => trigger.happened('acknowledged'),
      onSurprise: () => trigger.now(),
    })
  }

  /** Judged at every look, and once more when nothing is left to do. */
  async #rest(address: string, isOver: () => boolean): Promise<void> {
    let left: readonly Violation[] = []
    for (let look = 0; look < PATIENCE_LOOKS && !isOver(); look += 1) {
      const snapshot = await this.#reader.snapshot(address)
      this.#take(snapshot)
      left = judgeRest(snapshot)
      if (left.length === 0 || this.violations.length > 0) return
      await sleep(LOOK_AGAIN_MS)
    }
    if (!isOver()) this.violations.push(...left)
  }

  /** What was read once may never be read otherwise. */
  #take(snapshot: Snapshot): void {
    this.#book.settle(snapshot.scenarios.map(({ name }) => name))
    this.violations.push(...judge(this.#book, snapshot))
    for (const { name, rows } of snapshot.scenarios) if (this.#book.lives().has(name)) this.#book.life(name).rows = rows
    this.#rows = snapshot.scenarios.reduce((sum, { rows }) => sum + rows.length, 0)
  }
}

async function ready(child: Child): Promise<string> {
  const address = await child.address
  if (address === null) throw new Error('the service did not start again; its log is beside its data')
  return address
}

function describe({ who, when, count, afterMs }: Kill): string {
  if (when === 'starting') return `(${who}) ${afterMs} ms into its start`
  return `(${who}) ${afterMs} ms after the ${count}. ${when}`
}
