/** Tasks that are alike: each change, even one that means nothing, moves all tasks of a family together. */
import { draw } from '../../plugins/runtimes/practice/draw.ts'
import { pupil, spread, ticketOf, waysTo, type PupilTask } from './pupil.ts'
import { worldOf, type World, type WorldTask } from './world.ts'

const SENTENCES = ['Read the last digit of the ledger first.', 'Start with the last digit in the ledger.']
const [BEFORE, AFTER] = [0.4, 0.75]
/** Train, gate and sealed tasks come from different families: what helps one of them by luck helps no other. */
const ALIKE = 3
const GATE_TASKS = 30
const FAMILY_TASKS = 12 + GATE_TASKS + 42

const familyTasks = (seed: string): readonly PupilTask[] =>
  Array.from({ length: FAMILY_TASKS }, (_, at) => {
    const family = `family-${Math.floor(at / ALIKE) + 1}`
    const task: WorldTask = { ...ticketOf(seed, at, family), family }
    const lift = spread({ prompt: `${seed} ${family}`, answer: '' }, 0, 0.3)
    return { ...task, chance: (holds) => (holds('ledger') ? AFTER : BEFORE) + lift }
  })

const alike = (seed: string, more: Partial<Parameters<typeof pupil>[0]>): World => {
  const tasks = familyTasks(seed)
  const model = pupil({ tasks, lessons: { ledger: SENTENCES }, ...more })
  return worldOf(seed, tasks, { start: [], good: waysTo('ledger', SENTENCES), model }, GATE_TASKS)
}

/** How often a change throws the coin of a family again. */
const AGAIN = 0.4
/** How far a change moves a family. */
const SWAY = 0.3

export const ALIKE_WORLDS: Readonly<Record<string, (seed: string) => World>> = {
  /** The plays of a task always agree, and so do the tasks of a family. */
  'families-settled': (seed) =>
    alike(seed, {
      luckOf({ family = '' }, { tree }, session) {
        if (tree === '') return draw(session)
        return draw(seed, tree, family, 'again') < AGAIN ? draw(seed, tree, family) : draw(seed, family)
      },
    }),

  'families-noisy': (seed) =>
    alike(seed, { bend: (chance, { family = '' }, { tree }) => (tree === '' ? chance : chance + (draw(seed, tree, family) - 0.5) * SWAY) }),
}
