/** What the screen finds, and where. */
import type { Power } from '../../contract/index.ts'

export interface ProseFinding {
  readonly power: Power
  /** Completes "it holds …" or "it speaks of …", as a clause of its own. */
  readonly why: string
  /** The lines that it is found in, the last included. */
  readonly from: number
  readonly to: number
}

export const at = (line: number, power: Power, why: string, from = line): ProseFinding => ({ power, why, from, to: line })
