/** From a problem to a reply: which slip happens, what harmful rules do to the value, and how the answer is worded. */
import { draw, drawOne } from './draw.ts'
import type { Problem } from './families/index.ts'
import type { LessonName, Fix } from './lessons.ts'

/** What decides an answer: the task, the lessons held, and how often a held lesson is ignored. */
export interface Mind {
  readonly task: string
  readonly lessons: ReadonlySet<LessonName>
  /** From 0 (a held lesson always works) to 1 (lessons do nothing). */
  readonly noise: number
}

/** How likely a bare model makes a slip of its family, and how likely it buries the answer in prose. */
const SLIP_CHANCE = 0.6
const BURIED_CHANCE = 0.3
const CLOSING_CHANCE = 0.8
/** In a hurry, it forgets what it learned this often. */
const HURRY_CHANCE = 0.6

/**
 * Whether a flaw shows. One draw per task and flaw decides, whatever the lessons: so teaching a lesson can only remove flaws, and a
 * rule about something else changes nothing.
 */
export function slipsUp(mind: Mind, lesson: Fix, chance: number = lesson === 'answer-line' ? BURIED_CHANCE : SLIP_CHANCE): boolean {
  const isHurried = mind.lessons.has('hurry') && draw(mind.task, 'hurry', lesson) < HURRY_CHANCE
  const learned = mind.lessons.has(lesson) && !isHurried
  return draw(mind.task, lesson) < (learned ? chance * mind.noise : isHurried ? (1 + chance) / 2 : chance)
}

/** The value without a tool. */
export function workOut(problem: Problem, mind: Mind, known: string): string {
  const fact = problem.find?.(known) ?? null
  if (fact !== null) return fact
  const [first, ...others] = problem.slips
  if (first === undefined) return problem.right
  // A task tempts to one slip only, so that each lesson of a family pays by itself.
  const slip = drawOne([first, ...others], mind.task, 'temptation')
  return slipsUp(mind, slip.lesson) ? slip.wrong : problem.right
}

/** What harmful rules make of a value. */
export function spoil(value: string, lessons: ReadonlySet<LessonName>): string {
  let spoiled = value
  if (lessons.has('rounding')) spoiled = spoiled.replaceAll(/\d+/g, (digits) => (digits.length > 1 ? rounded(digits) : digits))
  if (lessons.has('one-word')) spoiled = spoiled.split(/\s+/)[0] ?? spoiled
  if (lessons.has('capitals')) spoiled = spoiled.toUpperCase()
  return spoiled
}

const rounded = (digits: string): string => String(Math.round(Number(digits) / 10) * 10)

/** The reply around the value: alone on its last line when the model does as it should. */
export function say(value: string, mind: Mind): string {
  if (slipsUp(mind, 'answer-line')) return bury(value, mind.task)
  const lead = drawOne(['Let me work that out.', 'Here is what I get.', 'I worked it out.'], mind.task, 'lead')
  const reply = `${lead}\n${value}`
  // With rules for both endings, it does either.
  const chance = mind.lessons.has('answer-line') ? CLOSING_CHANCE / 2 : CLOSING_CHANCE
  const isClosed = mind.lessons.has('closing') && draw(mind.task, 'closing') < chance
  return isClosed ? `${reply}\nLet me know if there is anything else I can do for you!` : reply
}

const bury = (value: string, task: string): string =>
  drawOne(
    [
      `I believe it comes to ${value}, although you may want to check that.`,
      `Well, that would be ${value}, I think.`,
      `So the answer should be ${value}, give or take.`,
    ],
    task,
    'buried',
  )
