/** What a change could do on a machine, as people read it: a sentence for each power, why it has it, and which ones a person has to allow. */
import { POWER_SENTENCES, POWERS, type Power } from '../contract/powers.ts'
import type { StepTone } from './outcome.ts'
import { formatted } from './numbers.ts'
import { listAt, numberAt, objectAt, objectsAt, textAt, textsAt, type UnknownRecord } from './read.ts'

export interface StepPowers {
  readonly title: string
  readonly tone: StepTone
  /** The whole of it in one line. */
  readonly summary: string
  /** Empty of a change that is only words, or of which nothing is known. */
  readonly powers: readonly ShownPower[]
}

export interface ShownPower {
  readonly name: string
  /** "This change may run programs on your machine." */
  readonly sentence: string
  /** Whether the operator lets no such change through without a person. */
  readonly isHeld: boolean
  readonly reasons: readonly ShownReason[]
  /** "and 12 more"; null where all are shown. */
  readonly more: string | null
}

interface ShownReason {
  readonly entry: string
  readonly why: string
}

const POWERS_TITLE = 'What this change may do'

/** Null of a step that changes no harness. */
export function powersOfStep(metrics: UnknownRecord): StepPowers | null {
  const title = POWERS_TITLE
  if (!Array.isArray(metrics['powers'])) return hasChange(metrics) ? { title, tone: 'plain', summary: NOT_KNOWN, powers: [] } : null
  const names = [...new Set(textsAt(metrics, 'powers'))]
  if (names.every((name) => name === 'words')) return { title, tone: 'plain', summary: names.length === 0 ? NOTHING : WORDS, powers: [] }
  const held = Array.isArray(metrics['held_powers']) ? textsAt(metrics, 'held_powers') : null
  const known = POWERS.filter((power) => power !== 'words' && names.includes(power))
  const others = names.filter((name) => !POWERS.some((power) => power === name)).slice(0, OTHERS_MAX)
  const powers = [...known, ...others].map((name) => shownPower(metrics, name, held ?? []))
  return { title, tone: 'warn', summary: summaryOf(held, powers), powers }
}

const hasChange = (metrics: UnknownRecord): boolean =>
  listAt(metrics, 'mutations').length > 0 || Object.keys(objectAt(metrics, 'mutation')).length > 0

const NOT_KNOWN = 'What it may do on a machine is not known: the step is older than the record of it. Read the change itself.'
const NOTHING = 'It adds nothing that could act on a machine.'
const WORDS = 'Only words: it is plain text for the model.'

/** Rows of a newer service may have powers without a sentence here. */
const OTHERS_MAX = 8
const REASONS_SHOWN_MAX = 5
const ENTRY_CHARACTERS_MAX = 120
const WHY_CHARACTERS_MAX = 300

function summaryOf(held: readonly string[] | null, powers: readonly ShownPower[]): string {
  if (held === null) return 'The row does not say which of these the operator allows.'
  const names = powers.filter(({ isHeld }) => isHeld).map(({ name }) => name)
  return names.length === 0
    ? 'The operator allows all of this without a person (evolution.publish_powers).'
    : `The operator does not allow this without a person: ${names.join(', ')}. evolution.publish_powers lists what is allowed.`
}

function shownPower(metrics: UnknownRecord, name: string, held: readonly string[]): ShownPower {
  const all = objectsAt(metrics, 'power_reasons').filter((reason) => textAt(reason, 'power') === name)
  const reasons = all.slice(0, REASONS_SHOWN_MAX).map((reason) => ({
    entry: shortened(textAt(reason, 'entry') ?? 'an entry', ENTRY_CHARACTERS_MAX),
    why: shortened(textAt(reason, 'why') ?? 'no reason was kept', WHY_CHARACTERS_MAX),
  }))
  const total = Math.max(all.length, numberAt(objectAt(metrics, 'power_reason_counts'), name) ?? 0)
  return {
    name: shortened(name, ENTRY_CHARACTERS_MAX),
    sentence: powerSentence(name),
    isHeld: held.includes(name),
    reasons,
    more: total > reasons.length ? `and ${formatted(total - reasons.length)} more` : null,
  }
}

/** "This change may run programs on your machine." */
export function powerSentence(name: string): string {
  const power: Power | undefined = POWERS.find((each) => each === name)
  if (power === undefined) return `This change has a power of which nothing is known here: ${shortened(name, ENTRY_CHARACTERS_MAX)}.`
  return `This change ${POWER_SENTENCES[power].replace(/^it /, '')}.`
}

/** Never half of a surrogate pair. */
const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
