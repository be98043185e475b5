/** Several things are missing at once, or one change both helps and hurts. */
import { draw } from '../../plugins/runtimes/practice/draw.ts'
import { pupil, spread, ticketOf, waysTo, type PupilTask } from './pupil.ts'
import { changed, rule, TASKS, worldOf, type World } from './world.ts'

const FILE_STEPS = {
  find: 'Search the folder before you open a file.',
  edit: 'Copy the line before you change it.',
  test: 'Run the checks after every edit.',
}
/** The chance of one step without and with its lesson; a task takes all three. */
const [UNSURE, SURE] = [0.7, 0.96]

const GAPS = { units: 'Ask for the unit of every amount.', rate: 'Take the rate of the day before.' }
/** The chance with none of them, one and both. */
const LEVELS = [0.35, 0.39, 0.72]

const SHORT = 'Skip the first page of every form.'
const SCOPED = 'Skip the first page of every form, but not of a permit.'
/** What the change makes of a task that it helps, and of one that it hurts. */
const [HELPED, HURT] = [0.8, 0.3]
const HELPED_SHARE = 0.7

export const GAP_WORLDS: Readonly<Record<string, (seed: string) => World>> = {
  'file-work': (seed) => {
    const names = Object.keys(FILE_STEPS)
    const tasks = Array.from({ length: TASKS }, (_, at): PupilTask => {
      const task = ticketOf(seed, at)
      const files = { 'ledger/index.txt': `see ledger/${at}.txt\n`, [`ledger/${at}.txt`]: 'code = unset\n' }
      return { ...task, files, chance: (holds) => names.reduce((chance, name) => chance * (holds(name) ? SURE : UNSURE), 1) }
    })
    const lessons = Object.fromEntries(Object.entries(FILE_STEPS).map(([name, sentence]) => [name, [sentence]]))
    const good = Object.entries(FILE_STEPS).flatMap(([name, sentence]) => waysTo(name, [sentence]))
    return worldOf(seed, tasks, { start: [], good, best: good.flat(), model: pupil({ tasks, lessons }) })
  },

  /** Neither change is worth much without the other. */
  'interacting-gaps': (seed) => {
    const tasks = Array.from({ length: TASKS }, (_, at): PupilTask => {
      const task = ticketOf(seed, at)
      const lift = spread(task, 0, 0.3)
      return { ...task, chance: (holds) => (LEVELS[Number(holds('units')) + Number(holds('rate'))] ?? 0) + lift }
    })
    const single = Object.entries(GAPS).flatMap(([name, sentence]) => waysTo(name, [sentence]))
    const lessons = Object.fromEntries(Object.entries(GAPS).map(([name, sentence]) => [name, [sentence]]))
    return worldOf(seed, tasks, { start: [], good: [...single, single.flat()], best: single.flat(), model: pupil({ tasks, lessons }) })
  },

  /** Helps 70 % of the tasks and hurts 30 %; a narrower one only helps. */
  'mixed-effect': (seed) => {
    const tasks = Array.from({ length: TASKS }, (_, at): PupilTask => {
      const isHelped = draw(seed, 'helped', String(at)) < HELPED_SHARE
      const task = ticketOf(seed, at, isHelped ? undefined : 'permit')
      const before = spread(task, 0.48, 0.2)
      return {
        ...task,
        chance: (holds) => (isHelped && (holds('short') || holds('scoped')) ? HELPED : !isHelped && holds('short') ? HURT : before),
      }
    })
    const model = pupil({ tasks, lessons: { short: [SHORT], scoped: [SCOPED] } })
    const good = [SHORT, SCOPED].map((sentence) => [changed(rule('forms', sentence))])
    return worldOf(seed, tasks, { start: [rule('forms', 'Read every form.')], good, model })
  },
}
