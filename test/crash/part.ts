/** What every client of a crash test is told: who it is, and how it hears that its service is gone. */
import type { Random } from './random.ts'

/** One client's part in one life of the service. */
export interface Part {
  /** What it chooses by itself (ids, marks) begins with it. */
  readonly label: string
  readonly random: Random
  /** Whether the service has been killed: from then on an answer may break off. */
  readonly isOver: () => boolean
  readonly onAcknowledged: () => void
  readonly onSurprise: () => void
}
