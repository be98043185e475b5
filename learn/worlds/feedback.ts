/** Reports that come late, or that say the wrong thing: the proposer works on what they call for. */
import { pupil, spread, ticketOf, waysTo, type PupilTask } from './pupil.ts'
import { TASKS, worldOf, type World } from './world.ts'

const KINDS = ['invoice', 'refund', 'notice'] as const
const sentenceOf = (kind: string): string => `A ${kind} is settled by its third line.`
const [UNKNOWN, KNOWN] = [0.35, 0.85]

const reported = (seed: string, reports: NonNullable<World['reports']>): World => {
  const tasks = Array.from({ length: TASKS }, (_, at): PupilTask => {
    const kind = KINDS[at % KINDS.length] ?? KINDS[0]
    const task = ticketOf(seed, at, kind)
    return { ...task, chance: (holds) => spread(task, holds(kind) ? KNOWN : UNKNOWN, 0.2) }
  })
  const lessons = Object.fromEntries(KINDS.map((kind) => [kind, [sentenceOf(kind)]]))
  const good = KINDS.flatMap((kind) => waysTo(kind, [sentenceOf(kind)]))
  return worldOf(seed, tasks, { start: [], good, best: good.flat(), topics: KINDS, reports, model: pupil({ tasks, lessons }) })
}

export const FEEDBACK_WORLDS: Readonly<Record<string, (seed: string) => World>> = {
  /** Reports of the tree that was served three steps before. */
  'delayed-feedback': (seed) => reported(seed, { delaySteps: 3, wrongChance: 0 }),
  /** Two of five reports say the opposite. */
  'ambiguous-feedback': (seed) => reported(seed, { delaySteps: 0, wrongChance: 0.4 }),
}
