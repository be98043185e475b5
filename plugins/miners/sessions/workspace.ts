/**
 * What a session shows of its workspace: files that were read whole before they were changed, and what the agent made of them. It may be wrong or
 * incomplete: the service tries every task before it keeps it.
 */
import { posix } from 'node:path'
import { pathProblem, type Files, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { isList, isObject, objectsOf, parsed } from '../../../src/dialects/index.ts'
import { isTestCommand, ownWords, testRunsIn, type SessionStep } from '../../../src/sessions/index.ts'

export interface WorkspaceShown {
  /** As they were first read. */
  readonly before: Files
  /** Those that the agent changed or made, as it left them. */
  readonly changed: Files
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
    const done = deedOf(call.name, call.input, result.text, folder)
    if (done === null) isCertain &&= !mayChange(call)
    if (done === null || result.isError) continue
    const known = now.get(done.path)
    if (done.kind === 'read') {
      // After a change that nothing shows, a file may not be what it was.
      if (known !== undefined || !isCertain) continue
      before.set(done.path, done.text)
      now.set(done.path, done.text)
      continue
    }
    const text = done.kind === 'write' ? done.text : known === undefined ? null : edited(known, done.edits)
    if (text === null) return null
    now.set(done.path, text)
    lastChange = at
  }
  const changed = [...now].filter(([path, text]) => before.get(path) !== text)
  const last = testRunsIn(steps).findLast(({ ended }) => ended !== null)
  return {
    before: bounded(before),
    changed: bounded(changed),
    hasPassed: last !== undefined && last.ended === 'well' && last.at > lastChange && lastChange >= 0,
    hasWorked: steps.some(({ by }) => by === 'call'),
  }
}

type CallStep = Extract<SessionStep, { by: 'call' }>
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

/** Tools and commands that only look. */
const LOOKS = /read|view|list|^ls|glob|grep|search|find|fetch|todo|plan|think|status|diff/i
const LOOKING = /^\s*(?:cat|ls|grep|rg|find|head|tail|wc|pwd|which|tree|stat|file|git (?:status|log|diff|show))\b[^>|;&]*$/

function mayChange({ name, input }: CallStep): boolean {
  const command = textAt(fieldsOf(input), ['command', 'cmd'])
  return command === null ? !LOOKS.test(name) : !LOOKING.test(command) && !isTestCommand(command)
}

type Deed =
  | { readonly kind: 'read'; readonly path: string; readonly text: string }
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'edit'; readonly path: string; readonly edits: readonly Edit[] }
interface Edit {
  readonly old: string
  readonly new: string
  readonly isEverywhere: boolean
}

const PATH_FIELDS = ['file_path', 'filePath', 'path', 'filename', 'file']
const CONTENT_FIELDS = ['content', 'contents', 'file_text', 'text']
const OLD_FIELDS = ['old_string', 'oldString', 'oldText', 'old_str', 'old_text']
const NEW_FIELDS = ['new_string', 'newString', 'newText', 'new_str', 'new_text']
/** A part of a file is not the file. */
const PART_FIELDS = ['offset', 'limit', 'view_range', 'start_line', 'end_line', 'startLine', 'endLine', 'range']
const READS = /^(?:read|view|open|cat|get)|(?:read|view)(?:_?file)?$|^str_replace/i
const CAT = /^\s*cat\s+(?:--\s+)?["']?([\w./@+-]+)["']?\s*$/

/** What a call did to one file, whatever the agent calls its tools; null for any other call. */
function deedOf(name: string, input: Json, result: string, folder: string | null): Deed | null {
  const fields = fieldsOf(input)
  const [, shown] = CAT.exec(textAt(fields, ['command', 'cmd']) ?? '') ?? []
  const path = relativeTo(textAt(fields, PATH_FIELDS) ?? shown ?? '', folder)
  if (path === null) return null
  const edits = editsIn(fields)
  if (edits.length > 0) return { kind: 'edit', path, edits }
  const content = textAt(fields, CONTENT_FIELDS)
  if (content !== null) return { kind: 'write', path, text: content }
  const isWhole = PART_FIELDS.every((field) => (fields[field] ?? null) === null)
  if (!isWhole || !(READS.test(name) || shown !== undefined)) return null
  const text = plainText(result)
  return text === null ? null : { kind: 'read', path, text }
}

function fieldsOf(input: Json): JsonObject {
  const value = typeof input === 'string' ? parsed(input) : input
  if (!isObject(value)) return {}
  const { command } = value
  return isList(command) ? { ...value, command: command.filter((word) => typeof word === 'string').slice(-1)[0] ?? '' } : value
}

const textAt = (fields: JsonObject, names: readonly string[]): string | null => {
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string')
  return found ?? null
}

function editsIn(fields: JsonObject): readonly Edit[] {
  return [fields, ...objectsOf(fields['edits'])].flatMap((edit) => {
    const [old, fresh] = [textAt(edit, OLD_FIELDS), textAt(edit, NEW_FIELDS)]
    const isEverywhere = edit['replace_all'] === true || edit['replaceAll'] === true
    return old === null || fresh === null ? [] : [{ old, new: fresh, isEverywhere }]
  })
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

/** Inside the folder of the session, as its files are named in a task; null for anything else. */
function relativeTo(given: string, folder: string | null): string | null {
  if (given === '') return null
  const path = posix.normalize(given)
  const inside = !posix.isAbsolute(path) ? path : folder === null ? null : posix.relative(folder, path)
  return inside === null || inside === '' || inside.startsWith('verify/') || pathProblem(inside) !== null ? null : inside
}

const NUMBERED = /^ *\d+(?:→|\t|\| ?|: ?)/
const CUT = /\btruncated\b|\[\d+ (?:more )?lines?\b|^\[…\]$|\(File has more lines/im

/** A file as a tool shows it, without the numbers of its lines; null where something is left out. */
function plainText(shown: string): string | null {
  const unwrapped = outputIn(shown)
  const text = ownWords(unwrapped)
    .replace(/^<file>\n?/, '')
    .replace(/\n*(?:\(End of file[^\n]*\)\s*)?(?:<\/file>\s*)?$/, '')
  if (CUT.test(unwrapped.slice(-TAIL_CHARACTERS)) || text.includes('\0')) return null
  const lines = text.split('\n')
  const plain = lines.every((line) => NUMBERED.test(line)) ? lines.map((line) => line.replace(NUMBERED, '')) : lines
  return `${plain.join('\n').replace(/\n+$/, '')}\n`
}
const TAIL_CHARACTERS = 400

/** Some agents put what a command printed into an object. */
function outputIn(shown: string): string {
  const value = shown.startsWith('{') ? parsed(shown) : undefined
  return isObject(value) && typeof value['output'] === 'string' ? value['output'] : shown
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
