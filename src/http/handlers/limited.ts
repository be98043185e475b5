/** A request within the limits of its token and its scenario. */
import type { ExchangeSummary } from '../../contract/index.ts'
import { limitedToken } from '../credentials/auth.ts'
import type { HttpContext } from '../context.ts'
import { clientSignal } from '../response-stream.ts'
import type { TrafficServices } from '../services.ts'

/** What came back, for those who count it. */
export interface CallAnswered {
  readonly summary: Pick<ExchangeSummary, 'model' | 'input_tokens' | 'output_tokens'>
  readonly askedBytes: number
  readonly answeredBytes: number
  /** False where the answer broke off. */
  readonly isWhole: boolean
}

/** When it is the scenario's turn at the upstream. */
export async function inTurn(
  { services, response }: HttpContext<TrafficServices>,
  scenario: string,
  work: () => Promise<void>,
): Promise<void> {
  const turn = services.limits.turn(scenario, () => clientSignal(response))
  if (turn === null) return work()
  const leave = typeof turn === 'function' ? turn : await turn
  try {
    await work()
  } finally {
    leave()
  }
}

/** What the work tells its limits. */
export interface LimitedCall {
  /** Its body is there. Throws where as many requests are in flight as may be. A promise where other services have to be asked. */
  readonly begin: () => Promise<void> | undefined
  readonly settle: (answered: CallAnswered) => void
}

export const UNLIMITED: LimitedCall = { begin: () => undefined, settle: () => undefined }

/** Refused before its body is read, where it would be refused now. The work says what its answer took; one that does not took nothing. Where it is free, its answer takes nothing that is counted. */
export async function withinLimits<T>(
  { services, principal, request }: HttpContext<TrafficServices>,
  scenario: string,
  work: (call: LimitedCall) => Promise<T>,
  isFree = false,
): Promise<T> {
  const bytes = isFree ? null : Number(request.headers['content-length'] ?? 0)
  const admitting = services.limits.admit(limitedToken(principal), scenario, bytes)
  if (admitting === null) return work(UNLIMITED)
  const admission = admitting instanceof Promise ? await admitting : admitting
  try {
    return await work({
      begin: () => admission.begin(),
      settle({ summary, ...answered }) {
        if (isFree) return
        const { model, input_tokens: inputTokens, output_tokens: outputTokens } = summary
        admission.settle({ model, inputTokens, outputTokens, ...answered })
      },
    })
  } finally {
    admission.leave()
  }
}
