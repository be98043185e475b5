/** An answer that is more than this service holds. */
import { upstream, type Refusal } from '../contract/index.ts'

const CODE = 'answer_too_large'

export function answerTooLarge(bytesMax: number): Refusal {
  return upstream(CODE, `the answer is longer than ${bytesMax} bytes (inference.max_answer_bytes); raise that, or ask for less`)
}

export const isAnswerTooLarge = (error: unknown): error is Refusal => error instanceof Error && 'code' in error && error.code === CODE
