/** A service that only records, with clients of every format: what it answered stays true. */
import { settingsOf } from '../../support/settings.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { placeIn, startChild, type Child, type Place } from '../child.ts'
import type { Violation } from '../oracle.ts'
import { ordealOracle, type Kill, type Life, type World } from '../ordeal.ts'
import type { Random } from '../random.ts'
import { scriptOf } from './exchanges.ts'
import { History, type Sent } from './history.ts'
import { judge, settleRecords, settleScenarios } from './oracle.ts'
import { listScenarios, takeSnapshot } from './snapshot.ts'
import { canBeSentAgain, Client } from './traffic.ts'

const CLIENTS = 10
/** Bodies known from before that are read again at each restart, so that a round does not grow with the run; the last check reads all. */
const READ_AGAIN_SHARE = 0.02
const STARTING_MS_MAX = 900
const WORKING_MS_MAX = 900
const COUNT_MAX = 120
const TRAFFIC_BEGINS = 'start of traffic'
const OWN = 'own-'

/** Whoever sends to a scenario that another client removes may make it again. */
const ownerOf = ({ scenario }: Sent): number | null => (scenario.startsWith(OWN) ? Number(scenario.slice(OWN.length)) : null)

export const oracle = ordealOracle(
  { kills: 50, shortKills: 4 },
  async (directory, { listeners }) => new RecordsWorld(placeIn(directory), await startUpstream(), listeners),
)

class RecordsWorld implements World {
  readonly place: Place
  readonly never = ['failure']
  readonly rules = { store: 'altered', releases: 'release chain' }
  readonly violations: Violation[] = []
  readonly #upstream: Upstream
  readonly #listeners: number
  readonly #history = new History()
  /** Ids whose bodies were judged before. */
  readonly #judged = new Set<string>()
  /** What was on its way when the last kill came, and is safe to send again. */
  #interrupted: readonly Sent[] = []
  #rows = 0
  #bodies = 0

  constructor(place: Place, upstream: Upstream, listeners: number) {
    this.place = place
    this.#upstream = upstream
    this.#listeners = listeners
  }

  drawKill(random: Random): Omit<Kill, 'who'> {
    const chance = random.fraction()
    if (chance < 0.12) return { when: 'starting', count: 0, afterMs: random.between(0, STARTING_MS_MAX) }
    if (chance < 0.5) return { when: TRAFFIC_BEGINS, count: 1, afterMs: random.between(1, WORKING_MS_MAX) }
    return { when: chance < 0.75 ? 'answered' : 'acknowledged', count: random.between(1, COUNT_MAX), afterMs: 0 }
  }

  start(): Child {
    const settings = settingsOf(this.place, this.#upstream.url)
    return startChild(this.place, { settings: this.#listeners > 1 ? { ...settings, 'svc.listeners': this.#listeners } : settings })
  }

  async live(address: string, life: Life): Promise<void> {
    const { trigger } = life
    await this.#check(address, life, READ_AGAIN_SHARE)
    if (this.violations.length > 0 || trigger.isOver) return
    this.#upstream.answer(scriptOf(() => trigger.happened('answered')))
    this.#upstream.received.length = 0
    trigger.happened(TRAFFIC_BEGINS)
    const working = Array.from({ length: CLIENTS }, (_, index) =>
      this.#client(address, index, life).work(this.#interrupted.filter((sent, at) => (ownerOf(sent) ?? at % CLIENTS) === index)),
    )
    await Promise.all(working)
    const open = [...this.#history.sent.values()].filter((sent) => sent.fate === 'open' && canBeSentAgain(sent))
    this.#interrupted = [...Map.groupBy(open, ({ batch, mark }) => batch ?? mark).values()].flatMap(([first]) => first ?? [])
  }

  conclude(address: string, life: Life): Promise<void> {
    return this.#check(address, life, 1)
  }

  progress(): string {
    const { acknowledged, removed } = this.#history
    return `${acknowledged} acknowledged, ${removed.length} archived`
  }

  /** Rows and bodies are counted over all restarts. */
  outcome() {
    const { acknowledged, removed } = this.#history
    return { acknowledged, removed: removed.length, rows: this.#rows, bodies: this.#bodies }
  }

  summary(kills: number): string {
    const { acknowledged, rows, bodies } = this.outcome()
    return `${kills} kills, ${acknowledged} acknowledged, ${rows} rows and ${bodies} bodies judged`
  }

  close(): Promise<void> {
    return this.#upstream.close()
  }

  #client(address: string, index: number, { round, random, trigger }: Life): Client {
    const part = { label: `${round}-${index}`, own: `${OWN}${index}`, random: random.branch(`${index}`), trigger }
    return new Client(address, this.#history, part)
  }

  async #check(address: string, { random, trigger }: Life, readAgainShare: number): Promise<void> {
    const names = await listScenarios(address)
    const snapshot = await takeSnapshot(address, this.place, names, (id) => !this.#judged.has(id) || random.fraction() < readAgainShare)
    // A snapshot that the kill cut off shows less than there is.
    if (trigger.isOver) return
    settleScenarios(this.#history, names)
    this.violations.push(...judge(this.#history, snapshot))
    settleRecords(this.#history, snapshot)
    for (const { rows, payloads } of snapshot.scenarios) {
      this.#rows += rows.length
      this.#bodies += payloads.size
      for (const id of payloads.keys()) this.#judged.add(id)
    }
  }
}
