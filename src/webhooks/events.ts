/** What rows say to targets: an event has an id that follows from its row, so that a receiver knows one that comes twice. */
import { hash } from 'node:crypto'
import type { Commit, JsonObject, StepOutcome } from '../contract/index.ts'
import { withoutKnownSecrets } from '../kit/index.ts'

export type WebhookEvent = 'held' | 'published' | 'failed' | 'budget'

export interface WebhookMessage {
  readonly id: string
  readonly event: WebhookEvent
  readonly body: string
}

const BY_OUTCOME: Readonly<Partial<Record<StepOutcome, WebhookEvent>>> = { pending: 'held', published: 'published', failed: 'failed' }

export interface ToldRow {
  readonly scenario: string
  readonly row: Commit
  /** Why the step failed; null where it did not. */
  readonly error: string | null
  /** Why no automatic step starts any more since this row; null where nothing changed. */
  readonly budget: string | null
}

/** The creation of a scenario is no event. */
export function messagesOf({ scenario, row, error, budget }: ToldRow, wanted: ReadonlySet<WebhookEvent>): readonly WebhookMessage[] {
  if (row.step === 0) return []
  const { step, operation, recorded_at, release, component } = row
  const about = {
    scenario,
    step,
    operation,
    ...(component !== undefined && { component }),
    release_id: release?.release_id ?? null,
  }
  const make = (event: WebhookEvent, more: JsonObject): WebhookMessage => {
    const id = `msg_${hash('sha256', JSON.stringify([scenario, step, recorded_at, event])).slice(0, 32)}`
    const timestamp = new Date(recorded_at * 1000).toISOString()
    return { id, event, body: JSON.stringify({ type: event, timestamp, data: { ...about, ...more } }) }
  }
  const outcome = BY_OUTCOME[row.outcome]
  const messages = [
    ...(outcome === undefined ? [] : [make(outcome, error === null ? {} : { error: withoutKnownSecrets(error) })]),
    ...(budget === null ? [] : [make('budget', { reason: budget })]),
  ]
  return messages.filter(({ event }) => wanted.has(event))
}
