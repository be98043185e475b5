/** The heads of skills and commands, as opencode reads them. */
import { parse } from 'yaml'
import { invalid, isObject, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { hasFrontMatter, withFrontMatter } from '../../../src/harness/index.ts'

/**
 * Skills and commands, each with a head of its own. A text that begins like a head but is none is thereby body: opencode would take `---js`
 * for a head written as code, and run it.
 */
export function headed({ entries, files }: Draft): Files {
  const heads = entries.flatMap((entry): [string, string][] => {
    const name = textIn(entry, 'name')
    if (entry.name === 'skill') return [[`opencode/skills/${name}/SKILL.md`, name]]
    return entry.name === 'agent_command' ? [[`opencode/commands/${name}.md`, name]] : []
  })
  for (const entry of entries) checkHead(entry)
  return Object.fromEntries(heads.map(([path, name]) => [path, withFrontMatter(name, files[path] ?? '')]))
}

function checkHead(entry: Entry): void {
  if (entry.name === 'skill') checkSkill(entry.id, textIn(entry, 'name'), headOf(entry))
  if (entry.name === 'agent_command' && headOf(entry)?.['model'] !== undefined)
    throw invalid('setting_refused', `${entry.id}: model in the front matter is refused: the service names the model; remove the field`)
}

/** A skill without one of the two is left out by opencode without a word. */
function checkSkill(id: string, folder: string, head: JsonObject | null): void {
  if (head === null) return
  const { name, description } = head
  if (name !== folder) throw invalid('bad_front_matter', `${id}: the front matter needs name: ${folder}, as config.name says`)
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('bad_front_matter', `${id}: the front matter needs a description; opencode does not offer a skill without one`)
}

/** Null where there is none, which is no mistake. */
function headOf(entry: Entry): JsonObject | null {
  const text = textIn(entry, 'text')
  if (!hasFrontMatter(text)) return null
  const [, yaml] = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  const head = yaml === undefined ? null : read(yaml)
  if (isObject(head)) return head
  throw invalid('bad_front_matter', `${entry.id}: the front matter is no YAML mapping between two lines of ---; mend or remove it`)
}

function read(yaml: string): Json {
  try {
    return parse(yaml)
  } catch {
    return null
  }
}

/** The house has refused an entry whose name or text is none. */
function textIn({ config }: Entry, field: string): string {
  const value = config[field]
  return typeof value === 'string' ? value : ''
}
