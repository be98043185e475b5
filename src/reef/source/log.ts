/** The commit log of a scenario: one JSON object per line, streamed. An unreadable line is reported, and the next one is read. */
import { createReadStream } from 'node:fs'
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { parsed } from './folder.ts'

const KIND = /^reef-commit\/\d+$/
const LINE_BYTES_MAX = 64 * 1024 * 1024
const LF = 0x0a

/** A step as the original recorded it. */
export type SourceCommit = NonNullable<ReturnType<typeof commitFrom>>
export type SourceRelease = NonNullable<ReturnType<typeof readRelease>>

export type LogLine =
  | { readonly line: number; readonly commit: SourceCommit }
  /** Only the last line may be torn: a crash wrote half of it, and its step never happened. */
  | { readonly line: number; readonly problem: string; readonly isTorn: boolean }

export async function* readLog(path: string): AsyncGenerator<LogLine> {
  let line = 0
  for await (const { bytes, isWhole } of linesOf(path)) {
    line += 1
    if (bytes !== null && bytes.length === 0) continue
    const value = bytes === null ? undefined : parsed(bytes.toString())
    const commit = readCommit(value)
    if (commit !== null) yield { line, commit }
    else yield { line, problem: bytes === null ? `is longer than ${LINE_BYTES_MAX} bytes` : 'is no row of a commit log', isTorn: !isWhole }
  }
}

/** A line, or null for one that is too long to hold. */
async function* linesOf(path: string): AsyncGenerator<{ readonly bytes: Buffer | null; readonly isWhole: boolean }> {
  let held: Buffer[] = []
  let bytes = 0
  const take = (): Buffer | null => {
    const whole = bytes > LINE_BYTES_MAX ? null : Buffer.concat(held)
    held = []
    bytes = 0
    return whole
  }
  const hold = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes <= LINE_BYTES_MAX) held.push(piece)
    else held = []
  }
  for await (const chunk of createReadStream(path)) {
    const data: Buffer = chunk
    let from = 0
    for (let end = data.indexOf(LF); end !== -1; end = data.indexOf(LF, from)) {
      hold(data.subarray(from, end))
      yield { bytes: take(), isWhole: true }
      from = end + 1
    }
    hold(data.subarray(from))
  }
  if (bytes > 0) yield { bytes: take(), isWhole: false }
}

function readCommit(value: Json | undefined): SourceCommit | null {
  if (!isObject(value) || typeof value['record'] !== 'string' || !KIND.test(value['record'])) return null
  const { scenario, step } = value
  if (typeof scenario !== 'string' || scenario === '' || !isStep(step)) return null
  return commitFrom(value, scenario, step)
}

export const isStep = (value: Json | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 1

/** From a line of the log, or from the metadata of a release. */
export function commitFrom(value: JsonObject, scenario: string, step: number, own?: SourceRelease) {
  const release = own ?? readRelease(value['artifact_ref'])
  if (release === null) return null
  const state = isObject(value['algorithm_state']) ? value['algorithm_state'] : {}
  const progress = isObject(value['record_progress']) ? value['record_progress'] : {}
  const { operation: named, recorded_at: at, rollback_target_release_id: target, component } = value
  const operation: 'training' | 'rollback' | 'promote' = named === 'rollback' || named === 'promote' ? named : 'training'
  return {
    scenario,
    step,
    release,
    isCheckpoint: own !== undefined || value['checkpoint'] === true,
    entries: state['entries'],
    /** The rest that its trainer keeps. */
    kept: Object.keys(state).filter((name) => !['entries', 'steps'].includes(name) && holdsSome(state[name])),
    stepRecord: isObject(value['metrics']) && typeof value['metrics']['step_record'] === 'string' ? value['metrics']['step_record'] : null,
    consumed: [progress['compacted_ids'], progress['consumed_ids']].flatMap(textsIn),
    recordedAt: typeof at === 'number' && Number.isFinite(at) && at >= 0 ? at : 0,
    operation,
    isVerified: value['operation_verified'] !== false,
    isPending: value['pending'] === true,
    target: typeof target === 'string' ? target : null,
    metrics: isObject(value['metrics']) ? value['metrics'] : {},
    component: typeof component === 'string' ? component : null,
  }
}

const holdsSome = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)

export function readRelease(value: Json | undefined) {
  if (!isObject(value)) return null
  const { kind, release_id: releaseId, content_id: contentId, parent_release_id: parentId } = value
  if (typeof releaseId !== 'string' || releaseId === '') return null
  return {
    kind: typeof kind === 'string' ? kind : 'artifact',
    releaseId,
    contentId: typeof contentId === 'string' ? contentId : '',
    parentId: typeof parentId === 'string' ? parentId : null,
  }
}

export function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
