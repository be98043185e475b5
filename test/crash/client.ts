/** What all clients of a crash test share: a label for what they choose, and what they do with an answer that no client may get. */
import type { JsonObject } from '../../src/contract/index.ts'
import { ask, type Ask, type Heard } from './http.ts'
import type { Trigger } from './ordeal.ts'
import type { Random } from './random.ts'

/** One client's part in one life of the service. */
export interface Part {
  /** Ids and marks that the client chooses begin with it. */
  readonly label: string
  readonly random: Random
  readonly trigger: Trigger
}

/** `surprises` are answers that no client may get. */
export class CrashClient<B extends { readonly surprises: string[] }, P extends Part = Part> {
  readonly #address: string
  protected readonly book: B
  protected readonly part: P
  #count = 0

  constructor(address: string, book: B, part: P) {
    this.#address = address
    this.book = book
    this.part = part
  }

  protected get random(): Random {
    return this.part.random
  }

  /** Whether the service is being killed: from then on an answer may break off. */
  protected get isOver(): boolean {
    return this.part.trigger.isOver
  }

  protected newId(): string {
    this.#count += 1
    return `${this.part.label}.${this.#count}`
  }

  protected get(path: string): Promise<Heard> {
    return this.ask({ method: 'GET', path })
  }

  protected post(path: string, body: JsonObject, scenario?: string): Promise<Heard> {
    return this.ask({ method: 'POST', path, body, ...(scenario !== undefined && { scenario }) })
  }

  protected ask(what: Ask): Promise<Heard> {
    return ask(this.#address, what)
  }

  /** Nothing these clients send deserves a refusal, and no answer may break off before the kill. */
  protected refused(what: string, heard: Heard): void {
    if (!heard.isWhole && this.isOver) return
    const how = heard.isWhole ? `answered with ${heard.status}` : `cut off, after status ${heard.status}`
    this.surprise(`${what} was ${how}: ${heard.text.slice(0, 300)}`)
  }

  protected surprise(what: string): void {
    this.book.surprises.push(what)
    this.part.trigger.now()
  }

  protected acknowledged(): void {
    this.part.trigger.happened('acknowledged')
  }
}
