/** A service that learns: at rest after each restart every report and instruction was learned from once, and releases are what their rows say. */
import { fileURLToPath } from 'node:url'
import type { Point } from '../../fixtures/dying-points.ts'
import { settingsOf } from '../../support/settings.ts'
import { placeIn, startChild, type Child, type Place } from '../child.ts'
import type { Violation } from '../oracle.ts'
import { ordealOracle, waitForRest, type Kill, type Life, type World } from '../ordeal.ts'
import type { Random } from '../random.ts'
import { Book, type Snapshot } from './book.ts'
import { castSettings, NAMES } from './cast.ts'
import { judge, judgeRest } from './oracle.ts'
import { Reader } from './snapshot.ts'
import { Client } from './traffic.ts'

const CLIENTS = 4
const ENTRY = fileURLToPath(new URL('../../fixtures/dying-service.ts', import.meta.url))
/** Nothing listens there: no client asks the model anything. */
const NO_MODEL = 'http://127.0.0.1:1'
/** What is not at rest by then is stuck: a step takes some tens of milliseconds, and few are left over by a crash. */
const PATIENCE = { looks: 1200, everyMs: 50 }
const STARTING_MS_MAX = 2500
const LATE_MS_MAX = 40
const POINTS: readonly [Point, ...Point[]] = [
  'before-content',
  'after-content',
  'before-row',
  'after-row',
  'after-pointer',
  'after-load',
  'after-step',
]

export const oracle = ordealOracle({ kills: 200, shortKills: 3 }, (directory) => new TrainingWorld(placeIn(directory)))

class TrainingWorld implements World {
  readonly place: Place
  /** On a sound machine nothing but the kills goes wrong, and no step fails to land. */
  readonly never = ['failure', 'background_error']
  readonly rules = { store: 'lost', releases: 'unreadable' }
  readonly violations: Violation[] = []
  readonly #book = new Book()
  readonly #reader: Reader
  #rows = 0
  /** Lives in which everything was at rest before the kill. */
  #rested = 0

  constructor(place: Place) {
    this.place = place
    this.#reader = new Reader(place)
  }

  drawKill(random: Random): Omit<Kill, 'who'> {
    const chance = random.fraction()
    if (chance < 0.1) return { when: 'starting', count: 0, afterMs: random.between(0, STARTING_MS_MAX) }
    const afterMs = random.fraction() < 0.7 ? 0 : random.between(1, LATE_MS_MAX)
    if (chance < 0.4) return { when: 'acknowledged', count: random.between(1, 40), afterMs }
    // Few enough to fall into what the last crash left behind, or many enough to come after it.
    const count = random.fraction() < 0.4 ? random.between(1, 3) : random.between(4, 10)
    return { when: random.pick(POINTS), count, afterMs }
  }

  start(onSaid: (line: string) => void): Child {
    const settings = { ...settingsOf(this.place, NO_MODEL), ...castSettings() }
    return startChild(this.place, { settings, entry: ENTRY, onSaid })
  }

  async live(address: string, life: Life): Promise<void> {
    const { trigger } = life
    await this.#rest(address, () => trigger.isOver)
    if (trigger.isOver) return
    this.#rested += 1
    if (this.violations.length > 0) return
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      this.#client(address, `${life.round}-${index}`, { ...life, random: life.random.branch(`${index}`) }, index === 0),
    )
    for (const name of NAMES) await clients[0]?.resume(name)
    await Promise.all(clients.map((client) => client.work()))
  }

  /** Every scenario takes what it may, and everything is read from the disk again. */
  async conclude(address: string, life: Life): Promise<void> {
    const client = this.#client(address, 'last', life)
    await this.#rest(address)
    for (const name of NAMES) await client.resume(name)
    for (const name of NAMES) await client.useMode(name, 'hybrid')
    this.#reader.forgetLedgers()
    await this.#rest(address)
  }

  progress(): string {
    return `${this.#book.acknowledged} acknowledged, ${this.#rows} rows`
  }

  /** Rows are those of the last reading. */
  outcome() {
    const { acknowledged, removed } = this.#book
    return { acknowledged, removed, rows: this.#rows, rested: this.#rested }
  }

  summary(kills: number): string {
    const { acknowledged, removed, rows, rested } = this.outcome()
    return `${kills} kills (${kills - rested} before all was at rest), ${acknowledged} acknowledged, ${removed} removed, ${rows} rows`
  }

  #client(address: string, label: string, { random, trigger }: Life, isFleeting = false): Client {
    return new Client(address, this.#book, { label, random, trigger, isFleeting })
  }

  /** Judged at every look, and once more when nothing is left to do. */
  #rest(address: string, isOver?: () => boolean): Promise<void> {
    const look = async (): Promise<readonly Violation[]> => {
      const snapshot = await this.#reader.snapshot(address)
      this.#take(snapshot)
      return judgeRest(snapshot)
    }
    return waitForRest(this, PATIENCE, look, isOver)
  }

  /** What was read once may never be read otherwise. */
  #take(snapshot: Snapshot): void {
    this.#book.settle(snapshot.scenarios.map(({ name }) => name))
    this.violations.push(...judge(this.#book, snapshot))
    for (const { name, rows } of snapshot.scenarios) if (this.#book.lives.has(name)) this.#book.life(name).rows = rows
    this.#rows = snapshot.scenarios.reduce((sum, { rows }) => sum + rows.length, 0)
  }
}
