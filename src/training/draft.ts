/** The row that records the outcome of a step. Pure. */
import {
  isObject,
  STEP_FAILURES_MAX,
  type Batch,
  type Json,
  type JsonObject,
  type Losses,
  type Release,
  type StepOutcome,
  type StepResult,
} from '../contract/index.ts'
import { checksByCommand } from '../contract/wire/index.ts'
import { dataWithoutKnownSecrets } from '../kit/index.ts'
import { mergeRequires } from '../records/index.ts'
import type { StepDraft } from './context.ts'
import { StepFailure } from './hosts/host.ts'
import { failureIn, RESERVED_METRICS, SKIPPED, type TrainerMemory } from './rows.ts'

/** A batch handed to the trainer and not settled yet. */
export interface Reserved {
  readonly batch: Batch<Uint8Array>
  /** Why its instruction cannot be tried at all. */
  readonly problem: string | null
}

/** What the row records besides the result. */
export interface Circumstances {
  readonly component: string
  readonly reserved: Reserved
  /** Whether the trainer decided whether commands that a release requires are held for review. */
  readonly judgesCommands: boolean
  /** Earlier failed steps on this batch. */
  readonly failures: number
  readonly losses: Losses
  /** The current head, when the result was made on an earlier one. */
  readonly mergedOnto: Release | null
  /** The id of the content that is published or held. */
  readonly contentId: string | null
  /** The folder of weights published only into the engine. */
  readonly live: string | null
  /** Records set aside since the last row. */
  readonly aside: readonly string[]
  /** When the batch is given up at once: the ids that can still be consumed. */
  readonly givenUp: readonly string[] | null
  readonly memory: (consumed: readonly string[], trainer: JsonObject | undefined) => TrainerMemory
}

/** The result of a step that did not fail. */
export type Settled = Exclude<StepResult, { readonly kind: 'fail' }>

export function draftOf(result: Settled | StepFailure, around: Circumstances): StepDraft {
  const { component, aside, memory } = around
  const { outcome: meant, content, skipped, metrics, state, consumed } = resultParts(result, around)
  const merged = requiresOf(around.reserved.batch, result)
  const held = meant === 'published' && content !== null ? reviewReason(around, merged) : null
  const outcome = held === null ? meant : 'pending'
  const consumed_ids = [...new Set([...consumed, ...aside])]
  // A trainer says what it likes, and rows are shown.
  const recorded = dataWithoutKnownSecrets({
    ...metrics,
    ...(held !== null && { held_because: held }),
    ...(skipped !== null && { skipped }),
    ...requestMetrics(around.reserved.batch, result, merged),
    ...(around.mergedOnto !== null && content !== null && { merged_onto: around.mergedOnto.release_id }),
    ...lossMetrics(around.losses),
  })
  // What a person asked for is published, held or rejected: it does not have to be better.
  const gain = 'gain' in result && around.reserved.batch.request === null ? result.gain : null
  return {
    component,
    outcome,
    content,
    gain,
    live: around.live,
    consumed_ids,
    metrics: recorded,
    state: { ...memory(consumed_ids, state) },
  }
}

interface ResultParts extends Pick<StepDraft, 'outcome' | 'content'> {
  readonly skipped: string | null
  readonly metrics: JsonObject
  readonly state: JsonObject | undefined
  readonly consumed: readonly string[]
}

function resultParts(result: Settled | StepFailure, around: Circumstances): ResultParts {
  if (result instanceof StepFailure) return failureParts(result, around)
  const { metrics = {}, state } = result
  return {
    outcome: outcomeOf(result),
    content: 'content' in result ? around.contentId : null,
    skipped: result.kind === 'skip' ? result.reason : null,
    metrics: ownMetrics(metrics),
    state,
    consumed: idsOf(around.reserved.batch),
  }
}

/** A failed instruction consumes only itself; the samples beside it stay reserved. A failed batch of traffic stays reserved until it failed too often. */
function failureParts({ message, metrics }: StepFailure, { reserved: { batch }, failures, givenUp }: Circumstances): ResultParts {
  const failed = { outcome: 'failed', content: null, metrics: { ...ownMetrics(metrics), error: message }, state: undefined } as const
  if (batch.request !== null) {
    const kept = batch.samples.length === 0 ? {} : { samples_kept: batch.samples.length }
    return { ...failed, metrics: { ...failed.metrics, ...kept }, skipped: SKIPPED.instruction, consumed: [batch.request.id] }
  }
  if (givenUp === null && failures + 1 < STEP_FAILURES_MAX) return { ...failed, skipped: SKIPPED.step, consumed: [] }
  return { ...failed, skipped: SKIPPED.setAside, consumed: givenUp ?? idsOf(batch) }
}

const OUTCOME: Readonly<Record<Settled['kind'], StepOutcome>> = {
  publish: 'published',
  live: 'published',
  hold: 'pending',
  provisional: 'rejected',
  reject: 'rejected',
  skip: 'skipped',
}

/** A skip that reports an error counts as failed. */
function outcomeOf({ kind, metrics = {} }: Settled): StepOutcome {
  return kind === 'skip' && failureIn(metrics) !== null ? 'failed' : OUTCOME[kind]
}

/** The method's metrics, without the names reserved by the service and without empty notes. */
function ownMetrics(metrics: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metrics).filter(([name, value]) => !RESERVED_METRICS.has(name) && !isEmptyNotes(name, value)))
}

function isEmptyNotes(name: string, value: Json): boolean {
  return name === 'proposal_notes' && !(isObject(value) && Object.keys(value).length > 0)
}

type Merged = ReturnType<typeof mergeRequires>

/** What a release for this request requires of a user's machine. The items of the request come first. */
function requiresOf({ request }: Batch<Uint8Array>, result: Settled | StepFailure): Merged {
  const offered = result instanceof StepFailure || request === null ? [] : (result.requires ?? [])
  return mergeRequires(request?.requires ?? [], offered)
}

/** Why a person must look at it first, whatever the recipe says. */
function reviewReason({ reserved: { batch }, judgesCommands }: Circumstances, merged: Merged): string | null {
  const reasons = [judgesCommands ? null : commandReason(merged), agentReason(batch)].filter((reason) => reason !== null)
  return reasons.length === 0 ? null : reasons.join('; ')
}

/** Every user of an agent may ask; what comes of it reaches all who pull. */
function agentReason({ request }: Batch<Uint8Array>): string | null {
  return request?.asked_by?.role === 'agent' ? `it was asked for with the token ${request.asked_by.token}, of the role agent` : null
}

/** A command that would run on other people's machines is reviewed first. */
function commandReason({ requires }: Merged): string | null {
  const first = requires.find(checksByCommand)
  return first === undefined ? null : `it requires ${first.name}, whose check is a command for other people's machines`
}

function requestMetrics({ request, samples }: Batch<Uint8Array>, result: Settled | StepFailure, { requires, refused }: Merged): JsonObject {
  if (request === null) return {}
  const { client, ...asked } = request
  const beside = result instanceof StepFailure || samples.length === 0 ? {} : { samples_beside: samples.length }
  return {
    ...beside,
    training_request: {
      ...asked,
      requires: requires.map((item) => ({ ...item })),
      ...(client !== undefined && { client }),
      ...(refused.length > 0 && { refused_requires: refused.map((item) => ({ ...item })) }),
    },
  }
}

function lossMetrics({ records }: Losses): JsonObject {
  return records === 0 ? {} : { 'records/evicted_count': records, 'records/data_incomplete': true }
}

function idsOf({ request, samples }: Batch<Uint8Array>): readonly string[] {
  const units = samples.flatMap((sample) => sample.record_ids)
  return request === null ? units : [request.id, ...units]
}
