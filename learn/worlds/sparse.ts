/** Changes that matter to few tasks: one kind of many, and a long tail of kinds. */
import { draw } from '../../plugins/runtimes/practice/draw.ts'
import { pupil, ticketOf, waysTo, type PupilTask } from './pupil.ts'
import { TRAIN_TASKS, worldOf, type World } from './world.ts'

const GATE_TASKS = 30
const COUNT = TRAIN_TASKS + GATE_TASKS + 40

const SENTENCES = ['Count the seals on foreign parcels.', 'On a foreign parcel the number of seals decides.']
/** One of this many tasks is about it. */
const ONE_OF = 5
const SOLVED = 0.6

/** The kinds of the tail with their shares, the first the most common. */
const KINDS = ['amber', 'birch', 'cedar', 'dune', 'elm', 'fern'] as const
const SHARES = [0.3, 0.2, 0.17, 0.13, 0.11, 0.09]
const sentenceOf = (kind: string): string => `The ${kind} desk wants the second column.`
const [UNKNOWN, KNOWN] = [0.25, 0.9]

export const SPARSE_WORLDS: Readonly<Record<string, (seed: string) => World>> = {
  'sparse-gains': (seed) => {
    const tasks = Array.from({ length: COUNT }, (_, at): PupilTask => {
      const isForeign = at % ONE_OF === 0
      const task = ticketOf(seed, at, isForeign ? 'foreign parcel' : undefined)
      const isSolved = draw(seed, 'solved', task.prompt) < SOLVED
      return { ...task, chance: (holds) => (isForeign ? (holds('seals') ? 0.97 : 0.03) : isSolved ? 0.97 : 0.03) }
    })
    const model = pupil({ tasks, lessons: { seals: SENTENCES } })
    return worldOf(seed, tasks, { start: [], good: waysTo('seals', SENTENCES), model }, GATE_TASKS)
  },

  'long-tail': (seed) => {
    const tasks = Array.from({ length: COUNT }, (_, at): PupilTask => {
      const kind = kindAt(seed, at)
      return { ...ticketOf(seed, at, kind), chance: (holds) => (holds(kind) ? KNOWN : UNKNOWN) }
    })
    const lessons = Object.fromEntries(KINDS.map((kind) => [kind, [sentenceOf(kind)]]))
    const good = KINDS.flatMap((kind) => waysTo(kind, [sentenceOf(kind)]))
    return worldOf(seed, tasks, { start: [], good, best: good.flat(), model: pupil({ tasks, lessons }) }, GATE_TASKS)
  },
}

/** Spread evenly over the tasks, so that each split has every kind. */
function kindAt(seed: string, at: number): string {
  const place = (at * GOLDEN + draw(seed, 'place')) % 1
  let below = 0
  for (const [index, kind] of KINDS.entries()) {
    below += SHARES[index] ?? 0
    if (place < below) return kind
  }
  return KINDS[0]
}
const GOLDEN = 0.618_033_988_75
