/**
 * What a session shows of its workspace: files that were read whole before they were changed, and what the agent made of them. It may be wrong or
 * incomplete: the service tries every task before it keeps it.
 */
import type { Files } from '../../../src/contract/index.ts'
import { testRunsIn, type SessionStep } from '../../../src/sessions/index.ts'
import { deedsOf, mayChange, type CallStep, type Deed, type Edit } from './deeds.ts'
import { patched } from './patch.ts'

export interface WorkspaceShown {
  /** As they were first read. */
  readonly before: Files
  /** Those that the agent changed or made, as it left them. */
  readonly changed: Files
  /** Those that it removed. */
  readonly removed: readonly string[]
  /** Whether tests ran after the last change, and the last of them ended well. */
  readonly hasPassed: boolean
  /** Whether it called any tool. */
  readonly hasWorked: boolean
}

const FILES_MAX = 200
const FILE_BYTES_MAX = 256 * 1024
const ALL_BYTES_MAX = 2 * 1024 * 1024

/** Null where a change was made to a file that is not known. */
export function workspaceIn(steps: readonly SessionStep[], folder: string | null): WorkspaceShown | null {
  const before = new Map<string, string>()
  const now = new Map<string, string>()
  let lastChange = -1
  let isCertain = true
  for (const { call, result, at } of pairsIn(steps)) {
    const deeds = deedsOf(call, result.text, folder)
    if (deeds === null) isCertain &&= !mayChange(call)
    if (deeds === null || result.isError) continue
    for (const deed of deeds) {
      const known = now.get(deed.path)
      if (deed.kind === 'read') {
        // After a change that nothing shows, a file may not be what it was.
        if (known !== undefined || !isCertain) continue
        before.set(deed.path, deed.text)
        now.set(deed.path, deed.text)
        continue
      }
      const text = textAfter(deed, known)
      if (text === null) return null
      now.delete(deed.path)
      if (text !== REMOVED) now.set((deed.kind === 'patch' ? deed.to : null) ?? deed.path, text)
      lastChange = at
    }
  }
  const last = testRunsIn(steps).findLast(({ ended }) => ended !== null)
  return {
    before: bounded(before),
    changed: bounded([...now].filter(([path, text]) => before.get(path) !== text)),
    removed: [...before.keys()].filter((path) => !now.has(path)),
    hasPassed: last !== undefined && last.ended === 'well' && last.at > lastChange && lastChange >= 0,
    hasWorked: steps.some(({ by }) => by === 'call'),
  }
}

const REMOVED = Symbol('removed')

/** What a file holds after a change; null where what it held before is needed and not known, or the change does not fit it. */
function textAfter(deed: Exclude<Deed, { kind: 'read' }>, known: string | undefined): string | typeof REMOVED | null {
  if (deed.kind === 'write') return deed.text
  if (known === undefined || deed.kind === 'lost') return null
  if (deed.kind === 'remove') return REMOVED
  return deed.kind === 'edit' ? edited(known, deed.edits) : patched(known, deed.chunks)
}

/** Null where the text does not hold what is replaced. */
function edited(text: string, edits: readonly Edit[]): string | null {
  let next: string | null = text
  for (const edit of edits) {
    if (next === null || edit.old === '' || !next.includes(edit.old)) return null
    next = edit.isEverywhere ? next.replaceAll(edit.old, () => edit.new) : next.replace(edit.old, () => edit.new)
  }
  return next
}

type ResultStep = Extract<SessionStep, { by: 'result' }>

function* pairsIn(steps: readonly SessionStep[]): Generator<{ call: CallStep; result: ResultStep; at: number }> {
  const open: CallStep[] = []
  for (const [at, step] of steps.entries()) {
    if (step.by === 'call') open.push(step)
    if (step.by !== 'result') continue
    const place = open.findIndex(({ id }) => id === step.callId)
    const [call] = open.splice(Math.max(place, 0), 1)
    if (call !== undefined) yield { call, result: step, at }
  }
}

/** As many as fit, in their order. */
function bounded(files: Iterable<readonly [string, string]>): Files {
  const kept: [string, string][] = []
  let bytes = 0
  for (const [path, text] of files) {
    const more = Buffer.byteLength(text)
    if (kept.length >= FILES_MAX || more > FILE_BYTES_MAX || bytes + more > ALL_BYTES_MAX) continue
    bytes += more
    kept.push([path, text])
  }
  return Object.fromEntries(kept)
}
