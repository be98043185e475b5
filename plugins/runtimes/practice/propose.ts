/**
 * The model as a proposer: asked for a JSON array of harness entries, it writes a rule or a skill for the failures it was shown;
 * asked to review one, it says what is covered. It keys on the words any such prompt must hold, not on one prompt's wording.
 */
import type { JsonObject } from '../../../src/contract/index.ts'
import { draw, drawOne } from './draw.ts'
import { FAMILIES, HANDBOOK, recognise } from './families/index.ts'
import { HARMS, FIXES, type Fix } from './lessons.ts'
import { LESSONS_HELD_MAX, lessonsIn, sentences } from './rules.ts'
import type { Situation } from './situation.ts'

/** How often a proposal does harm, and how often nothing: a proposer that is always right would leave nothing to select. */
const HARMFUL_CHANCE = 0.1
const USELESS_CHANCE = 0.15

/** The reply to a proposer's or reviewer's prompt; null for any other prompt. */
export function propose(situation: Situation): string | null {
  const text = `${situation.instructions}\n${situation.fresh}`
  if (isReview(text)) return JSON.stringify({ result: 'complete', covered: ['what was asked for'], uncovered: [] })
  if (!isProposal(text)) return null
  const design = 'One small change, aimed at the failures shown.'
  return JSON.stringify([{ design }, entryFor(text)], null, 2)
}

const isReview = (text: string): boolean =>
  /\bjson\b/i.test(text) && /["'`]result["'`]/.test(text) && ['complete', 'partial', 'uncovered'].every((word) => text.includes(word))

const isProposal = (text: string): boolean =>
  /json array/i.test(text) && /\b(?:harness|entries|entry)\b/i.test(text) && ['id', 'name', 'config'].every((field) => text.includes(field))

function entryFor(text: string): JsonObject {
  const asked = requestIn(text)
  if (asked !== null) return rule('practice-request', asked)
  const asks = text.replaceAll(QUOTE_TOKEN, '>>>')
  const chance = draw(asks, 'proposal')
  if (chance < HARMFUL_CHANCE) return rule('practice-style', drawOne(HARMS, asks, 'harm').wording[0])
  return (chance < HARMFUL_CHANCE + USELESS_CHANCE ? null : fixingEntry(asks)) ?? rule('practice-tone', 'Be friendly and keep a calm tone.')
}

/** Differs in every call: without it the same prompt gets the same reply. */
const QUOTE_TOKEN = / [0-9a-f]{16}>>>/g

/** What a person asked for, when the prompt has a line for it: the simplest way to honour it is to make it a rule. */
function requestIn(text: string): string | null {
  const asked = REQUEST.exec(text)?.[1]?.trim() ?? ''
  return asked === '' || recognise(asked) !== null ? null : asked
}
const REQUEST = /^#*\s*(?:the\s+)?(?:(?:user|person)(?:['’]s)?\s+|train(?:ing)?\s+)?request\b[^\n:]{0,40}:\s*([^\n]+)/im

/** A lesson the harness does not teach yet, for a family that shows up in the failures. */
function fixingEntry(text: string): JsonObject | null {
  const parts = partsOf(text)
  const taught = new Set(parts.flatMap(lessonsIn))
  const shown = FAMILIES.filter((family) => parts.some((part) => family.read(part) !== null))
  if (shown.some((family) => family.name === 'lookup') && !text.includes('# Team handbook')) {
    return skill('team-handbook', 'The team handbook.', HANDBOOK)
  }
  // The model forgets rules beyond its limit; a skill is read when it is needed.
  const isFull = taught.size >= LESSONS_HELD_MAX
  const wanted = new Set<Fix>([...(isFull ? [] : (['answer-line'] as const)), ...shown.flatMap((family) => family.lessons)])
  const [first, ...others] = [...wanted].filter((lesson) => !taught.has(lesson))
  if (first === undefined) return null
  const lesson = drawOne([first, ...others], text, 'lesson')
  const wording = drawOne(FIXES.find((fix) => fix.name === lesson)?.wording ?? ['Think before you answer.'], text, 'wording')
  if (!isFull) return rule(`practice-${lesson}`, wording)
  const topic = shown.find((family) => family.lessons.includes(lesson))?.name ?? lesson
  return skill(`practice-${lesson}`, `Read this before any task about ${topic}.`, wording)
}

/** Failures and entries are quoted in all kinds of ways: as lines, as sentences, inside JSON strings. */
function partsOf(text: string): readonly string[] {
  const quoted = [...text.matchAll(/"((?:[^"\\\n]|\\.){1,1000})"/g)].map(([, inside = '']) =>
    inside.replaceAll(String.raw`\"`, '"').replaceAll(String.raw`\n`, '\n'),
  )
  return [...new Set([...text.split('\n'), ...quoted, ...sentences(text)])].filter((part) => part.length <= PART_CHARACTERS_MAX)
}
const PART_CHARACTERS_MAX = 1000

const rule = (id: string, text: string): JsonObject => ({ id, name: 'rules', config: { text } })

const skill = (name: string, description: string, body: string): JsonObject => ({
  id: name,
  name: 'skill',
  config: { name, text: `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n` },
})
