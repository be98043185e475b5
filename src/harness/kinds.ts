/** The kinds of entries that an adapter renders, and the rules of a single entry, independent of the rest of its tree. */
import {
  ENTRY_CODE_BYTES_MAX,
  ENTRY_DATA_BYTES_MAX,
  ENTRY_TEXT_BYTES_MAX,
  isObject,
  JSON_DEPTH_MAX,
  NAMED_KINDS,
  type Adapter,
  type AdapterView,
  type Entry,
  type EntryAuthor,
  type EntryKind,
  type JsonObject,
} from '../contract/index.ts'
import { isDeeperThan } from '../kit/index.ts'
import { codeParses } from './code.ts'
import { brokenRule, isName, NAME_RULE } from './fields.ts'
import { SCHEMAS } from './schemas.ts'
import { consoleProblem, isCredential, secretField, textProblem } from './screens.ts'

/** Checks that take long for long texts, and may have been made beside this thread. */
export interface LongChecks {
  readonly parses: (code: string) => boolean
  readonly looksLikeKey: (text: string) => boolean
}
export const CHECKED_HERE: LongChecks = { parses: codeParses, looksLikeKey: isCredential }

/** The rule that an entry breaks, naming the field, or null. Disabled entries keep the same rules: they may be enabled later. */
export function entryProblem(adapter: Adapter, entry: Entry, checks = CHECKED_HERE): string | null {
  const id = idProblem(entry.id)
  if (id !== null) return `an entry's ${id}`
  const problem = shapeProblem(entry) ?? kindProblem(adapter, entry, checks)
  return problem === null ? null : `${entry.id}: ${problem}`
}

/** The message does not quote a refused id: it may be a pasted key. */
export function idProblem(id: unknown): string | null {
  if (!isName(id)) return `id ${NAME_RULE}`
  return isCredential(id) ? 'id looks like a credential; choose another, and rotate it if it is real' : null
}

const FIELDS: ReadonlySet<string> = new Set(['id', 'name', 'config', 'disabled', 'author', 'protected', 'group'])

export function shapeProblem(entry: Entry): string | null {
  if ('group' in entry && Boolean(entry.group)) return 'group must not be set: a tree is flat'
  if (Object.keys(entry).some((field) => !FIELDS.has(field))) return 'holds an unknown field; there are: name, config, disabled'
  if (!isObject(entry.config)) return 'config must be an object'
  if (isDeeperThan(entry.config, JSON_DEPTH_MAX)) return `config must not be nested more than ${JSON_DEPTH_MAX} levels deep`
  if (entry.disabled !== undefined && typeof entry.disabled !== 'boolean') return 'disabled must be true or false'
  return originProblem(entry)
}

const AUTHORS: readonly unknown[] = ['person', 'traffic', 'agent'] satisfies readonly EntryAuthor[]

function originProblem({ author, protected: isProtected }: Entry): string | null {
  if (author !== undefined && !AUTHORS.includes(author)) return `author must be one of ${AUTHORS.join(', ')}`
  return isProtected === undefined || typeof isProtected === 'boolean' ? null : 'protected must be true or false'
}

function kindProblem(adapter: Adapter, { name, config }: Entry, checks: LongChecks): string | null {
  const kinds = kindsOf(adapter)
  const kind = kinds.find((each) => each === name)
  if (kind === undefined) return `name must be a kind that ${adapter.name} renders: ${kinds.join(', ')}`
  return (
    sizeProblem(config) ??
    textProblem(config, 'config', checks.looksLikeKey) ??
    brokenRule(SCHEMAS[kind], config, 'config') ??
    nameProblem(config) ??
    (kind === 'config' ? settingsProblem(adapter, config) : codeProblem(kind, config, checks))
  )
}

/** A skill or command of such a name, in any case, would take the place of a shipped one. */
function nameProblem({ name }: JsonObject): string | null {
  if (typeof name !== 'string') return null
  if (/^svc(?:[^a-z0-9]|$)/i.test(name)) return "config.name must be another: the names that begin with svc are the service's"
  return MEANT_OTHERWISE.test(name) ? 'config.name must be another: agents take this one for something else' : null
}

/** A command file named SKILL makes its folder one skill, which hides every other command; instructions and packages have such names too. */
const MEANT_OTHERWISE = /^(?:skill|node_modules|(?:agents|claude|gemini)(?:\..*)?)$/i

/** Comes before checks that take longer for longer texts. */
function sizeProblem({ text, code, ...data }: JsonObject): string | null {
  if (bytesOf(text) > ENTRY_TEXT_BYTES_MAX) return `config.text must be at most ${ENTRY_TEXT_BYTES_MAX} bytes`
  if (bytesOf(code) > ENTRY_CODE_BYTES_MAX) return `config.code must be at most ${ENTRY_CODE_BYTES_MAX} bytes`
  return bytesOf(JSON.stringify(data)) > ENTRY_DATA_BYTES_MAX
    ? `config must be at most ${ENTRY_DATA_BYTES_MAX} bytes of JSON beside its text or code`
    : null
}

const bytesOf = (value: unknown): number => (typeof value === 'string' ? Buffer.byteLength(value) : 0)

function settingsProblem({ name, layout }: Adapter, { target = 'primary', data }: JsonObject): string | null {
  if (typeof target !== 'string' || !Object.hasOwn(layout.config, target))
    return `config.target must be one of ${name}'s: ${Object.keys(layout.config).join(', ')}`
  return isObject(data) ? secretField(data, 'config.data') : null
}

const RUN_TURN = /^export\s+(?:async\s+)?function\s+runTurn\s*(?:<[^>(]*>\s*)?\(\s*[\p{ID_Start}$_{[.]/mu

function codeProblem(kind: EntryKind, { code }: JsonObject, { parses }: LongChecks): string | null {
  if (typeof code !== 'string') return null
  if (kind === 'code_extension') return consoleProblem(code, 'config.code')
  if (!parses(code)) return 'config.code must parse as a module of JavaScript, or of TypeScript whose types can be erased'
  if (kind !== 'native_loop' || RUN_TURN.test(code)) return null
  return 'config.code must hold the line export function runTurn(…), or export async function runTurn(…), with at least one parameter'
}

/** An adapter as the routes show it. */
export function describeAdapter(adapter: Adapter): AdapterView {
  const { name, binary = null, trajectory_format, bindings } = adapter
  return {
    name,
    binary,
    trajectory_format,
    model_bindings: Object.keys(bindings),
    kinds: kindsOf(adapter),
    install: pinOf(adapter),
  }
}

/** Without what only the install script needs. */
function pinOf({ install }: Adapter): AdapterView['install'] {
  if (install === undefined) return null
  const { lock: _, native: __, ...pin } = install
  return { ...pin }
}

/** The kinds of entries that it renders. */
export function kindsOf({ layout }: Adapter): readonly EntryKind[] {
  const named = NAMED_KINDS.filter((kind) => layout.named[kind] !== undefined)
  return layout.rules === undefined ? ['config', ...named] : ['config', 'rules', ...named]
}
