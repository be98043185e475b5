/** Describes entries, samples, rejected changes and the machine for a prompt. All is untrusted text: fence it; the machine is fenced here. */
import { isObject, type Entry, type Json, type JsonObject, type Mutation, type Rejected, type Sample } from '../../contract/index.ts'
import { isReserved } from '../../harness/index.ts'
import { fence, firstCodePoints } from '../../kit/index.ts'
import { WeakOutcome, weakOutcomes } from '../../sessions/index.ts'
import { answerText, userTexts } from '../exchanges.ts'
import type { ProposalReply } from './reply.ts'

const EXCERPT_CHARACTERS = 240
const EXCHANGE_TEXT_CHARACTERS = 2000
const FEEDBACK_CHARACTERS = 1000
const SAMPLES_SHOWN_MAX = 24
const REJECTED_SHOWN_MAX = 10
const REASON_CHARACTERS = 240
/** A person's words are worth more room than ours. */
const PERSONS_REASON_CHARACTERS = 1000

/** One line of JSON each, so that no text in it can begin a line. Reserved entries are left out: they cannot be changed. */
export function describeEntries(entries: readonly Entry[]): string {
  const shown = entries.filter(({ id }) => !isReserved(id))
  return shown.length === 0 ? '(no entries yet)' : shown.map((entry) => JSON.stringify(rowOf(entry))).join('\n')
}

function rowOf({ id, name, config, disabled }: Entry): JsonObject {
  return { id, name, ...(disabled === true && { disabled }), excerpt: excerptOf(config) }
}

function excerptOf(config: JsonObject): string {
  const { text, prompt, code, description } = config
  return shortened([text, prompt, description, code].find((part) => typeof part === 'string') ?? printed(config), EXCERPT_CHARACTERS)
}

function shortened(text: string, characters: number): string {
  const first = firstCodePoints(text, characters)
  return first.length < text.length ? `${first}…` : text
}

const printed = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** Excerpts of a reply's entries, to remind its author. */
export function describeReply({ entries }: Pick<ProposalReply, 'entries'>): string {
  return entries
    .map(({ id = null, name = null, config }) => JSON.stringify({ id, name, excerpt: excerptOf(isObject(config) ? config : {}) }))
    .join('\n')
}

/** Worst first, limited to what a prompt can hold. Where there is no score, by what the exchange seems to have come to. */
export function describeSamples(samples: readonly Sample[]): string {
  const unscored = samples.filter(({ score }) => score === null)
  const outcomes = new Map(weakOutcomes(unscored).map((outcome, at) => [unscored[at], outcome]))
  const all = samples.map((sample) => ({ sample, outcome: outcomes.get(sample) ?? null }))
  const worst = all.toSorted(byNeed).slice(0, SAMPLES_SHOWN_MAX)
  const more = samples.length - worst.length
  const lines = worst.map((shown) => JSON.stringify(sampleRow(shown)))
  return [...lines, ...(more > 0 ? [`(${more} more are not shown)`] : [])].join('\n')
}

interface ShownSample {
  readonly sample: Sample
  /** Null where there is a score. */
  readonly outcome: WeakOutcome | null
}

/** What failed by a score comes before what seems to have failed, and that before what passed or says nothing. */
function byNeed(one: ShownSample, other: ShownSample): number {
  const ranks = needOf(one) - needOf(other)
  if (ranks !== 0) return ranks
  if (one.outcome !== null && other.outcome !== null) return WeakOutcome.compare(one.outcome, other.outcome)
  return (one.sample.score ?? Infinity) - (other.sample.score ?? Infinity) || 0
}

const PASSING_SCORE = 0.5

const needOf = ({ sample: { score }, outcome }: ShownSample): number =>
  score !== null ? (score < PASSING_SCORE ? 0 : 2) : outcome?.seemsFailed === true ? 1 : 3

function sampleRow({ sample: { exchanges, score, feedback }, outcome }: ShownSample): JsonObject {
  const last = exchanges.at(-1) ?? {}
  const said = outcome?.said ?? null
  return {
    user: shortened(userTexts(last).at(-1) ?? '', EXCHANGE_TEXT_CHARACTERS),
    answer: shortened(answerText(last), EXCHANGE_TEXT_CHARACTERS),
    score,
    ...(feedback !== null && { feedback: shortened(printed(feedback), FEEDBACK_CHARACTERS) }),
    ...(outcome !== null && (outcome.seemsFailed || outcome.seemsFine) && { seems: outcome.reason }),
    ...(said !== null && said !== feedback && { said_next: shortened(said, FEEDBACK_CHARACTERS) }),
  }
}

export function describeRejected(rejected: readonly Rejected[]): string {
  return rejected
    .slice(-REJECTED_SHOWN_MAX)
    .map(({ mutations, reason, byPerson }) => {
      const room = byPerson === true ? PERSONS_REASON_CHARACTERS : REASON_CHARACTERS
      return JSON.stringify({ changes: mutations.map(changeRow), reason: shortened(reason, room) })
    })
    .join('\n')
}

function changeRow(mutation: Mutation): JsonObject {
  const { op, id } = mutation
  return { op, id, ...(mutation.op !== 'remove' && { excerpt: excerptOf(mutation.options.config ?? {}) }) }
}

/** What the client reports of its machine is fenced here: short names are long enough for an order. */
export function describeMachine(client: JsonObject | undefined): string {
  const { platform, arch, release, commands } = client ?? {}
  const system = [platform, release, arch].filter((part) => typeof part === 'string')
  if (system.length === 0 && !isObject(commands))
    return 'The machine is unknown: support macOS, Linux and WSL, and rely on no extra command.'
  const named = Object.entries(isObject(commands) ? commands : {})
  const present = named.flatMap(([name, found]) => (found === true ? [name] : []))
  const absent = named.flatMap(([name, found]) => (found === false ? [name] : []))
  const lines = [
    system.length === 0 ? 'The system of the machine is unknown.' : `The machine: ${system.join(', ')}.`,
    ...(present.length > 0 ? [`Commands it has: ${present.join(', ')}.`] : []),
    ...(absent.length > 0 ? [`Commands it lacks: ${absent.join(', ')}.`] : []),
  ]
  return fence('machine', lines.join('\n'))
}
