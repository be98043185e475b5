/** One service, killed and started again on the same data: each round is a start, a check of everything clients were told, traffic, and a kill. */
import { setTimeout as sleep } from 'node:timers/promises'
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
  readonly checks: number
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
  #checks = 0
  #bodies = 0

  constructor(place: Place, upstream: Upstream, seed: string) {
    this.#place = place
    this.#upstream = upstream
    this.#random = randomOf(seed)
  }

  outcome(): Outcome {
    const { acknowledged, removed } = this.#history
    return { kills: this.#kills, acknowledged, removed: removed.length, checks: this.#checks, bodies: this.#bodies }
  }

  /** Answers a line about how it went. */
  async round(round: number, rounds: number): Promise<string> {
    const random = this.#random.branch(`round-${round}`)
    const kill = drawKill(random)
    const child = startChild(this.#place, this.#upstream.url)
    if (kill.when === 'starting') await sleep(kill.afterMs)
    else await this.#live(child, kill, random)
    child.kill('SIGKILL')
    await child.ended
    this.#kills += 1
    const { acknowledged, removed } = this.#history
    return `${round}/${rounds} killed ${describe(kill)}: ${acknowledged} acknowledged, ${removed.length} archived, ${this.violations.length} broken`
  }

  /** The last start: everything is read, and the service stops when asked to. */
  async finish(): Promise<void> {
    const child = startChild(this.#place, this.#upstream.url)
    await this.#check(await ready(child), () => true)
    child.kill('SIGTERM')
    const code = await child.ended
    if (code !== 0) this.violations.push({ rule: 'answer', detail: `the service ended with ${code} when asked to stop` })
  }

  async #live(child: Child, kill: Kill, random: Random): Promise<void> {
    const address = await ready(child)
    await this.#check(address, () => random.fraction() < READ_AGAIN_SHARE)
    if (this.violations.length > 0) return
    const trigger = new Trigger(kill)
    this.#upstream.answer(scriptOf(() => trigger.happened('answered')))
    this.#upstream.received.length = 0
    let isOver = false
    const told = (): void => trigger.happened('acknowledged')
    const clients = Array.from({ length: CLIENTS }, (_, index) => {
      return new Client(address, this.#history, random.branch(`${index}`), { label: `${this.#kills}-${index}`, own: `own-${index}` }, told)
    })
    const working = clients.map((client, index) => this.#work(client, index, () => isOver))
    await trigger.moment()
    isOver = true
    child.kill('SIGKILL')
    await Promise.all(working)
    const open = this.#history.all().filter((sent) => sent.fate === 'open' && canBeSentAgain(sent))
    this.#interrupted = [...Map.groupBy(open, ({ batch, mark }) => batch ?? mark).values()].flatMap(([first]) => first ?? [])
  }

  /** What the last crash interrupted is sent again first, shared among the clients. */
  async #work(client: Client, index: number, isOver: () => boolean): Promise<void> {
    for (const sent of this.#interrupted.filter((_, at) => at % CLIENTS === index)) if (!isOver()) await client.sendAgain(sent)
    await client.work(isOver)
  }

  async #check(address: string, readAgain: () => boolean): Promise<void> {
    const names = await listScenarios(address)
    settleScenarios(this.#history, names)
    const snapshot = await takeSnapshot(address, this.#place, names, (id) => !this.#judged.has(id) || readAgain())
    this.violations.push(...judge(this.#history, snapshot))
    settleRecords(this.#history, snapshot)
    for (const { rows, payloads } of snapshot.scenarios) {
      this.#checks += rows.length
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
  return 'count' in kill ? `at the ${kill.count}. time something was ${kill.when}` : `${kill.afterMs} ms into ${kill.when}`
}
