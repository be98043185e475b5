/** What the clients sent and heard, and every row as it was first read: none of it may ever become untrue. */
import type { JsonObject } from '../../../src/contract/index.ts'
import { NAMES, type Name } from './cast.ts'
import type { Row } from './seen.ts'

export interface Sent {
  readonly id: string
  readonly route: '/svc/report' | '/svc/train'
  readonly body: JsonObject
  /** False: nobody heard of it, and it is sent again after the restart. */
  isKept: boolean
}

class Life {
  readonly sent: Sent[] = []
  /** Ids of the proposals that were admitted. One whose answer nobody heard may be in the inbox or not. */
  readonly admitted: string[] = []
  /** Oldest first. */
  rows: readonly Row[] = []
}

export class Book {
  readonly lives: Readonly<Record<Name, Life>> = { careful: new Life(), eager: new Life() }
  /** Answers that no client may get. */
  readonly surprises: string[] = []

  get acknowledged(): number {
    return NAMES.reduce((sum, name) => sum + this.lives[name].sent.filter(({ isKept }) => isKept).length, 0)
  }

  get admitted(): number {
    return NAMES.reduce((sum, name) => sum + this.lives[name].admitted.length, 0)
  }
}
