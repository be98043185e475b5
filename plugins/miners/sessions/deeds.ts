/** What a recorded call did to files: which it read, wrote, edited, patched or removed, whatever the agent calls its tools. */
import { posix } from 'node:path'
import { pathProblem, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { isList, isObject, objectsOf, ownWords, parsed } from '../../../src/dialects/index.ts'
import type { SessionStep } from '../../../src/sessions/index.ts'
import { onlyLooks } from './looking.ts'
import { changesIn, isPatch, PATCH_CHARACTERS_MAX, type PatchChunk } from './patch.ts'

export type CallStep = Extract<SessionStep, { by: 'call' }>

/** Tools that only look, unless their names say too that they change what they find. */
const LOOKS = /read|view|list|^ls|glob|grep|search|find|fetch|todo|plan|think|status|diff/i
const CHANGES = /replace|delete|remove|rename|apply/i

/** Whether it may have changed files without showing it. */
export function mayChange({ name, input }: CallStep): boolean {
  const command = textAt(fieldsOf(input), ['command', 'cmd'])
  return command === null ? !LOOKS.test(name) || CHANGES.test(name) : !onlyLooks(command)
}

export type Deed = { readonly path: string } & (
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'write'; readonly text: string }
  | { readonly kind: 'edit'; readonly edits: readonly Edit[] }
  | { readonly kind: 'patch'; readonly chunks: readonly PatchChunk[]; readonly to: string | null }
  | { readonly kind: 'remove' }
  /** It changes something that cannot be a file of a task. */
  | { readonly kind: 'lost' }
)
export interface Edit {
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
/** Commands that show one file; the second one so many lines of it. */
const CAT = /^\s*(?:cat|sed -n ["']?1,(?<lines>\d{1,6})p["']?)[ \t]+(?:--[ \t]+)?["']?(?<path>[\w./@+-]+)["']?\s*$/

/** What a call did to files, whatever the agent calls its tools; null for any other call. */
export function deedsOf(call: CallStep, result: string, folder: string | null): readonly Deed[] | null {
  const patch = patchIn(call)
  if (patch !== null) return deedsOfPatch(patch, result, folder)
  const deed = deedOf(call, result, folder)
  return deed === null ? null : [deed]
}

interface FoundPatch {
  readonly text: string
  /** The folder that its paths begin at; empty: that of the session. */
  readonly base: string
}

const baseIn = (fields: JsonObject): string => textAt(fields, ['workdir', 'cwd']) ?? ''

const PATCH_TOOL = /^apply_?patch$|^patch$/i
/** As a shell is asked for it. */
const HERE_DOCUMENT = /^\s*(?:cd\s+(?:"([^"]*)"|'([^']*)'|([^\s;&|]+))\s*&&\s*)?apply_?patch\s*<<-?\s*(['"]?)(\w+)\b\4[^\n]*\n([^]*)$/

/** A call of the tool, or a command that is nothing but a patch. */
function patchIn({ name, input }: CallStep): FoundPatch | null {
  const fields = fieldsOf(input)
  const base = baseIn(fields)
  const given = typeof input === 'string' && isPatch(input) ? input : (textAt(fields, PATCH_FIELDS) ?? '')
  if (given.length > PATCH_CHARACTERS_MAX) return null
  if (isPatch(given)) return { text: given, base }
  const [, quoted, single, plain, , word = '', rest = ''] = HERE_DOCUMENT.exec(given) ?? []
  const end = word === '' ? -1 : rest.lastIndexOf(`\n${word}`)
  if (end < 0) return PATCH_TOOL.test(name) ? { text: given, base } : null
  return rest.slice(end + 1).trim() === word ? { text: rest.slice(0, end), base: posix.join(base, quoted ?? single ?? plain ?? '') } : null
}
const PATCH_FIELDS = ['input', 'patch', 'patchText', 'command', 'cmd']

/** What the tool says where it changed nothing. */
const NOT_APPLIED = /verification failed|invalid patch|no files were modified/i
const EXIT_CODE = /\bexit(?:ed with)?[ _]code["']?:? (?!0\b)-?\d/i

/** Nothing, where the tool refused it; what it did, where it says nothing else. */
function deedsOfPatch({ text, base }: FoundPatch, result: string, folder: string | null): readonly Deed[] | null {
  const said = result.slice(0, TAIL_CHARACTERS)
  if (NOT_APPLIED.test(said)) return []
  const changes = EXIT_CODE.test(said) ? null : changesIn(text)
  const at = (path: string): string | null => relativeTo(path, folder, base)
  return (
    changes?.map((change): Deed => {
      const path = at(change.path)
      const to = change.kind === 'patch' && change.to !== null ? at(change.to) : null
      const isLost = path === null || (change.kind === 'patch' && change.to !== null && to === null)
      return isLost ? { kind: 'lost', path: '' } : change.kind === 'patch' ? { ...change, path, to } : { ...change, path }
    }) ?? null
  )
}

function deedOf({ name, input }: CallStep, result: string, folder: string | null): Deed | null {
  const fields = fieldsOf(input)
  const { path: shown, lines } = CAT.exec(textAt(fields, ['command', 'cmd']) ?? '')?.groups ?? {}
  const path = relativeTo(textAt(fields, PATH_FIELDS) ?? shown ?? '', folder, baseIn(fields))
  if (path === null) return null
  const edits = editsIn(fields)
  if (edits.length > 0) return { kind: 'edit', path, edits }
  const content = textAt(fields, CONTENT_FIELDS)
  if (content !== null) return { kind: 'write', path, text: content }
  const isWhole = PART_FIELDS.every((field) => (fields[field] ?? null) === null)
  if (!isWhole || !(READS.test(name) || shown !== undefined)) return null
  const text = plainText(result)
  const isCut = lines !== undefined && (text ?? '').split('\n').length > Number(lines)
  return text === null || isCut ? null : { kind: 'read', path, text }
}

function fieldsOf(input: Json): JsonObject {
  const value = typeof input === 'string' ? parsed(input) : input
  if (!isObject(value)) return {}
  const { command } = value
  return isList(command) ? { ...value, command: lineOf(command.filter((word) => typeof word === 'string')) } : value
}

const SHELL = /(?:^|\/)(?:ba|da|k|z)?sh$/
const PLAIN = /^[\w./@+=:,-]+$/

/** What a shell is told, or the patch alone; else the words as a shell would be given them. */
function lineOf(words: readonly string[]): string {
  const [program = '', ...args] = words
  const isTold = SHELL.test(program) && /^-\w*c$/.test(args.at(-2) ?? '')
  if (isTold || isPatch(args.at(-1) ?? '')) return args.at(-1) ?? ''
  return words.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
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

/** Inside the folder of the session, as its files are named in a task; null for anything else. */
function relativeTo(given: string, folder: string | null, base: string): string | null {
  if (given === '') return null
  const path = posix.isAbsolute(given) || folder === null ? posix.normalize(given) : posix.join(base, given)
  const inside = !posix.isAbsolute(path) ? path : folder === null ? null : posix.relative(folder, path)
  return inside === null || inside === '' || inside.startsWith('verify/') || pathProblem(inside) !== null ? null : inside
}

const NUMBERED = /^ *\d+(?:→|\t|\| ?|: ?)/
const CUT = /\btruncated\b|\[\d+ (?:more )?lines?\b|^\[…\]$|\(File has more lines/im

const CUT_INSIDE = /…\d+ \w+ truncated…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]/

/** A file as a tool shows it, without the numbers of its lines; null where something is left out. */
function plainText(shown: string): string | null {
  const unwrapped = outputIn(shown)
  const text = ownWords(unwrapped)
    .replace(/^<file>\n?/, '')
    .replace(/(?<!\n)\n*(?:\(End of file[^\n(]*\)\s*)?(?:<\/file>\s*)?$/, '')
  if (CUT.test(unwrapped.slice(-TAIL_CHARACTERS)) || CUT_INSIDE.test(unwrapped) || text.includes('\0')) return null
  const lines = text.split('\n')
  const plain = lines.every((line) => NUMBERED.test(line)) ? lines.map((line) => line.replace(NUMBERED, '')) : lines
  return `${plain.join('\n').replace(/(?<!\n)\n+$/, '')}\n`
}
const TAIL_CHARACTERS = 400

/** Lines that Codex puts before what a command printed. */
const HEAD = /^(?:(?:Chunk ID|Command|Exit code|Wall time|Process exited|Original token count|Total output lines)\b[^\n]*\n)+Output:\n/

/** Some agents put what a command printed into an object, or below a head. */
function outputIn(shown: string): string {
  const value = shown.startsWith('{') ? parsed(shown) : undefined
  return isObject(value) && typeof value['output'] === 'string' ? value['output'] : shown.replace(HEAD, '')
}
