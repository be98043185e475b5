/** Front matter of skills and commands: added where it is missing, refused where the agent would not accept it. */
import { parse, stringify } from 'yaml'
import { invalid, isObject, type Adapter, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../contract/index.ts'
import { firstCodePoints } from '../../kit/index.ts'

const DESCRIPTION_CHARACTERS_MAX = 200
const KINDS = ['skill', 'agent_command'] as const

/** Throws for front matter that the agent would not accept. */
export type HeadCheck = (entry: Entry, head: JsonObject) => void

/**
 * The texts of a draft by path, each with checked front matter; `given` are the kinds that need it. Unreadable front matter is always refused:
 * agents would silently skip the file.
 */
export function headed(
  { layout }: Pick<Adapter, 'layout'>,
  { entries, files }: Draft,
  checks: readonly HeadCheck[] = [],
  given: readonly (typeof KINDS)[number][] = KINDS,
): Files {
  const texts = KINDS.flatMap((kind) =>
    entries
      .filter(({ name }) => name === kind)
      .flatMap((entry): [string, string][] => {
        const head = headOf(entry)
        if (!given.includes(kind)) return []
        if (head !== null) for (const check of checks) check(entry, head)
        const name = textIn(entry, 'name')
        const path = (layout.named[kind] ?? '').replaceAll('{name}', () => name)
        return [[path, withFrontMatter(name, files[path] ?? '')]]
      }),
  )
  return Object.fromEntries(texts)
}

function headOf(entry: Entry): JsonObject | null {
  const text = textIn(entry, 'text')
  if (!hasFrontMatter(text)) return null
  const head = headIn(text)
  if (isObject(head)) return head
  throw invalid('bad_front_matter', `${entry.id}: the front matter is not a YAML mapping between two lines of ---; fix or remove it`)
}

/** Admission guarantees that name and text are strings. */
function textIn({ config }: Entry, field: string): string {
  const value = config[field]
  return typeof value === 'string' ? value : ''
}

export const hasFrontMatter = (text: string): boolean => /^---[ \t]*\r?\n/.test(text)

/** Agents differ in what ends front matter: here the first line that begins with `---`, which must hold nothing else. */
export function headIn(text: string): Json {
  const [, yaml = ''] = /^---[ \t]*\r?\n((?:(?!---)[^\n]*\n)*)---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  try {
    return parse(yaml)
  } catch {
    return null
  }
}

/** Adds front matter where there is none, with the first line as description. */
export function withFrontMatter(name: string, text: string): string {
  if (hasFrontMatter(text)) return text
  const head = stringify(
    { name, description: descriptionOf(name, text) },
    { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
  )
  return `---\n${head}---\n\n${text}`
}

function descriptionOf(name: string, text: string): string {
  const line = text
    .split('\n')
    .map((each) => each.replace(/^#+/, '').trim())
    .find((each) => each !== '')
  return firstCodePoints(line ?? name, DESCRIPTION_CHARACTERS_MAX)
}

/** Agents use the name in the front matter; the service uses the folder's. */
export function refuseOtherName(entry: Entry, { name }: JsonObject): void {
  const folder = textIn(entry, 'name')
  if (name !== undefined && name !== folder)
    throw invalid('bad_front_matter', `${entry.id}: name in the front matter must be ${folder}, as config.name says`)
}

export function refuseUndescribed({ id }: Entry, { description }: JsonObject): void {
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('bad_front_matter', `${id}: the front matter needs a description; the agent does not offer a skill without one`)
}

export function refuseModel({ id }: Entry, { model }: JsonObject): void {
  if (model !== undefined)
    throw invalid('setting_refused', `${id}: model in the front matter is refused: the service names the model; remove the field`)
}
