/** The listener threads of a service tell each other how its upstreams fare: one that rests is left alone by all, and the status counts them all. */
import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import type { NamedUpstream, UpstreamCounts } from './upstreams.ts'

/** Counts are told together. */
const TELL_MS = 500

type News =
  | { readonly said: 'rests'; readonly upstream: string; readonly model: string; readonly until: number | null; readonly status: number }
  | { readonly said: 'counts'; readonly thread: string; readonly counts: Readonly<Record<string, UpstreamCounts>> }

export class SharedHealth {
  readonly #channel: BroadcastChannel
  readonly #upstreams: () => ReadonlyMap<string, NamedUpstream>
  readonly #thread = randomUUID()
  readonly #others = new Map<string, Readonly<Record<string, UpstreamCounts>>>()
  #timer: NodeJS.Timeout | null = null
  #isClosed = false

  /** `group` is the same in the threads of one service, and in no other. */
  constructor(group: string, upstreams: () => ReadonlyMap<string, NamedUpstream>) {
    this.#upstreams = upstreams
    this.#channel = new BroadcastChannel(`svc-upstreams-${group}`)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- only here the message has its type
    this.#channel.onmessage = ({ data }) => this.#take(data)
    this.#channel.unref()
  }

  rests(upstream: string, model: string, until: number | null, status: number): void {
    this.#say({ said: 'rests', upstream, model, until, status })
  }

  counted(): void {
    this.#timer ??= setTimeout(() => this.#tellCounts(), TELL_MS).unref()
  }

  /** Of the other threads. */
  countsOf(upstream: string): readonly UpstreamCounts[] {
    return [...this.#others.values()].flatMap(({ [upstream]: counts }) => counts ?? [])
  }

  close(): void {
    if (this.#timer !== null) this.#tellCounts()
    this.#isClosed = true
    this.#channel.close()
  }

  #tellCounts(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const counts = Object.fromEntries([...this.#upstreams()].map(([name, upstream]) => [name, upstream.counts]))
    this.#say({ said: 'counts', thread: this.#thread, counts })
  }

  /** Calls that are cut off by the end of this thread say nothing of their upstream. */
  #say(news: News): void {
    if (this.#isClosed) return
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the channel is one of threads, not of windows
    this.#channel.postMessage(news)
  }

  #take(news: News): void {
    if (news.said === 'rests') this.#upstreams().get(news.upstream)?.breakers.take(news.model, news.until, news.status)
    else this.#others.set(news.thread, news.counts)
  }
}
