/** One service, killed and started again on the same data: each round is a start, a check of everything clients were told, traffic, and a kill. */
import { setTimeout as sleep } from 'node:timers/promises'
import { settingsOf } from '../support/settings.ts'
import type { Upstream } from '../support/upstream.ts'
import { startChild, type Child, type Place } from './child.ts'
import { scriptOf } from './exchanges.ts'
import { History, type Sent } from './history.ts'
import { drawKill, Trigger, type Kill } from './kills.ts'
import { judge, settleRecords, settleScenarios, type Violation } from './oracle.ts'
import { randomOf, type Random } from './random.ts'
import { listScenarios, takeSnapshot } from './snapshot.ts'
import { canBeSentAgain, Client } from './traffic.ts'

const CLIENTS = 10
/** Bodies known from before that are read again at each restart, so that a round does not grow with the run; the last check reads all. */
const READ_AGAIN_SHARE = 0.02

export interface Outcome {
  readonly kills: number
  readonly acknowledged: number
  readonly removed: number
  /** How many rows and bodies were judged, over all restarts. */
  readonly rows: number
  readonly bodies: number
}

export class Ordeal {
  readonly #place: Place
  readonly #upstream: Upstream
  readonly #random: Random
  readonly #history = new History()
  /** Ids whose bodies were judged before. */
  readonly #judged = new Set<string>()
  readonly violations: Violation[] = []
  /** What was on its way when the last kill came, and is safe to send again. */
  #interrupted: readonly Sent[] = []
  #kills = 0
  #rows = 0
  #bodies = 0

  constructor(place: Place, upstream: Upstream, seed: string) {
    this.#place = place
    this.#upstream = upstream
    this.#random = randomOf(seed)
  }

  outcome(): Outcome {
    const { acknowledged, removed } = this.#history
    return { kills: this.#kills, acknowledged, removed: removed.length, rows: this.#rows, bodies: this.#bodies }
  }

  /** Answers a line about how it went. */
  async round(round: number, rounds: number): Promise<string> {
    const random = this.#random.branch(`round-${round}`)
    const kill = drawKill(random)
    const child = this.#start()
    try {
      if (kill.when === 'starting') await sleep(kill.afterMs)
      else await this.#live(child, kill, random)
    } finally {
      child.kill(kill.who)
      await child.ended
    }
    this.#kills += 1
    const { acknowledged, removed } = this.#history
    return `${round}/${rounds} killed ${describe(kill)}: ${acknowledged} acknowledged, ${removed.length} archived, ${this.violations.length} broken`
  }

  /** The last start: everything is read, and the service stops when asked to. */
  async finish(): Promise<void> {
    const child = this.#start()
    try {
      await this.#check(await ready(child), () => true)
    } finally {
      child.stop()
    }
    const code = await child.ended
    if (code !== 0) this.violations.push({ rule: 'answer', detail: `the service ended with ${code} when asked to stop` })
  }

  #start(): Child {
    return startChild(this.#place, { settings: settingsOf(this.#place, this.#upstream.url) })
  }

  async #live(child: Child, kill: Kill, random: Random): Promise<void> {
    const address = await ready(child)
    await this.#check(address, () => random.fraction() < READ_AGAIN_SHARE)
    if (this.violations.length > 0) return
    const trigger = new Trigger(kill)
    this.#upstream.answer(scriptOf(() => trigger.happened('answered')))
    this.#upstream.received.length = 0
    const working = this.#clients(address, trigger, random).map((client, index) =>
      client.work(this.#interrupted.filter((_, at) => at % CLIENTS === index)),
    )
    const death = await Promise.race([trigger.moment(), child.ended])
    if (death !== undefined) this.#history.surprise(`the service ended by itself, with ${death}`)
    trigger.isOver = true
    child.kill(kill.who)
    await Promise.all(working)
    const open = this.#history.all().filter((sent) => sent.fate === 'open' && canBeSentAgain(sent))
    this.#interrupted = [...Map.groupBy(open, ({ batch, mark }) => batch ?? mark).values()].flatMap(([first]) => first ?? [])
  }

  #clients(address: string, trigger: Trigger, random: Random): readonly Client[] {
    const told = { onAcknowledged: () => trigger.happened('acknowledged'), onSurprise: () => trigger.now(), isOver: () => trigger.isOver }
    return Array.from({ length: CLIENTS }, (_, index) => {
      const part = { label: `${this.#kills}-${index}`, own: `own-${index}`, random: random.branch(`${index}`), ...told }
      return new Client(address, this.#history, part)
    })
  }

  async #check(address: string, readAgain: () => boolean): Promise<void> {
    const names = await listScenarios(address)
    settleScenarios(this.#history, names)
    const snapshot = await takeSnapshot(address, this.#place, names, (id) => !this.#judged.has(id) || readAgain())
    this.violations.push(...judge(this.#history, snapshot))
    settleRecords(this.#history, snapshot)
    for (const { rows, payloads } of snapshot.scenarios) {
      this.#rows += rows.length
      this.#bodies += payloads.size
      for (const id of payloads.keys()) this.#judged.add(id)
    }
  }
}

async function ready(child: Child): Promise<string> {
  const address = await child.address
  if (address === null) throw new Error('the service did not start again; its log is beside its data')
  return address
}

function describe(kill: Kill): string {
  return `(${kill.who}) ${'count' in kill ? `at the ${kill.count}. time something was ${kill.when}` : `${kill.afterMs} ms into ${kill.when}`}`
}
