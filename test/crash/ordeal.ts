/** One service, killed and started again on the same data: each round is a start, a check of everything, traffic, and a kill. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child, Place, Victim } from './child.ts'
import { examine } from './examine.ts'
import { violation, type CrashOptions, type Oracle, type Trial, type Violation } from './oracle.ts'
import { randomOf, type Random } from './random.ts'

/** When the service is killed: some time into its start, or some time after something happened for the nth time. */
export interface Kill {
  readonly who: Victim
  /** The event that is counted; 'starting' for the start itself. */
  readonly when: string
  /** 0 for a kill while the service starts. */
  readonly count: number
  readonly afterMs: number
}

/** One life of the service, from a start to a kill. */
export interface Life {
  readonly round: number
  readonly random: Random
  readonly trigger: Trigger
}

/** A service under test: its settings, its clients, and the checks of what it holds. */
export interface World {
  readonly place: Place
  readonly violations: Violation[]
  /** Events that the log of a sound machine never has, whatever is killed. */
  readonly never: readonly string[]
  /** The rule that damage to the store breaks, and the one that damage to the releases breaks. */
  readonly rules: { readonly store: string; readonly releases: string }
  drawKill(random: Random): Omit<Kill, 'who'>
  /** Counts events beside those that the service and the clients report. Returns what ends it. */
  watch?(trigger: Trigger): () => void
  start(onSaid: (line: string) => void): Child
  /** Checks what the last kill left, then sends traffic until the trigger is over. */
  live(address: string, life: Life): Promise<void>
  afterKill?(random: Random): Promise<void>
  /** The last start: settles and checks everything. */
  conclude(address: string, life: Life): Promise<void>
  afterStop?(): void
  progress(): string
  outcome(): object
  summary(kills: number): string
  close?(): Promise<void>
}

export function ordealOracle(
  usual: Pick<Oracle, 'kills' | 'shortKills'>,
  open: (directory: string, options: CrashOptions) => World | Promise<World>,
): Oracle {
  return { ...usual, open: async (directory, options) => new Ordeal(await open(directory, options), options.seed, options.kills) }
}

class Ordeal implements Trial {
  readonly #world: World
  readonly #random: Random
  readonly kills: number
  #done = 0

  constructor(world: World, seed: string, rounds: number) {
    this.#world = world
    this.#random = randomOf(seed)
    this.kills = rounds
  }

  outcome(): object {
    return { kills: this.#done, ...this.#world.outcome() }
  }

  summary(): string {
    return this.#world.summary(this.#done)
  }

  async endure(say: (line: string) => void): Promise<readonly Violation[]> {
    const { violations } = this.#world
    try {
      for (let round = 1; round <= this.kills && violations.length === 0; round += 1) say(await this.#round(round))
      if (violations.length === 0) await this.#finish()
    } catch (error) {
      violations.push(violation('answer', error instanceof Error ? error.message : String(error)))
    }
    violations.push(...(await this.#remains()))
    await this.#world.close?.()
    return violations
  }

  async #round(round: number): Promise<string> {
    const world = this.#world
    const random = this.#random.branch(`round-${round}`)
    const kill: Kill = { who: random.pick<Victim>(['service', 'family']), ...world.drawKill(random) }
    const trigger = new Trigger(kill)
    const stopWatching = world.watch?.(trigger)
    const child = world.start((line) => trigger.happened(line))
    const life = this.#live(child, { round, random, trigger })
    try {
      const death = await Promise.race([trigger.moment, child.ended])
      if (death !== undefined) world.violations.push(violation('answer', `the service ended by itself, with ${death}`))
    } finally {
      trigger.now()
      stopWatching?.()
      child.kill(kill.who)
      await child.ended
      await life
    }
    this.#done += 1
    await world.afterKill?.(random)
    return `${round}/${this.kills} killed ${describe(kill)}: ${world.progress()}, ${world.violations.length} broken`
  }

  /** Ends when the trigger is over, or ends the round itself when something is broken. */
  async #live(child: Child, life: Life): Promise<void> {
    try {
      await this.#world.live(await ready(child), life)
    } catch (error) {
      if (!life.trigger.isOver) this.#world.violations.push(violation('answer', String(error)))
    }
    life.trigger.now()
  }

  async #finish(): Promise<void> {
    const { violations } = this.#world
    const child = this.#world.start(() => undefined)
    try {
      const trigger = new Trigger({ who: 'service', when: 'never', count: 1, afterMs: 0 })
      await this.#world.conclude(await ready(child), { round: this.kills + 1, random: this.#random, trigger })
    } finally {
      child.stop()
    }
    const code = await child.ended
    if (code !== 0) violations.push(violation('answer', `the service ended with ${code} when asked to stop`))
    if (violations.length === 0) this.#world.afterStop?.()
  }

  /** The store's own check, git's, and the log. */
  async #remains(): Promise<readonly Violation[]> {
    const { place, never, rules } = this.#world
    const { damage, fsck, logged } = await examine(place, never)
    return [
      ...damage.map((detail) => violation(rules.store, detail)),
      ...fsck.map((detail) => violation(rules.releases, detail)),
      ...logged.map((detail) => violation('answer', detail)),
    ]
  }
}

/** Looks until nothing is left to do, something is broken or the life is over. What is left when patience ends counts as broken. */
export async function waitForRest(
  { violations }: World,
  { looks, everyMs }: { readonly looks: number; readonly everyMs: number },
  look: () => Promise<readonly Violation[]>,
  isOver: () => boolean = () => false,
): Promise<void> {
  let left: readonly Violation[] = []
  for (let count = 0; count < looks && !isOver(); count += 1) {
    left = await look()
    if (left.length === 0 || violations.length > 0) return
    await sleep(everyMs)
  }
  if (!isOver()) violations.push(...left)
}

function describe({ who, when, count, afterMs }: Kill): string {
  if (count === 0) return `(${who}) ${afterMs} ms into its start`
  return `(${who}) ${afterMs} ms after the ${count}. ${when}`
}

/** Counts events and resolves when the moment has come. */
export class Trigger {
  readonly #kill: Kill
  readonly #reached = Promise.withResolvers<void>()
  /** Set before the kill: from then on an answer may break off. */
  isOver = false
  #seen = 0

  constructor(kill: Kill) {
    this.#kill = kill
    if (kill.count === 0) this.#later()
  }

  happened(what: string): void {
    if (this.#kill.when !== what) return
    this.#seen += 1
    if (this.#seen === this.#kill.count) this.#later()
  }

  #later(): void {
    if (this.#kill.afterMs === 0) this.now()
    else setTimeout(() => this.now(), this.#kill.afterMs)
  }

  /** Also when something is broken already, or the moment does not come. */
  now(): void {
    this.isOver = true
    this.#reached.resolve()
  }

  get moment(): Promise<void> {
    return this.#reached.promise
  }
}

async function ready(child: Child): Promise<string> {
  const address = await child.address
  if (address === null) throw new Error('the service did not start again; its log is beside its data')
  return address
}
