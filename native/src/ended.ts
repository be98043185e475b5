/** How a turn ends: thrown from wherever it is found out, and caught once, where the turn was begun. */

export type EndReason = 'completed' | 'gave_up' | 'max-steps' | 'max-tool-calls' | 'rejected' | 'ask' | 'turn-timeout' | 'error'
export type ErrorCode = 'MODEL_ERROR' | 'LOAD_ERROR' | 'GRAPH_ERROR' | 'LOOP_ERROR' | 'TURN_ERROR'

export class TurnEnded extends Error {
  override readonly name = 'TurnEnded'
  readonly reason: EndReason
  /** Of an error. */
  readonly code: ErrorCode | null

  constructor(reason: EndReason, message: string, code: ErrorCode | null = null) {
    super(message)
    this.reason = reason
    this.code = code
  }
}

export const failed = (code: ErrorCode, message: string): TurnEnded => new TurnEnded('error', message, code)
