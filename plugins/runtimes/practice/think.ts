/** The model itself: a prompt in, words or one tool call out. Pure: the same prompt always makes the same thought. */
import type { Tool } from '../../../src/dialects/index.ts'
import { say, slipsUp, spoil, workOut, type Mind } from './answer.ts'
import { type Family, type Problem, FAMILIES, TASK_CHARACTERS_MAX } from './families/index.ts'
import type { Prompt, Thought } from './prompt.ts'
import { propose } from './propose.ts'
import { heldLessons } from './rules.ts'
import { situationOf, type Situation, type Step } from './situation.ts'
import { skillsIn } from './skills.ts'
import { structured } from './structured.ts'
import { computeWish, forcedCall, skillWish, type Wish } from './tool-use.ts'

/** 'Reply with exactly: pong' and similar, by which people and clients check the connection. */
const REPEAT = [
  /\b(?:reply|respond|answer|say|repeat)\b[^"'`:\n]{0,60}?\b(?:exactly|only|just|after me)\b[^"'`:\n]{0,60}?[:"'`]([^"'`\n]+)/i,
  /\b(?:reply|respond|answer|say)\b.{0,60}?\b(?:exactly|only|just)(?: with)?(?: the words?)?\s+([\w-]+)[.!]?\s*$/i,
  /^\s*(?:say|repeat|echo)[: ]+["'`]?([^"'`\n]+?)["'`]?[.!]?\s*$/i,
]
const GREETING = /^\s*(?:hi|hello|hey|good (?:morning|evening|day)|ping)\b/i
const TOPICS = FAMILIES.map((family) => family.name.replace('-', ' ')).join(', ')
const QUOTED_CHARACTERS_MAX = 80

export function think(prompt: Prompt, noise: number): Thought {
  const situation = situationOf(prompt)
  const proposal = propose(situation)
  if (proposal !== null) return { kind: 'text', text: proposal, plain: false }
  // Small talk takes no lessons, and reading a long prompt for them takes time.
  const lessons: Mind['lessons'] = situation.found === null ? new Set() : heldLessons(situation.instructions, situation.fresh)
  const mind: Mind = { task: situation.task, lessons, noise }
  const tools = prompt.choice.kind === 'none' || mind.lessons.has('no-tools') ? [] : prompt.tools
  const wish = prompt.choice.kind === 'named' ? null : nextCall(situation, tools, mind)
  if (wish !== null) return { kind: 'call', tool: wish.tool, input: wish.input }
  const answer = settle(situation, tools, mind)
  const forced = forcedThought(prompt, answer.value)
  if (forced !== null) return forced
  if (prompt.format !== null) return { kind: 'text', text: structured(prompt.format.schema, answer.value), plain: false }
  return { kind: 'text', text: answer.text, plain: true }
}

/** The tool call to make next, or null when the model is ready to answer. */
function nextCall(situation: Situation, tools: readonly Tool[], mind: Mind): Wish | null {
  if (situation.found === null) return null
  const { family, problem } = situation.found
  const reading = readingWish(situation, tools, family)
  if (reading !== null) return reading
  const wish = wishFor(problem, tools, mind)
  return wish !== null && stepOf(situation, wish) === null ? wish : null
}

/** The first skill on the subject that was not read yet. */
function readingWish(situation: Situation, tools: readonly Tool[], family: Family): Wish | null {
  for (const skill of skillsIn(situation.instructions, tools)) {
    if (!family.topic.test(`${skill.name.replaceAll(/[-_]/g, ' ')} ${skill.description}`)) continue
    const wish = skillWish(tools, skill)
    if (wish !== null && stepOf(situation, wish) === null) return wish
  }
  return null
}

/** A bare model that has a shell still invents the output of a command now and then. */
function wishFor(problem: Problem, tools: readonly Tool[], mind: Mind): Wish | null {
  if (problem.needsTool === true && slipsUp(mind, 'use-tools')) return null
  return computeWish(tools, problem, mind.lessons.has('use-tools'))
}

const stepOf = (situation: Situation, wish: Wish): Step | null =>
  situation.steps.find((step) => step.call.name === wish.tool.name && sameInput(step.call.input, wish.input)) ?? null

/** Clients print a call's arguments again in their own way. */
const sameInput = (a: string, b: string): boolean => a === b || a.replaceAll(/\s/g, '') === b.replaceAll(/\s/g, '')

function settle(situation: Situation, tools: readonly Tool[], mind: Mind): { readonly value: string; readonly text: string } {
  if (situation.found === null) {
    const words = converse(situation)
    return { value: words, text: words }
  }
  const { problem } = situation.found
  const value = spoil(computed(situation, problem, tools, mind) ?? workOut(problem, mind, knownTo(situation)), mind.lessons)
  return { value, text: say(value, mind) }
}

function computed(situation: Situation, problem: Problem, tools: readonly Tool[], mind: Mind): string | null {
  const wish = wishFor(problem, tools, mind)
  const result = wish === null ? null : stepOf(situation, wish)?.result
  return wish === null || result === null || result === undefined || result.failed ? null : wish.take(result.text)
}

const knownTo = (situation: Situation): string => `${situation.instructions}\n${situation.fresh}`

function forcedThought(prompt: Prompt, value: string): Thought | null {
  const { choice } = prompt
  if (choice.kind !== 'required' && choice.kind !== 'named') return null
  const call = forcedCall(prompt.tools, choice.kind === 'named' ? choice.name : null, value)
  return call === null ? null : { kind: 'call', ...call }
}

/** The reply to anything that is not one of its tasks: polite, short, and without pretending. */
function converse(situation: Situation): string {
  const { images, steps } = situation
  const task = situation.task.slice(0, TASK_CHARACTERS_MAX)
  for (const pattern of REPEAT) {
    const words = pattern.exec(task)?.[1]?.trim()
    if (words !== undefined && words !== '') return words
  }
  const seen = images === 0 ? '' : `I got ${images === 1 ? 'an image' : `${images} images`}, which I cannot look at. `
  const result = steps.at(-1)?.result
  if (result !== undefined && result !== null) return `${seen}The tool answered: ${shortened(result.text)}`
  if (GREETING.test(task)) return `${seen}Hello! Ask me a small task: ${TOPICS}.`
  if (task === '') return `${seen}Nothing was asked. I know small tasks: ${TOPICS}.`
  return `${seen}You said: "${shortened(task)}". That is beyond a mock model. I know small tasks: ${TOPICS}.`
}

function shortened(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length > QUOTED_CHARACTERS_MAX ? `${line.slice(0, QUOTED_CHARACTERS_MAX).toWellFormed()}…` : line
}
