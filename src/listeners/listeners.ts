/** The listener threads of a service: started, told of changes, replaced when they end, and closed after their last answer. */
import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import type { MessagePort } from 'node:worker_threads'
import type { LoadedConfig } from '../config/index.ts'
import { SHUTDOWN_GRACE_SECONDS, type StoredToken } from '../contract/index.ts'
import { addressText, listen, type HeldBytes, type ListenerCounts, type Log, type Metrics, type TlsPair } from '../http/index.ts'
import { followSecrets, hasCode, knownSecrets, wordsOf } from '../kit/index.ts'
import type { LimitPlace } from '../limits/index.ts'
import type { ScenarioView, ServedViews } from '../scenarios/index.ts'
import { claimPort } from './claim-port.ts'
import { HostedListener } from './hosted.ts'
import type { ListenerSettings, Reconfigure, SpanCounted, ToListener } from './wire.ts'

/** The pause before a thread is replaced doubles from the first to the longest, until one has lived long enough. */
const PAUSE_FIRST_MS = 100
const PAUSE_MAX_MS = 10_000
const LIVED_LONG_MS = 60_000
const FREE_PORT_TRIES = 3
/** What a thread may take beyond the grace period, to keep what it received. */
const CLOSE_SECONDS_MORE = 10

export interface ListenerOptions {
  readonly wanted: number
  readonly entry: URL
  /** A port to the store, for one thread. */
  readonly share: () => MessagePort
  readonly log: Log
  readonly metrics: Metrics
  /** The main thread's place; null where nothing is limited. */
  readonly limits: LimitPlace
  /** By which the threads of this service find each other. */
  readonly group: string
}

export interface ListenOptions {
  readonly loaded: LoadedConfig
  /** Null where the port speaks plain HTTP. */
  readonly tls: TlsPair | null
  readonly graceSeconds: number | undefined
  /** Answers what the threads relay. */
  readonly relayed: RequestListener
  /** What a scenario serves now; null while it is not loaded. */
  readonly view: (name: string) => ScenarioView | null
  /** A thread ended: what it had in flight is over. */
  readonly ended: (slot: number) => void
}

export class Listeners implements ServedViews {
  readonly #options: ListenerOptions
  readonly #live = new Set<HostedListener>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  /** The first slot is the main thread's. */
  readonly #bodies: Int32Array
  #pauseMs = PAUSE_FIRST_MS
  #lost = 0
  #tokens: readonly StoredToken[] = []
  /** What the configuration says since it was reloaded. */
  #reloaded: Pick<ListenOptions, 'loaded' | 'tls'> | null = null
  #limits: LimitPlace
  #isClosing = false
  /** Of threads that are gone. */
  #pastSpans: SpanCounted = { exported: 0, dropped: 0 }

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#limits = options.limits
    this.#bodies = new Int32Array(new SharedArrayBuffer((options.wanted + 1) * Int32Array.BYTES_PER_ELEMENT))
  }

  /** The main thread's place in what all bodies take. */
  get bodies(): HeldBytes {
    return { all: this.#bodies, slot: 0 }
  }

  changed(name: string, view: ScenarioView | null): void {
    this.#tellAll({ tell: 'view', name, view })
  }

  archived(name: string): void {
    this.#tellAll({ tell: 'archived', name })
  }

  /** In force in every thread once `settled` resolves, and in those that start later. */
  useTokens(tokens: readonly StoredToken[]): void {
    this.#tokens = tokens
    this.#tellAll({ tell: 'tokens', tokens })
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#live].map((listener) => listener.sync()))
  }

  report(): Promise<void> {
    return this.settled()
  }

  counts(): ListenerCounts {
    const listening = [...this.#live].filter(({ isListening }) => isListening)
    const inFlight = listening.reduce((sum, listener) => sum + listener.inFlight, 0)
    return { wanted: this.#options.wanted, live: listening.length, lost: this.#lost, inFlight }
  }

  spans(): SpanCounted {
    return [...this.#live].map(({ spans }) => spans).reduce(summed, this.#pastSpans)
  }

  /** Resolves once every thread listens. */
  async open(options: ListenOptions) {
    const { graceSeconds, relayed } = options
    const relayPath = `\0svc-${process.pid}-${randomUUID()}`
    const server = await listen(relayed, { path: relayPath }, { graceSeconds })
    const unfollow = followSecrets((secret) => this.#tellAll({ tell: 'secret', secret }))
    const close = async (): Promise<void> => {
      await this.#close(graceSeconds)
      unfollow()
      await server.close()
    }
    try {
      const reconfigure: Reconfigure = (...changed) => this.#reconfigure(...changed)
      return { ...(await this.#listen(options, relayPath)), reconfigure, close }
    } catch (error) {
      await close()
      throw error
    }
  }

  /** A free port may be taken by another program before the threads have it. */
  async #listen(options: ListenOptions, relayPath: string, tries = FREE_PORT_TRIES): Promise<{ address: string; port: number }> {
    const { loaded, tls, graceSeconds } = options
    const claimed = await claimPort(loaded.config.svc.host, loaded.config.svc.port)
    const at = { host: claimed.address, port: claimed.port }
    const start = (slot: number): HostedListener => {
      const bodies = { all: this.#bodies, slot }
      const known = { secrets: knownSecrets(), tokens: this.#tokens }
      const { share, group } = this.#options
      const own = { bodies, group, limits: { ...this.#limits, slot }, store: share() }
      const configured = { loaded, tls, ...this.#reloaded }
      return this.#start(options, { ...configured, at, relayPath, graceSeconds, ...known, ...own })
    }
    const first = Array.from({ length: this.#options.wanted }, (_, index) => start(index + 1))
    try {
      await Promise.all(first.map(({ ready }) => ready))
      for (const [index, listener] of first.entries()) void this.#replaceWhenGone(listener, () => start(index + 1))
      return { address: addressText(claimed, tls !== null), port: claimed.port }
    } catch (error) {
      await Promise.all(first.map((listener) => listener.end()))
      if (tries === 1 || loaded.config.svc.port !== 0 || !hasCode(error, 'EADDRINUSE')) throw error
    } finally {
      await claimed.release()
    }
    return this.#listen(options, relayPath, tries - 1)
  }

  #start({ view, ended }: ListenOptions, settings: ListenerSettings): HostedListener {
    const { entry, log, metrics } = this.#options
    const listener = new HostedListener(entry, settings, {
      ask: (name) => listener.tell({ tell: 'view', name, view: view(name) }),
      news(lines, counted) {
        metrics.add(counted)
        for (const { level, event, fields, at } of lines) log.write(level, event, fields, at)
      },
    })
    this.#live.add(listener)
    void this.#forgetWhenGone(listener, settings.bodies.slot).then(() => ended(settings.bodies.slot))
    return listener
  }

  async #forgetWhenGone(listener: HostedListener, slot: number): Promise<void> {
    await listener.gone
    this.#live.delete(listener)
    Atomics.store(this.#bodies, slot, 0)
    this.#pastSpans = summed(this.#pastSpans, listener.spans)
  }

  async #replaceWhenGone(listener: HostedListener, start: () => HostedListener): Promise<void> {
    const reason = await listener.gone
    if (this.#isClosing) return
    const livedLong = performance.now() - listener.startedAt > LIVED_LONG_MS
    this.#lost += 1
    this.#replaceLater(reason, livedLong ? PAUSE_FIRST_MS : this.#pauseMs, start)
  }

  #replaceLater(reason: unknown, pauseMs: number, start: () => HostedListener): void {
    this.#pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)
    this.#options.log.write('error', 'listener_lost', { error: wordsOf(reason), replaced_in_ms: pauseMs })
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.#replace(start)
    }, pauseMs)
    this.#restarts.add(timer)
  }

  /** The system may have no room for a thread now, and have it later. */
  #replace(start: () => HostedListener): void {
    try {
      const listener = start()
      void this.#replaceWhenGone(listener, start)
      listener.ready.then(
        () => this.#options.log.write('info', 'listener_replaced', { listeners: this.counts().live }),
        () => undefined,
      )
    } catch (error) {
      this.#replaceLater(error, this.#pauseMs, start)
    }
  }

  #reconfigure(...[loaded, tls, limits]: Parameters<Reconfigure>): Promise<void> {
    this.#reloaded = { loaded, tls }
    this.#limits = limits
    this.#tellAll({ tell: 'configuration', loaded, tls, secrets: knownSecrets(), limits })
    return this.settled()
  }

  #tellAll(message: ToListener): void {
    for (const listener of this.#live) listener.tell(message)
  }

  async #close(graceSeconds = SHUTDOWN_GRACE_SECONDS): Promise<void> {
    this.#isClosing = true
    for (const timer of this.#restarts) clearTimeout(timer)
    await Promise.all([...this.#live].map((listener) => listener.close(graceSeconds + CLOSE_SECONDS_MORE)))
  }
}

const summed = (one: SpanCounted, other: SpanCounted): SpanCounted => ({
  exported: one.exported + other.exported,
  dropped: one.dropped + other.dropped,
})
