/** Judges a release that no step here made: its tree is admitted entry by entry, must render to exactly its files, and may need a person. */
import {
  canonicalJson,
  isRefusal,
  POWER_SENTENCES,
  type Adapter,
  type Entry,
  type Files,
  type Power,
  type PowerReason,
  type StartVerdict,
} from '../contract/index.ts'
import { isReserved } from './admission.ts'
import { entryProblem } from './kinds.ts'
import { powersOf } from './powers.ts'
import { powerMetrics, powersBeyond, reviewedEntry } from './review.ts'
import { contentOf, entriesIn, isSameContent } from './tree.ts'

/** What evidence alone may publish here. */
export interface StartRules {
  readonly publish: string
  readonly publish_powers: readonly string[]
  readonly review_kinds: readonly string[]
}

/** `seed` is what a new scenario serves; what the release changes of it has the powers that are judged. */
export function judgeStart(adapter: Adapter, seed: readonly Entry[], rules: StartRules, content: Files): StartVerdict {
  const admitted = admittedEntries(adapter, seed, content)
  if (typeof admitted === 'string') return { kind: 'refused', reason: admitted }
  // What the service ships is put back when the scenario is loaded.
  const before = seed.filter(({ id }) => !isReserved(id) || admitted.some((entry) => entry.id === id))
  const reasons = powersOf(before, admitted, adapter)
  const held = heldBecause(adapter, before, admitted, reasons, rules)
  return held === null
    ? { kind: 'served' }
    : { kind: 'held', metrics: { held_because: held, ...powerMetrics(reasons, rules.publish_powers) } }
}

/**
 * The same of the newest release of an import, which another system rendered: rendered anew here, it must not lose text. What either system
 * ships counts as the service's own.
 */
export function judgeImported(adapter: Adapter, seed: readonly Entry[], rules: StartRules, content: Files): StartVerdict {
  try {
    const entries = entriesIn(adapter, content)
    const own = contentOf(
      adapter,
      entries.filter(({ id }) => !isReserved(id)),
    )
    const verdict = judgeStart(adapter, seed, rules, own)
    const lost = verdict.kind === 'refused' ? undefined : lostFile(contentOf(adapter, entries), content)
    return lost === undefined
      ? verdict
      : { kind: 'refused', reason: `${JSON.stringify(lost)} holds text that its entries do not render to` }
  } catch (error) {
    if (isRefusal(error)) return { kind: 'refused', reason: error.message }
    throw error
  }
}

/** Settings are printed with the defaults of the adapter that is here. */
const SETTINGS_FILE = /\.(?:jsonc?|toml|ya?ml)$/i
const FRONT_MATTER = /^---\n[^]*?\n---\n/

/** The first file whose text is in no rendered one, under whatever path. */
function lostFile(rendered: Files, content: Files): string | undefined {
  const kept = new Set(Object.values(rendered).map(bodyOf))
  return Object.keys(content).find((path) => !SETTINGS_FILE.test(path) && !kept.has(bodyOf(content[path] ?? '')))
}

/** Front matter is printed anew, with what it lacks. */
const bodyOf = (text: string): string => text.replace(FRONT_MATTER, '').trim()

/** What the service ships has names that no other entry may have. */
function admittedEntries(adapter: Adapter, seed: readonly Entry[], content: Files): readonly Entry[] | string {
  try {
    const entries = entriesIn(adapter, content)
    const ids = new Set<string>()
    for (const entry of entries) {
      const isShipped = isReserved(entry.id) && seed.some((own) => own.id === entry.id && isSameEntry(own, entry))
      const problem = isShipped ? null : entryProblem(adapter, entry)
      if (problem !== null) return problem
      if (ids.has(entry.id)) return `${entry.id} is the id of two entries`
      ids.add(entry.id)
    }
    return isSameContent(contentOf(adapter, entries), content) ? entries : 'its files are not what its entries render to'
  } catch (error) {
    if (isRefusal(error)) return error.message
    throw error
  }
}

const isSameEntry = (one: Entry, other: Entry): boolean => canonicalJson({ ...one }) === canonicalJson({ ...other })

function heldBecause(
  adapter: Adapter,
  seed: readonly Entry[],
  entries: readonly Entry[],
  reasons: readonly PowerReason[],
  rules: StartRules,
): string | null {
  const origin = 'it comes from another chain'
  const beyond = powersBeyond(reasons, rules.publish_powers)
  if (beyond.length > 0) return `${origin}, and ${beyond.map(sentence).join('; ')}`
  if (rules.publish === 'review') return `${origin}, and evolution.publish holds every release for review`
  const reviewed = reviewedEntry(adapter, rules.review_kinds, seed, entries)
  return reviewed === undefined ? null : `${origin}, and evolution.review_kinds holds entries of kind ${reviewed.name} for review`
}

const sentence = (power: Power): string => `${POWER_SENTENCES[power]} (${power})`
