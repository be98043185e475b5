/** Those who use the writer: the thread that opened the store, and the threads that joined it. Each has a port. */
import type { MessagePort } from 'node:worker_threads'
import type { StoreChange } from '../../../../src/contract/index.ts'
import type { Answered, ReceivedGroup } from './answers.ts'
import { Changes } from './changes.ts'
import type { Notice, StoreReply } from '../messages/wire.ts'

/** Records of others are told this late at most, and together: under load each transaction would else be a message to every thread. */
const APPENDED_LATE_MS = 20

export class StoreMembers {
  /** With what each was not told yet. */
  readonly #untold = new Map<MessagePort, Changes>()
  #telling: NodeJS.Timeout | null = null

  ports(): Iterable<MessagePort> {
    return this.#untold.keys()
  }

  add(port: MessagePort): void {
    this.#untold.set(port, new Changes())
  }

  drop(port: MessagePort): void {
    this.#untold.delete(port)
  }

  post(notice: Notice): void {
    for (const port of this.#untold.keys()) port.postMessage(notice)
  }

  /** Each group at its own port, in the order received. Who asked hears of the changes with the first answer. */
  answer(groups: readonly ReceivedGroup[], { answers, changes }: Answered): void {
    const askers = new Set<MessagePort>()
    for (const [index, { from }] of groups.entries()) {
      const news = askers.has(from) ? [] : this.#newsFor(from, changes)
      askers.add(from)
      const reply: StoreReply = { answers: answers[index] ?? [], ...(news.length > 0 && { changes: news }) }
      from.postMessage(reply, [])
    }
    if (changes.length === 0 || askers.size === this.#untold.size) return
    for (const [port, untold] of this.#untold) if (!askers.has(port)) this.#note(port, untold, changes)
  }

  close(): void {
    if (this.#telling !== null) clearTimeout(this.#telling)
    for (const [port, untold] of this.#untold) {
      tell(port, untold)
      port.close()
    }
  }

  #newsFor(port: MessagePort, changes: readonly StoreChange[]): readonly StoreChange[] {
    const before = this.#untold.get(port)?.take() ?? []
    return before.length === 0 ? changes : [...before, ...changes]
  }

  /** In order: what cannot wait takes along what could. */
  #note(port: MessagePort, untold: Changes, changes: readonly StoreChange[]): void {
    for (const change of changes) {
      if (change.kind === 'appended') for (const type of change.types) untold.appended(change.scenario, type)
      else untold.add(change)
    }
    if (changes.some(({ kind }) => kind !== 'appended')) return tell(port, untold)
    this.#telling ??= setTimeout(() => {
      this.#telling = null
      for (const [each, waiting] of this.#untold) tell(each, waiting)
    }, APPENDED_LATE_MS)
  }
}

function tell(port: MessagePort, untold: Changes): void {
  const changes = untold.take()
  if (changes.length > 0) port.postMessage({ changes } satisfies Notice)
}
