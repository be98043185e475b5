/** A model call of an episode that a worker plays, under the caps of its step: held before it is sent, and counted when it is over. */
import { isRefusal, STEP_CAP, type EpisodeCallEnd, type EpisodeLease, type StepBudget, type StepBudgets } from '../../contract/index.ts'
import type { EpisodeQueue } from '../../fleet/index.ts'
import type { Call, Served } from '../../inference/index.ts'
import type { CallAnswered } from './limited.ts'

interface CappedCall {
  readonly fleet: EpisodeQueue
  readonly lease: EpisodeLease
  readonly budget: StepBudget
  readonly budgets: StepBudgets
  readonly call: Call
}

type Written = Omit<CallAnswered, 'askedBytes'>

export async function answerHeld(
  { fleet, lease, budget, budgets, call }: CappedCall,
  serve: () => Promise<Served>,
  write: (served: Served) => Promise<Written>,
): Promise<void> {
  const asked = { episode: lease.episode, dialect: call.dialect, body: call.request.pieces.joined() }
  const held = await budgets.hold(budget, asked, call.signal).catch(async (error: unknown) => {
    if (isRefusal(error) && error.code === STEP_CAP) await fleet.cut(lease, error.message)
    throw error
  })
  let end: EpisodeCallEnd = REFUSED
  try {
    const served = await serve()
    end = BROKEN
    const { summary, answeredBytes, isWhole } = await write(served)
    const { model = null, input_tokens: input = null, output_tokens: output = null } = summary
    end = { how: isWhole ? 'whole' : 'broken', model, input, output, answeredBytes }
  } catch (error) {
    // The upstream has read the question of a client that left, and charges for it.
    if (call.signal.aborted) end = BROKEN
    throw error
  } finally {
    const { counted, kept } = held.settle(end)
    fleet.called(lease, end.how === 'refused' ? null : counted, kept)
  }
}

const REFUSED: EpisodeCallEnd = { how: 'refused', model: null, input: null, output: null, answeredBytes: 0 }
const BROKEN: EpisodeCallEnd = { ...REFUSED, how: 'broken' }
