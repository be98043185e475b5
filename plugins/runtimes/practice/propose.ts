/**
 * The model as a proposer: asked for a JSON array of harness entries, it writes a rule or a skill for the failures it was shown;
 * asked to review one, it says what is covered. It keys on the words any such prompt must hold, not on one prompt's wording.
 */
import type { JsonObject } from '../../../src/contract/index.ts'
import { draw, drawOne } from './draw.ts'
import { FAMILIES, HANDBOOK } from './families/index.ts'
import type { Family } from './families/index.ts'
import { HARMS, MENDS } from './lessons.ts'
import type { Mend } from './lessons.ts'
import { LESSONS_HELD_MAX, lessonsIn, sentences } from './rules.ts'
import type { Situation } from './situation.ts'

/** How often a proposal does harm, and how often it does nothing: a proposer that is always right would leave nothing to select. */
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
  /\bjson\b/i.test(text) &&
  /["'`]?result["'`]?/.test(text) &&
  /\bcomplete\b/.test(text) &&
  /\bpartial\b/.test(text) &&
  /\buncovered\b/.test(text)

const isProposal = (text: string): boolean =>
  /json array/i.test(text) &&
  ['id', 'name', 'config'].every((field) => new RegExp(`["'\`]?\\b${field}\\b["'\`]?`).test(text)) &&
  /\b(?:harness|entries|entry)\b/i.test(text)

function entryFor(text: string): JsonObject {
  const chance = draw(text, 'proposal')
  if (chance < HARMFUL_CHANCE) return rule('practice-style', drawOne(asChoices(HARMS.map((harm) => harm.wording[0])), text, 'harm'))
  if (chance < HARMFUL_CHANCE + USELESS_CHANCE) return rule('practice-tone', 'Be friendly and keep a calm tone.')
  return mendingEntry(text) ?? rule('practice-tone', 'Be friendly and keep a calm tone.')
}

/** A lesson the harness does not teach yet, for a family that shows up in the failures. */
function mendingEntry(text: string): JsonObject | null {
  const taught = new Set(lessonsIn(text))
  const shown = familiesIn(text)
  if (shown.some((family) => family.name === 'lookup') && !text.includes('# Team handbook'))
    return skill('team-handbook', 'The team handbook.', HANDBOOK)
  const open = [...new Set<Mend>(['answer-line', ...shown.flatMap((family) => family.lessons)])].filter((lesson) => !taught.has(lesson))
  const [first, ...others] = open
  if (first === undefined) return null
  const lesson = drawOne([first, ...others], text, 'lesson')
  const wording = drawOne(MENDS.find((mend) => mend.name === lesson)?.wording ?? ['Think before you answer.'], text, 'wording')
  // Rules beyond what the model keeps in mind are lost on it; a skill is read when it is needed.
  if (taught.size < LESSONS_HELD_MAX) return rule(`practice-${lesson}`, wording)
  const family = shown.find((one) => one.lessons.includes(lesson))
  return skill(`practice-${lesson}`, `Read this before any task about ${family?.name ?? 'anything'}.`, wording)
}

/** Failures are quoted in all kinds of ways: as lines, as list items, inside JSON strings. */
function familiesIn(text: string): readonly Family[] {
  const quoted = [...text.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, inside = '']) => inside.replaceAll(String.raw`\"`, '"'))
  const parts = [...new Set([...text.split('\n'), ...quoted, ...sentences(text)])].filter((part) => part.length <= PART_CHARACTERS_MAX)
  return FAMILIES.filter((family) => parts.some((part) => family.read(part) !== null))
}
const PART_CHARACTERS_MAX = 1000

const rule = (id: string, text: string): JsonObject => ({ id, name: 'rules', config: { text } })

const skill = (name: string, description: string, body: string): JsonObject => ({
  id: name,
  name: 'skill',
  config: { name, text: `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n` },
})

const asChoices = (choices: readonly string[]): readonly [string, ...string[]] => [choices[0] ?? '', ...choices.slice(1)]
