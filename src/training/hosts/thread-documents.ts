/** Shared documents for trainers: their thread or process asks, and the thread with the store answers. */
import type { DocumentKind, Documents, ListedDocument, SharedDocuments } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'
import type { DocumentPlace } from './host.ts'

type Asked = { [Name in keyof Documents]: { readonly name: Name; readonly args: Parameters<Documents[Name]> } }[keyof Documents]
type Answer = Uint8Array | boolean | readonly ListedDocument[] | null

export interface DocumentCall {
  readonly said: 'documents'
  readonly id: number
  /** Where more than one trainer asks. */
  readonly place?: DocumentPlace
  readonly kind: DocumentKind
  readonly asked: Asked
}
export type DocumentReply = { readonly ask: 'documents'; readonly id: number } & (
  | { readonly answer: Answer }
  | { readonly failure: string }
)

/** The inner side. A failure keeps its words alone. */
export class ThreadDocuments {
  readonly #send: (call: DocumentCall) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>()
  #calls = 0

  constructor(send: (call: DocumentCall) => void) {
    this.#send = send
  }

  of(place?: DocumentPlace): SharedDocuments {
    return (kind) => {
      const ask = (asked: Asked): Promise<Answer> => this.#ask({ ...(place !== undefined && { place }), kind, asked })
      return {
        read: async (...args) => bytesIn(await ask({ name: 'read', args })),
        write: async (...args) => (await ask({ name: 'write', args })) === true,
        append: async (...args) => void (await ask({ name: 'append', args })),
        move: async (...args) => (await ask({ name: 'move', args })) === true,
        remove: async (...args) => void (await ask({ name: 'remove', args })),
        list: async (...args) => listIn(await ask({ name: 'list', args })),
      }
    }
  }

  hear(reply: DocumentReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('answer' in reply) waiting?.resolve(reply.answer)
    else waiting?.reject(new Error(reply.failure))
  }

  #ask(call: Omit<DocumentCall, 'said' | 'id'>): Promise<Answer> {
    this.#calls += 1
    const waiting = Promise.withResolvers<Answer>()
    this.#waiting.set(this.#calls, waiting)
    this.#send({ said: 'documents', id: this.#calls, ...call })
    return waiting.promise
  }
}

const bytesIn = (answer: Answer): Uint8Array | null => (answer instanceof Uint8Array ? answer : null)
const listIn = (answer: Answer): readonly ListedDocument[] =>
  typeof answer === 'object' && answer !== null && !(answer instanceof Uint8Array) ? answer : []

/** The outer side. Always answers. */
export async function answerCall({ id, kind, asked }: DocumentCall, open: SharedDocuments): Promise<DocumentReply> {
  try {
    return { ask: 'documents', id, answer: (await perform(open(kind), asked)) ?? null }
  } catch (error) {
    return { ask: 'documents', id, failure: wordsOf(error) }
  }
}

function perform(documents: Documents, asked: Asked): Promise<Answer | void> {
  if (asked.name === 'read') return documents.read(...asked.args)
  if (asked.name === 'write') return documents.write(...asked.args)
  if (asked.name === 'append') return documents.append(...asked.args)
  if (asked.name === 'move') return documents.move(...asked.args)
  return asked.name === 'remove' ? documents.remove(...asked.args) : documents.list(...asked.args)
}
