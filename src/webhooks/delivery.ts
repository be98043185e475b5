/** Delivers while this service holds the lease: of several over one database one tells the targets, and another one goes on when it is gone. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Documents, Fence, Store, StoreLease } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import { KeptEvents, readEvents } from './kept-events.ts'
import { Positions, type ToldPosition } from './positions.ts'
import { spentEvents, type MoneySpender } from './spenders.ts'
import { SpentBook } from './spent-book.ts'
import { WebhookTarget, type WebhookNeeds, type WebhookSettings } from './target.ts'

const LEASE = 'webhooks'
const LEASE_RETRY_MS = 1000
/** How often it is looked at what was spent, and whether somebody wants to have sent again what was set aside. */
const LOOK_MS = 5000
/** Changed by a service that is asked to have sent again what another one set aside. */
const AGAIN = 'again.txt'

/** Where targets keep what they were told. Null: in memory alone. */
export type OpenKept = (fence?: Fence) => Documents | null
export type ReadSpenders = () => Promise<readonly MoneySpender[]>

type WebhookCounts = Pick<WebhookTarget, 'name' | 'delivered' | 'failed' | 'waiting' | 'setAside'>

interface WebhookState extends WebhookCounts {
  /** False: another service delivers, and the numbers of this one are what it delivered before. */
  readonly isDelivering: boolean
}

export class WebhookDelivery {
  readonly #settings: readonly WebhookSettings[]
  readonly #openKept: OpenKept
  readonly #needs: WebhookNeeds
  readonly #closing = new AbortController()
  readonly #unfollow: () => void
  #targets: readonly WebhookTarget[] = []
  /** What was delivered under earlier leases. */
  #earlier: readonly WebhookCounts[] = []
  #running: Promise<void> = Promise.resolve()
  #spenders: ReadSpenders = async () => []
  #again = ''

  private constructor(settings: readonly WebhookSettings[], openKept: OpenKept, needs: WebhookNeeds) {
    this.#settings = settings
    this.#openKept = openKept
    this.#needs = needs
    this.#unfollow = needs.store.follow((change) => {
      for (const target of this.#targets) {
        if (change.kind === 'landed') target.wake(change.scenario)
        if (change.kind === 'archived') target.forget(change.scenario)
      }
    })
  }

  static async open(settings: readonly WebhookSettings[], openKept: OpenKept, needs: WebhookNeeds): Promise<WebhookDelivery> {
    const delivery = new WebhookDelivery(settings, openKept, needs)
    try {
      // Also where another service delivers: a target that is new begins here.
      for (const each of settings) await delivery.#keptOf(each, openKept())
      const lease = await needs.store.lease(LEASE)
      if (lease !== null) await delivery.#begin(lease)
      delivery.#running = delivery.#run(lease)
      return delivery
    } catch (error) {
      await delivery.close()
      throw error
    }
  }

  /** Tells of those from now on. */
  watch(spenders: ReadSpenders): void {
    this.#spenders = spenders
  }

  counts(): readonly WebhookCounts[] {
    return this.#settings.map(({ name }) => {
      const { delivered = 0, failed = 0 } = this.#earlier.find((counts) => counts.name === name) ?? {}
      const now = this.#targets.find((target) => target.name === name)
      return {
        name,
        delivered: delivered + (now?.delivered ?? 0),
        failed: failed + (now?.failed ?? 0),
        waiting: now?.waiting ?? 0,
        setAside: now?.setAside ?? 0,
      }
    })
  }

  /** Also of what another service set aside. */
  async states(): Promise<readonly WebhookState[]> {
    const isDelivering = this.#targets.length > 0
    const states = this.counts().map(async (counts) => ({
      ...counts,
      isDelivering,
      setAside: isDelivering ? counts.setAside : (await readEvents(this.#openKept(), asideOf(counts.name))).length,
    }))
    return Promise.all(states)
  }

  /** Has sent again at once what was set aside, here or by the service that delivers. Answers how much there is. */
  async sendAgain(): Promise<number> {
    const states = await this.states()
    if (this.#targets.length === 0) await this.#openKept()?.write(AGAIN, this.#needs.newId())
    for (const target of this.#targets) target.sendAgain()
    return states.reduce((sum, { setAside }) => sum + setAside, 0)
  }

  /** What was not delivered is delivered after the next start, or by another service. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unfollow()
    await this.#running
    await this.#end()
  }

  /** Never rejects. */
  async #run(taken: StoreLease | null): Promise<void> {
    let lease = taken
    while (!this.#closing.signal.aborted)
      try {
        if (lease === null) lease = await this.#next()
        else {
          await this.#pause(this.#needs.lookMs ?? LOOK_MS, lease.signal)
          if (!lease.signal.aborted) await this.#look()
        }
        if (lease?.signal.aborted === true) {
          lease = null
          await this.#end()
        }
      } catch (error) {
        this.#needs.log('warn', 'webhooks_failed', { error: wordsOf(error) })
        await this.#pause(LEASE_RETRY_MS)
      }
    await this.#end()
    await lease?.release().catch(() => undefined)
  }

  async #next(): Promise<StoreLease | null> {
    await this.#pause(LEASE_RETRY_MS)
    if (this.#closing.signal.aborted) return null
    const lease = await this.#needs.store.lease(LEASE)
    if (lease === null) return null
    try {
      await this.#begin(lease)
      return lease
    } catch (error) {
      await lease.release()
      throw error
    }
  }

  async #begin(lease: StoreLease): Promise<void> {
    const documents = this.#openKept(lease)
    this.#again = await this.#asked(documents)
    const targets: WebhookTarget[] = []
    for (const each of this.#settings) targets.push(new WebhookTarget(each, await this.#keptOf(each, documents), this.#needs))
    // Followed before the scenarios are listed, so that no row is missed.
    this.#targets = targets
    for (const scenario of await this.#needs.store.scenarios()) for (const target of targets) target.wake(scenario)
  }

  async #end(): Promise<void> {
    const ended = this.#targets
    this.#earlier = this.counts()
    this.#targets = []
    await Promise.all(ended.map((target) => target.close()))
  }

  async #look(): Promise<void> {
    const asked = await this.#asked(this.#openKept())
    if (asked !== this.#again) for (const target of this.#targets) target.sendAgain()
    this.#again = asked
    const events = spentEvents(await this.#spenders(), this.#needs.clock())
    for (const target of this.#targets) await target.tellSpent(events)
  }

  async #asked(documents: Documents | null): Promise<string> {
    return Buffer.from((await documents?.read(AGAIN)) ?? []).toString()
  }

  async #keptOf({ name }: WebhookSettings, documents: Documents | null) {
    return {
      positions: await Positions.open(documents, `${name}.json`, () => newestRows(this.#needs.store)),
      aside: await KeptEvents.open(documents, asideOf(name)),
      spent: await SpentBook.open(documents, `${name}.spent.json`),
    }
  }

  async #pause(ms: number, lost?: AbortSignal): Promise<void> {
    const signal = lost === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, lost])
    await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

const asideOf = (name: string): string => `${name}.set-aside.json`

async function newestRows(store: Store): Promise<Map<string, ToldPosition>> {
  const rows = new Map<string, ToldPosition>()
  for (const name of await store.scenarios()) {
    const head = await store.scenario(name).head()
    if (head !== null) rows.set(name, { step: head.newest.step, recorded_at: head.newest.recorded_at })
  }
  return rows
}
