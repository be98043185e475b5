/**
 * Puts exchanges together that are one conversation: agents send what was said before with every call, so the next request of a conversation
 * begins with the steps of the one before. Memory is bounded: the conversations that rested longest are given up.
 */
import { hash } from 'node:crypto'
import type { JsonObject } from '../contract/index.ts'
import { SESSION_TAG } from '../contract/index.ts'
import { tagsIn } from '../dialects/index.ts'
import { stepsIn, type SessionStep } from './steps.ts'

export interface Thread {
  /** The tag of the client, where it sent one. */
  readonly session: string | null
  /** Its exchanges in their order, each with how many of the steps it was asked with. */
  readonly exchanges: readonly { readonly id: string; readonly asked: number }[]
  /** Of the last exchange, which holds those of the others, with its answer. */
  readonly steps: readonly SessionStep[]
  /** Where the agent worked; null where it did not say. */
  readonly folder: string | null
  /** Whether the same conversation was begun again later. */
  readonly isBegunAgain: boolean
}

interface OpenThread extends Thread {
  readonly key: string
  readonly prints: readonly string[]
  readonly bytes: number
}

const BYTES_MAX = 256 * 1024 * 1024

export class Threads {
  readonly #bytesMax: number
  /** Those that rested longest first. */
  readonly #all = new Set<OpenThread>()
  readonly #latest = new Map<string, OpenThread>()
  #bytes = 0

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  add(id: string, payload: JsonObject): void {
    const { asked, answered, hasTools, folder } = stepsIn(payload)
    const first = asked.find(({ by }) => by === 'person')
    if (first === undefined) return
    const session = sessionIn(payload)
    const key = `${session ?? ''}\0${hasTools}\0${printOf(first)}`
    const prints = asked.map(printOf)
    const before = this.#latest.get(key)
    const goesOn = before !== undefined && prints.length > before.prints.length && before.prints.every((print, at) => print === prints[at])
    if (before !== undefined) this.#remove(before)
    if (before !== undefined && !goesOn) this.#put({ ...before, isBegunAgain: true })
    const steps = [...asked, ...answered]
    const exchanges = [...(goesOn ? before.exchanges : []), { id, asked: asked.length }]
    const thread = { session, exchanges, steps, folder, isBegunAgain: false, key, prints, bytes: bytesOf(steps) }
    this.#put(thread)
    this.#latest.set(key, thread)
    for (const oldest of this.#all) {
      if (this.#bytes <= this.#bytesMax || oldest === thread) break
      this.#remove(oldest)
    }
  }

  all(): readonly Thread[] {
    return [...this.#all]
  }

  #put(thread: OpenThread): void {
    this.#all.add(thread)
    this.#bytes += thread.bytes
  }

  #remove(thread: OpenThread): void {
    if (this.#all.delete(thread)) this.#bytes -= thread.bytes
    if (this.#latest.get(thread.key) === thread) this.#latest.delete(thread.key)
  }
}

function sessionIn(payload: JsonObject): string | null {
  const { [SESSION_TAG]: session } = tagsIn(payload)
  return typeof session === 'string' && session.trim() !== '' ? session : null
}

const printOf = (step: SessionStep): string => hash('sha1', JSON.stringify(step))

const bytesOf = (steps: readonly SessionStep[]): number => steps.reduce((sum, step) => sum + JSON.stringify(step).length, 0)
