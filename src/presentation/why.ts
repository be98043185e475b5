/** Why a step was taken and decided so: who asked, in their words; the decision; what failed; what the author and the review noted. */
import type { Operation, Requires } from '../contract/index.ts'
import { commentsOn, makerOf, rejectionOf, type StepRow, type StepRows } from './chain.ts'
import { counted } from './numbers.ts'
import { isRecord, numberAt, objectAt, objectsAt, textAt, textsAt, type UnknownRecord } from './read.ts'

export interface StepReason {
  /** "Asked for by a person" */
  readonly origin: string
  /** Introduces the words: "A person asked for this"; null where there are none. */
  readonly intro: string | null
  /** The words of the person or agent, else a sentence of ours. */
  readonly text: string
  /** What it did and the words, of a move that a person gave words with: "Rejects v6: too long" */
  readonly line?: string
  readonly isQuoted: boolean
  readonly session: string | null
  /** Of the request that the step was for. */
  readonly requestId: string | null
}

/** `nameOf` says what a row is called, such as "v3". */
export function reasonOf<Row extends StepRow>(rows: StepRows<Row>, row: StepRow, nameOf: (row: Row) => string): StepReason {
  const { metrics, operation } = row
  const [request, proposal] = [objectAt(metrics, 'training_request'), objectAt(metrics, 'proposal')]
  if (hasAny(request, 'id', 'text'))
    return {
      origin: 'Asked for by a person',
      ...quoted('A person asked for this', textAt(request, 'text') ?? 'The text of the request is not kept.'),
      session: textAt(request, 'session'),
      requestId: textAt(request, 'id'),
    }
  const none = { session: null, requestId: null }
  if (hasAny(proposal, 'id', 'reason'))
    return {
      ...none,
      origin: 'Proposed by an agent',
      ...quoted('An agent proposed this', textAt(proposal, 'reason') ?? 'It gave no reason.'),
      session: textAt(proposal, 'session'),
    }
  const origin = ORIGINS[operation]
  if (operation === 'train') return { ...none, origin, ...learned(metrics) }
  const target = makerOf(rows, row.rollback_target_release_id)
  const named = target === undefined ? 'an earlier release' : nameOf(target)
  const said = textAt(metrics, operation === 'reject' ? 'reason' : 'comment')
  const verb = MOVES[operation]
  if (verb !== undefined && said !== null)
    return { ...none, origin, ...quoted(`${verb} ${named}. The person said`, said), line: `${verb} ${named}: ${said}` }
  const content =
    operation === 'withdraw' ? `Ends ${named}: ${textAt(metrics, 'reason') ?? 'no reason was kept'}.` : `Serves the content of ${named}.`
  const sentence = operation === 'shipped' && row.pending ? HELD_SEED : SENTENCES[operation]
  return { ...none, origin, intro: null, text: sentence ?? content, isQuoted: false }
}

const MOVES: Readonly<Partial<Record<Operation, string>>> = {
  promote: 'Serves the content of',
  rollback: 'Serves the content of',
  withdraw: 'Ends',
  reject: 'Rejects',
  comment: 'About',
}

export interface StepRejection {
  /** Of the row that rejected it. */
  readonly step: number
  readonly at: number
  readonly reason: string
}

/** Why a person rejected the release that this row holds; null where nobody did. */
export function rejectionReason(rows: StepRows, row: StepRow): StepRejection | null {
  const rejection = rejectionOf(rows, row)
  if (rejection === undefined) return null
  const { step, recorded_at: at, metrics } = rejection
  return { step, at, reason: textAt(metrics, 'reason') ?? 'The reason is not kept.' }
}

export interface StepComment {
  readonly step: number
  readonly at: number
  /** The name of a token; null where it is not known. */
  readonly by: string | null
  readonly text: string
}

/** What people said of the release that this row holds, oldest first. */
export const commentsOf = (rows: StepRows, row: StepRow): readonly StepComment[] =>
  commentsOn(rows, row).map(({ step, recorded_at: at, metrics }) => ({
    step,
    at,
    by: textAt(metrics, 'by'),
    text: textAt(metrics, 'comment') ?? 'The words are not kept.',
  }))

const hasAny = (from: UnknownRecord, ...names: readonly string[]): boolean => names.some((name) => textAt(from, name) !== null)

const quoted = (intro: string, text: string): Pick<StepReason, 'intro' | 'text' | 'isQuoted'> => ({ intro, text, isQuoted: true })

function learned(metrics: UnknownRecord): Pick<StepReason, 'intro' | 'text' | 'isQuoted'> {
  const failure = failureOf(metrics)
  if (failure !== null) return quoted('The step failed', failure)
  const units = numberAt(metrics, 'traces')
  const from = units !== null && units > 0 ? `: ${counted(units, 'reported sample')}` : ''
  return { intro: null, text: `The step learned from traffic${from}.`, isQuoted: false }
}

const ORIGINS: Readonly<Record<Operation, string>> = {
  create: 'Creation',
  train: 'Learned from traffic',
  promote: 'Promoted by a person',
  rollback: 'Rolled back by a person',
  shipped: 'Shipped with the service',
  withdraw: 'Provisional release withdrawn',
  reject: 'Rejected by a person',
  comment: 'Commented on by a person',
}
const SENTENCES: Readonly<Partial<Record<Operation, string>>> = {
  create: 'What this scenario was created with.',
  shipped: 'The service updated the entries that it ships.',
}

const HELD_SEED = 'The seed of the recipe, which a person may serve in place of what was imported.'

const failureOf = (metrics: UnknownRecord): string | null =>
  textAt(metrics, 'error') ?? textAt(objectAt(metrics, 'proposal_notes'), 'failure')

/** Why the outcome is what it is: why it is held, the decision, or what kept the step from one. */
export function decisionOf(metrics: UnknownRecord): string | null {
  const [failure, skipped] = [failureOf(metrics), textAt(metrics, 'skipped')]
  if (failure !== null) return skipped === null ? failure : `${skipped}: ${failure}`
  return textAt(metrics, 'held_because') ?? textAt(objectAt(metrics, 'selection'), 'reason') ?? skipped
}

export interface TitledText {
  readonly title: string
  readonly text: string
}

export function failuresOf(metrics: UnknownRecord): readonly TitledText[] {
  const stage = textAt(metrics, 'failed_stage')
  const failures = [
    { title: stage === null ? 'The step failed' : `The step failed while ${stage}`, text: textAt(metrics, 'error') },
    { title: 'The proposer made no proposal', text: textAt(objectAt(metrics, 'proposal_notes'), 'failure') },
  ]
  return failures.flatMap(({ title, text }) => (text === null ? [] : [{ title, text }]))
}

export interface StepDesign {
  readonly plan: string
  readonly howToUse: string
}

/** The author's plan; null where none was kept. */
export function designOf(metrics: UnknownRecord): StepDesign | null {
  const design = textAt(objectAt(metrics, 'proposal_notes'), 'design')
  if (design === null) return null
  const [heading] = HOW_TO_USE.exec(design) ?? []
  if (heading === undefined) return { plan: design.trim(), howToUse: '' }
  const at = design.search(HOW_TO_USE)
  return { plan: design.slice(0, at).trim(), howToUse: design.slice(at + heading.length).trim() }
}

/** A heading, or the opening words of a paragraph. */
const HOW_TO_USE = /^[ \t]*(?:#{1,6}[ \t]*|\*\*|__)?how to use\b[ \t]*(?:\*\*|__)?[ \t]*:?[ \t]*(?:\*\*|__)?/im

export interface StepReview {
  /** "Complete", "Partial", or another word of the review; null where there was none. */
  readonly result: string | null
  readonly tone: 'good' | 'warn' | 'plain'
  readonly meaning: string
  /** Why there was no review. */
  readonly failure: string | null
  readonly covered: readonly string[]
  readonly uncovered: readonly string[]
  readonly undeclared: readonly string[]
  readonly dropped: readonly string[]
  readonly attempts: number
}

/** The review of the change; null where there was none and nothing was found. */
export function reviewOf(metrics: UnknownRecord): StepReview | null {
  const notes = objectAt(metrics, 'proposal_notes')
  const review = objectAt(notes, 'review')
  const failure = textAt(notes, 'review_failure')
  const undeclared = [...textsAt(notes, 'undeclared_env'), ...textsAt(metrics, 'undeclared_env')]
  if (Object.keys(review).length === 0 && failure === null && undeclared.length === 0) return null
  const result = textAt(review, 'result')
  return {
    ...(REVIEWS[result ?? ''] ?? { result, tone: 'plain', meaning: '' }),
    failure,
    covered: textsAt(review, 'covered'),
    uncovered: textsAt(review, 'uncovered'),
    undeclared,
    dropped: textsAt(notes, 'dropped'),
    attempts: numberAt(notes, 'attempts') ?? 1,
  }
}

const REVIEWS: Readonly<Record<string, Pick<StepReview, 'result' | 'tone' | 'meaning'>>> = {
  complete: { result: 'Complete', tone: 'good', meaning: 'Every point of the request is covered.' },
  partial: { result: 'Partial', tone: 'warn', meaning: 'Some points of the request are not covered.' },
}

export interface SetupItem {
  readonly name: string
  readonly kind: string
  readonly prompt: string | null
  readonly check: string | null
}
export interface StepSetup {
  /** Required by this step. */
  readonly own: readonly SetupItem[]
  /** Required by earlier steps of the chain. */
  readonly carried: readonly SetupItem[]
  readonly refused: readonly { readonly item: string; readonly reason: string }[]
}

/** What a person must set up on a machine. */
export function setupOf(metrics: UnknownRecord, earlier: readonly Requires[] = []): StepSetup {
  const request = objectAt(metrics, 'training_request')
  const own = setupItems(request)
  const names = new Set(own.map(({ name }) => name))
  const refused = [...objectsAt(request, 'refused_requires'), ...objectsAt(objectAt(metrics, 'proposal_notes'), 'refused_requires')]
  return {
    own,
    carried: earlier.filter(({ name }) => !names.has(name)).map((item) => setupItem({ ...item })),
    refused: refused.map((one) => ({ item: refusedName(one['item']), reason: textAt(one, 'reason') ?? 'no reason was kept' })),
  }
}

/** The items that a request requires. */
export const setupItems = (request: UnknownRecord): readonly SetupItem[] => objectsAt(request, 'requires').map(setupItem)

const setupItem = (item: UnknownRecord): SetupItem => ({
  name: textAt(item, 'name') ?? 'unnamed',
  kind: textAt(item, 'kind') ?? '',
  prompt: textAt(item, 'prompt'),
  check: textAt(item, 'check'),
})

function refusedName(item: unknown): string {
  if (typeof item === 'string') return item
  return isRecord(item) && textAt(item, 'name') !== null
    ? [textAt(item, 'kind'), textAt(item, 'name')].filter((word) => word !== null).join(' ')
    : (JSON.stringify(item) ?? 'unnamed')
}
