/** Normalises or refuses, item by item, what a model's change requires on a person's machine. */
import { isObject, REQUIRES_ITEMS_MAX, REQUIRES_PROMPT_CHARACTERS_MAX } from '../../contract/index.ts'
import type { Brief, Json, JsonObject, Mutation } from '../../contract/index.ts'
import { firstCodePoints, screenText } from '../../kit/index.ts'

const NAME_CHARACTERS_MAX = 128
const KINDS = new Set(['permission', 'env', 'service', 'binary'])

export interface Needs {
  readonly requires: readonly JsonObject[]
  readonly refused: readonly JsonObject[]
}

/** Fixes common mistakes of models; the full checks come later, as for a person's requires. */
export function needsIn(items: readonly Json[]): Needs {
  const judged = items.map(needOf)
  const requires = judged.filter((need) => typeof need !== 'string')
  const refused = judged.flatMap((need, index) => (typeof need === 'string' ? [{ item: shownName(items[index]), reason: need }] : []))
  const over = requires
    .slice(REQUIRES_ITEMS_MAX)
    .map(({ name = null }) => ({ item: name, reason: `there may be ${REQUIRES_ITEMS_MAX} items` }))
  return { requires: requires.slice(0, REQUIRES_ITEMS_MAX), refused: [...refused, ...over] }
}

function needOf(item: Json): JsonObject | string {
  if (!isObject(item)) return 'an item must be an object {name, kind}'
  const { name, kind, check, prompt } = item
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARACTERS_MAX) return 'name must be a short text'
  if (typeof kind !== 'string' || !KINDS.has(kind)) return 'kind must be permission, env, service or binary'
  if (screenText(JSON.stringify(item)) !== null) return 'it holds what looks like a credential or like an order'
  return {
    name: name.trim(),
    kind,
    ...(typeof check === 'string' && check.trim() !== '' && { check: nameIn(kind, check.trim()) }),
    ...(typeof prompt === 'string' && prompt.trim() !== '' && { prompt: firstCodePoints(prompt.trim(), REQUIRES_PROMPT_CHARACTERS_MAX) }),
  }
}

/** A shell test of one variable, or of one program, becomes its name. */
function nameIn(kind: string, check: string): string {
  if (kind === 'binary') return /^(?:command\s+-v\s+|which\s+)?([\w.+-]+)(?:\s+(?:--version|>).*)?$/.exec(check)?.[1] ?? check
  if (kind !== 'env') return check
  const named = new Set([...check.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = '']) => name))
  const [only] = named
  return named.size === 1 && only !== undefined ? only : check
}

function shownName(item: Json | undefined): Json {
  const name = isObject(item) ? item['name'] : null
  return typeof name === 'string' && name.length <= NAME_CHARACTERS_MAX && screenText(name) === null ? name : null
}

/** The items that the row of the step will name: the person's first, then those that the change adds, while there is room. */
export function declaredBy({ request }: Pick<Brief, 'request'>, added: readonly JsonObject[]): readonly JsonObject[] {
  const own = (request?.requires ?? []).map((item) => ({ ...item }))
  return [...own, ...added.filter(({ name }) => !own.some((item) => item.name === name))].slice(0, REQUIRES_ITEMS_MAX)
}

/** Variables that a session always has, or that the agent or the service sets. */
const ALWAYS_SET =
  /^(?:HOME|PATH|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TMPDIR|TEMP|TMP|PWD|NODE_ENV|EDITOR|CI|(?:SVC|PI|OPENCODE|CLAUDE|XDG)_\w+)$/
const READ_BY_NAME = /process\.env(?:\??\.([A-Za-z_]\w*)|(?:\?\.)?\[\s*['"`]([A-Za-z_]\w*)['"`]\s*\])/g
const READ_AT_ONCE = /\{([^{}]*)\}\s*=\s*process\.env/g

/** Variables that the code reads but requires does not name: no check would find them missing. */
export function undeclaredEnv(mutations: readonly Mutation[], requires: readonly JsonObject[]): readonly string[] {
  const declared = new Set(requires.filter(({ kind }) => kind === 'env').map(({ name, check }) => check ?? name))
  const read = mutations.flatMap((mutation) => variablesOf(writtenCode(mutation)))
  return [...new Set(read)].filter((name) => !declared.has(name) && !ALWAYS_SET.test(name)).toSorted()
}

function writtenCode(mutation: Mutation): string {
  const code = mutation.op === 'remove' ? '' : mutation.options.config?.['code']
  return typeof code === 'string' ? code : ''
}

function variablesOf(code: string): readonly string[] {
  const byName = [...code.matchAll(READ_BY_NAME)].map(([, dotted, quoted]) => dotted ?? quoted ?? '')
  const atOnce = [...code.matchAll(READ_AT_ONCE)].flatMap(([, names = '']) =>
    names.split(',').map((name) => /^\s*([A-Za-z_]\w*)/.exec(name)?.[1] ?? ''),
  )
  return [...byName, ...atOnce].filter((name) => name !== '')
}
