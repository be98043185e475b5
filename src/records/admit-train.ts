/** Admits train requests: a change to the harness in plain words, screened before it is stored. */
import { CLIENT_COMMANDS_MAX, invalid, isObject } from '../contract/index.ts'
import type { Json, JsonObject, NewRecord, Requires, TrainRequest } from '../contract/index.ts'
import { trainBodySchema } from '../contract/wire/index.ts'
import { screenText } from '../kit/index.ts'
import { encode, type AdmissionRules } from './draft.ts'
import { textsOf } from './requires.ts'
import { checkShape } from './shape.ts'

/** A well-formed request, and the screens it must pass before it is stored. */
export interface AdmittedTrain {
  readonly record: NewRecord
  /** Throws with the rule and never the text. A resend of a stored request skips it. */
  readonly screen: () => void
}

export function admitTrain(
  body: JsonObject,
  { newId, clock }: Pick<AdmissionRules, 'newId' | 'clock'>,
  askedBy?: TrainRequest['asked_by'],
): AdmittedTrain {
  const { agent_record_id, text, session, release_id, requires, client } = checkShape(trainBodySchema, body)
  const items = requires ?? []
  const kept = keptClient(client)
  const payload = {
    text,
    session,
    release_id,
    requires: items.map((item) => ({ ...item })),
    ...(kept !== null && { client: kept }),
    ...(askedBy !== undefined && { asked_by: askedBy }),
  }
  const record: NewRecord = {
    agent_record_id: agent_record_id ?? newId(),
    request_type: 'train',
    created_at: clock(),
    references: [],
    artifact_ref: null,
    score: null,
    payload: encode(payload),
  }
  return { record, screen: () => screen(text, items) }
}

/** Reads a stored request back; null when it cannot be parsed. It was checked when it was admitted. */
export function readTrain(id: string, payload: Uint8Array): TrainRequest | null {
  try {
    const kept: Omit<TrainRequest, 'id'> = JSON.parse(Buffer.from(payload).toString())
    return { id, ...kept }
  } catch {
    return null
  }
}

function screen(text: string, items: readonly Requires[]): void {
  refuseHit('text', text)
  for (const [index, item] of items.entries()) for (const part of textsOf(item)) refuseHit(`requires[${index}]`, part)
}

/** For words that are kept for ever: never the text itself. */
export function refuseCredential(place: string, text: string, cure = 'take it out'): void {
  if (screenText(text) === 'credential_in_text')
    throw invalid('credential_in_text', `${place}: holds what looks like a credential; ${cure}`)
}

function refuseHit(place: string, text: string): void {
  refuseCredential(place, text, 'take it out and name an env item instead')
  if (screenText(text) === 'override_in_text')
    throw invalid('override_in_text', `${place}: holds words that override instructions; ask for the change itself`)
}

const SHORT_TEXT = /^[A-Za-z0-9._+() -]{1,64}$/
const COMMAND = /^[A-Za-z0-9._+-]{1,40}$/

/** The requesting machine. Fields that do not fit are dropped. */
function keptClient(client: Json | undefined): JsonObject | null {
  if (!isObject(client)) return null
  const kept: Record<string, Json> = {}
  for (const key of ['platform', 'arch', 'release']) {
    const text = client[key]
    if (typeof text === 'string' && SHORT_TEXT.test(text.trim())) kept[key] = text.trim()
  }
  const commands = keptCommands(client['commands'])
  if (commands !== null) kept['commands'] = commands
  return Object.keys(kept).length === 0 ? null : kept
}

function keptCommands(commands: Json | undefined): JsonObject | null {
  if (!isObject(commands)) return null
  const fitting = Object.entries(commands).filter(([name, found]) => COMMAND.test(name) && typeof found === 'boolean')
  return fitting.length === 0 ? null : Object.fromEntries(fitting.slice(0, CLIENT_COMMANDS_MAX))
}
