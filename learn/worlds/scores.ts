/** Scores between 0 and 1: the share of an answer that is right. */
import { draw } from '../../plugins/runtimes/practice/draw.ts'
import { pupil, spread, ticketOf, waysTo, type PupilTask } from './pupil.ts'
import { created, rule, TASKS, worldOf, type World } from './world.ts'

const SENTENCES = ['Fill in the form from the bottom up.', 'Begin a form with its last field.']
const PARTS = 10

const LOOKS = 'Repeat the heading of every field.'
const WORKS = 'Leave a field open until its note is read.'
/** A part of the tasks gains much and the others lose a little; or the other way around. */
const RARE = 0.3
const FINE_PARTS = 25
const [LITTLE, MUCH] = [0.04, 0.55]

/** One throw moves the share by one part at most. */
const fineLuck = (_task: PupilTask, _moment: unknown, session: string, part: number): number => (part + draw(session)) / FINE_PARTS

const shareRight = (line: string, answer: string): number => {
  const [said, wanted] = [line.split(' '), answer.split(' ')]
  return said.length > wanted.length ? 0 : wanted.filter((word, part) => said[part] === word).length / wanted.length
}

export const SCORE_WORLDS: Readonly<Record<string, (seed: string) => World>> = {
  'continuous-scores': (seed) => {
    const tasks = Array.from({ length: TASKS }, (_, at): PupilTask => {
      const task = ticketOf(seed, at, undefined, PARTS)
      return { ...task, chance: (holds) => spread(task, holds('form') ? 0.7 : 0.5, 0.4) }
    })
    const model = pupil({ tasks, lessons: { form: SENTENCES } })
    return worldOf(seed, tasks, { start: [], good: waysTo('form', SENTENCES), scoreOf: shareRight, model })
  },

  /** The decoy is better on most tasks and worse in the mean, the fix the other way around. */
  'skewed-scores': (seed) => {
    const tasks = Array.from({ length: TASKS }, (_, at): PupilTask => {
      const task = ticketOf(seed, at, undefined, FINE_PARTS)
      const isRare = draw(seed, 'rare', String(at)) < RARE
      const before = isRare ? 0.3 : 0.6
      const [gained, lost] = isRare ? [MUCH, -0.25] : [-LITTLE, LITTLE]
      return { ...task, chance: (holds) => before + (holds('works') ? gained : 0) + (holds('looks') ? lost : 0) }
    })
    const model = pupil({ tasks, lessons: { works: [WORKS], looks: [LOOKS] }, luckOf: fineLuck })
    const decoys = [[created(rule('decoy-heading', LOOKS))]]
    return worldOf(seed, tasks, { start: [], good: waysTo('works', [WORKS]), decoys, scoreOf: shareRight, model })
  },
}
