/** The ground moves: graders that are silent or change their mind, a model that changes behind its name, outages. */
import { pupil, spread, ticketOf, waysTo, type PupilTask } from './pupil.ts'
import { TASKS, worldOf, type World } from './world.ts'

const SENTENCES = ['Check the stamp before the date.', 'The stamp counts more than the date.']
const [BEFORE, AFTER] = [0.4, 0.75]

const disturbed = (seed: string, more: Partial<World>, bend?: Parameters<typeof pupil>[0]['bend']): World => {
  const tasks = Array.from({ length: TASKS }, (_, at): PupilTask => {
    const task = ticketOf(seed, at)
    return { ...task, chance: (holds) => spread(task, holds('stamp') ? AFTER : BEFORE, 0.4) }
  })
  const model = pupil({ tasks, lessons: { stamp: SENTENCES }, ...(bend !== undefined && { bend }) })
  return worldOf(seed, tasks, { start: [], good: waysTo('stamp', SENTENCES), model, ...more })
}

/** Times in episodes. */
const MOVES_AFTER = 50
const OUTAGE = { every: 70, after: 25, length: 12 }
const LENIENT = 0.4
/** What the newer model does of what the older one failed. */
const NEWER = 0.35

export const DISTURBED_WORLDS: Readonly<Record<string, (seed: string) => World>> = {
  'silent-grader': (seed) => disturbed(seed, { flakiness: { silent: 0.2, wrong: 0 } }),

  /** From then on it lets two of five wrong answers pass. */
  'moving-grader': (seed) =>
    disturbed(seed, { regrade: (score, luck, episode) => (isMoved(episode) && score === 0 && luck < LENIENT ? 1 : score) }),

  'changing-model': (seed) => disturbed(seed, {}, (chance, _, { episode }) => (isMoved(episode) ? chance + (1 - chance) * NEWER : chance)),

  outages: (seed) =>
    disturbed(seed, {
      isOut: (episode) => episode % OUTAGE.every >= OUTAGE.after && episode % OUTAGE.every < OUTAGE.after + OUTAGE.length,
    }),
}

/** Back and forth, and for good at the end. */
const isMoved = (episode: number): boolean => episode === Infinity || (Math.floor(episode / MOVES_AFTER) + 1) % 3 !== 1
