/** A scripted model whose chance on each task is known: it holds the lessons whose sentences stand in its texts. */
import { digest, draw, drawInteger, drawOne } from '../../plugins/runtimes/practice/draw.ts'
import { HARMS } from '../../plugins/runtimes/practice/lessons.ts'
import type { AgentModel, Setup } from '../agent.ts'
import { created, rule, type Moment, type World, type WorldTask } from './world.ts'

/** A task and the chance of the model on it, by the lessons it holds. */
export interface PupilTask extends WorldTask {
  chance(holds: (lesson: string) => boolean): number
}

interface Pupil {
  readonly tasks: readonly PupilTask[]
  /** By name: sentences that teach it. */
  readonly lessons: Readonly<Record<string, readonly string[]>>
  /** What else the chance depends on: the moment, and luck of the tree. */
  readonly bend?: (chance: number, task: PupilTask, moment: Moment) => number
  /** From 0 up to 1: a part of the answer is right when it is below the chance. Absent: new in every session. */
  readonly luckOf?: (task: PupilTask, moment: Moment, session: string, part: number) => number
}

/** A rule that does harm leaves this share of every chance. */
const HARMED = 0.6

export function pupil({ tasks, lessons, bend, luckOf }: Pupil): NonNullable<World['model']> {
  const byPrompt = new Map(tasks.map((task) => [task.prompt, task]))
  const chanceOf = (setup: Setup, task: PupilTask, moment: Moment): number => {
    const texts = [setup.rules, ...setup.skills].join('\n')
    const chance = task.chance((lesson) => lessons[lesson]?.some((sentence) => texts.includes(sentence)) ?? false)
    const bent = bend === undefined ? chance : bend(chance, task, moment)
    return HARMS.some(({ wording }) => texts.includes(wording[0])) ? bent * HARMED : bent
  }
  return (moment): AgentModel => ({
    reply(setup, prompt, _, session) {
      const task = byPrompt.get(prompt)
      if (task === undefined) return 'That is beyond me.'
      const chance = chanceOf(setup, task, moment)
      const luck = (part: number): number => luckOf?.(task, moment, session, part) ?? draw(session, String(part))
      const said = task.answer.split(' ').map((word, part) => (luck(part) < chance ? word : wrongly(word)))
      return `I looked into it.\n${said.join(' ')}`
    },
    guesses(prompt) {
      const answer = byPrompt.get(prompt)?.answer
      return answer === undefined ? undefined : { right: answer, wrong: [wrongly(answer)] }
    },
  })
}

const wrongly = (text: string): string => text.replaceAll(/\d/g, (digit) => String((Number(digit) + 5) % 10))

/** Ways to teach a lesson, each a change of its own. */
export const waysTo = (lesson: string, sentences: readonly string[]): World['good'] =>
  sentences.map((sentence, index) => [created(rule(`good-${lesson}-${index + 1}`, sentence))])

const DESKS = [
  'billing',
  'harbour',
  'archive',
  'garden',
  'freight',
  'library',
  'clinic',
  'rail',
  'water',
  'market',
  'post',
  'works',
] as const
const THINGS = [
  'lantern',
  'kite',
  'drum',
  'bridge',
  'engine',
  'barrel',
  'ladder',
  'compass',
  'anchor',
  'mirror',
  'hammer',
  'candle',
] as const

/** The task number `at` of a desk; its answer cannot be guessed. */
export function ticketOf(seed: string, at: number, desk: string = drawOne(DESKS, seed, 'desk', String(at)), parts = 1): WorldTask {
  const salt = [seed, 'ticket', String(at)]
  const things = ['one', 'two', 'three'].map((name) => drawOne(THINGS, ...salt, name))
  const codes = Array.from({ length: parts }, (_, part) => String(drawInteger(1000, 9999, ...salt, 'code', String(part))))
  return { prompt: `${digest(...salt).slice(0, 8)} at the ${desk} desk: what settles ${things.join(', ')}?`, answer: codes.join(' ') }
}

/** A number of the task's own, so that tasks are not equally hard. */
export const spread = (task: WorldTask, middle: number, width: number): number => middle + (draw(task.prompt, 'hard') - 0.5) * width
