/** The heads of skills and commands: agents list them by it, so a text without one is given one, and one that an agent would not take is refused. */
import { parse, stringify } from 'yaml'
import { invalid, isObject, type Adapter, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../contract/index.ts'
import { firstCodePoints } from '../../kit/index.ts'

const DESCRIPTION_CHARACTERS_MAX = 200
const KINDS = ['skill', 'agent_command'] as const

/** Throws for a head that the agent would take amiss. */
export type HeadCheck = (entry: Entry, head: JsonObject) => void

/**
 * The texts of a draft by path, each with a head that passed the checks; `given` are the kinds that need one. A head that cannot be read is
 * refused in every kind, whatever the agent: it would leave the file out without a word.
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

/** Null where there is none, which is no mistake. */
function headOf(entry: Entry): JsonObject | null {
  const text = textIn(entry, 'text')
  if (!hasFrontMatter(text)) return null
  const head = headIn(text)
  if (isObject(head)) return head
  throw invalid('bad_front_matter', `${entry.id}: the front matter is no YAML mapping between two lines of ---; mend or remove it`)
}

/** The house has refused an entry whose name or text is none. */
function textIn({ config }: Entry, field: string): string {
  const value = config[field]
  return typeof value === 'string' ? value : ''
}

export const hasFrontMatter = (text: string): boolean => /^---[ \t]*\r?\n/.test(text)

/** Agents differ in what ends a head: it is the first line that begins with `---`, which must hold nothing else. */
function headIn(text: string): Json {
  const [, yaml = ''] = /^---[ \t]*\r?\n((?:(?!---)[^\n]*\n)*)---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  try {
    return parse(yaml)
  } catch {
    return null
  }
}

/** The text as it is when it has a head; else with its name and its first line as description. */
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

/** Agents offer a skill under the name in its head; everything else here calls it by its folder. */
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
