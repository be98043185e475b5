/** What a person reviews of a change before it is served: one rule for steps and for releases from elsewhere. */
import { isDeepStrictEqual } from 'node:util'
import { NAMED_KINDS, type Adapter, type Entry, type JsonObject, type Power, type PowerReason } from '../contract/index.ts'
import { showHidden } from '../kit/index.ts'
import { powersIn } from './powers.ts'

/** How many reasons of each power a row lists; its powers are complete, and none crowds out another. */
const LISTED_REASONS_MAX = 8
const WHY_CHARACTERS_MAX = 300

/** The powers that `evolution.publish_powers` does not list. */
export const powersBeyond = (reasons: readonly PowerReason[], publishPowers: readonly string[]): readonly Power[] =>
  powersIn(reasons).filter((power) => !publishPowers.includes(power))

/** What a row says of the powers of its change. `held_powers` are those that `evolution.publish_powers` does not list. */
export function powerMetrics(reasons: readonly PowerReason[], publishPowers: readonly string[]): JsonObject {
  const powers = powersIn(reasons)
  const byPower = powers.map((power) => reasons.filter((reason) => reason.power === power))
  const counts = Object.fromEntries(byPower.map(({ length }, at) => [powers[at] ?? '', length]))
  return {
    powers: [...powers],
    held_powers: [...powersBeyond(reasons, publishPowers)],
    power_reasons: byPower.flatMap((some) => some.slice(0, LISTED_REASONS_MAX).map(shown)),
    ...(byPower.some(({ length }) => length > LISTED_REASONS_MAX) && { power_reason_counts: counts }),
  }
}

/** Reasons quote ids and names of settings, which may hold anything. */
const shown = ({ power, entry, why }: PowerReason): JsonObject => ({
  power,
  entry: showHidden(entry.slice(0, WHY_CHARACTERS_MAX).toWellFormed()),
  why: showHidden(why.slice(0, WHY_CHARACTERS_MAX).toWellFormed()),
})

/** In `review_kinds`, this kind stands for every entry that an agent would run. */
const CODE = 'code_extension'
/** Code that replaces the whole loop is always reviewed. */
const ALWAYS_REVIEWED = 'native_loop'

/** The first entry of a change that `evolution.review_kinds` holds. */
export function reviewedEntry(
  adapter: Adapter,
  reviewKinds: readonly string[],
  before: readonly Entry[],
  after: readonly Entry[],
): Entry | undefined {
  const reviewed = new Set([...reviewKinds, ALWAYS_REVIEWED])
  const touched = touchedEntries(before, after)
  return [...touched.before, ...touched.after].find((entry) => reviewed.has(entry.name) || (reviewed.has(CODE) && runsCode(adapter, entry)))
}

/** The entries that a change touches, by comparing the trees before and after it: mutations may remove an id and create it again. */
export function touchedEntries(before: readonly Entry[], after: readonly Entry[]) {
  return { before: missingIn(after, before), after: missingIn(before, after) }
}

function missingIn(tree: readonly Entry[], entries: readonly Entry[]): readonly Entry[] {
  const there = new Map(tree.map((entry) => [entry.id, entry]))
  return entries.filter((entry) => !isDeepStrictEqual(there.get(entry.id), entry))
}

/** Whether an agent would run the entry: it has code, its file is a program, or its text starts programs. */
export const runsCode = (adapter: Adapter, entry: Entry): boolean =>
  typeof entry.config['code'] === 'string' || isProgram(adapter, entry.name) || runsPrograms(entry)

/** Files that an agent reads and does not run. */
const DATA_FILE = /\.(?:md|mdc|txt|json|jsonc|ya?ml|toml)$/i

/** Decided by the file's extension, so that an unknown kind counts as code unless its adapter renders it as data. */
export function isProgram({ layout }: Adapter, name: string): boolean {
  const kind = NAMED_KINDS.find((each) => each === name)
  const place = kind === undefined ? undefined : layout.named[kind]
  return place !== undefined && !DATA_FILE.test(place)
}

/** A command or skill whose text runs a program counts as code. */
const runsPrograms = ({ name, config: { text } }: Entry): boolean =>
  (name === 'agent_command' || name === 'skill') && typeof text === 'string' && /!`|^[^\S\n\r\u2028\u2029]*```!/m.test(text)
