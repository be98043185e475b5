/** The heads of skills and commands, as Claude Code reads them. */
import { parse } from 'yaml'
import { invalid, isObject, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { hasFrontMatter, withFrontMatter } from '../../../src/harness/index.ts'

/** Skills and commands, each with a head. */
export function headed({ entries, files }: Draft): Files {
  const heads = entries.flatMap((entry): [string, string][] => {
    const name = textIn(entry, 'name')
    if (entry.name === 'skill') return [[`claude/skills/${name}/SKILL.md`, checked(entry, name)]]
    return entry.name === 'agent_command' ? [[`claude/commands/${name}.md`, checked(entry, name)]] : []
  })
  return Object.fromEntries(heads.map(([path, name]) => [path, withFrontMatter(name, files[path] ?? '')]))
}

/** A skill would be offered under the name in its head; everything else here calls it by its folder. */
function checked(entry: Entry, folder: string): string {
  const { name = folder, model } = headOf(entry) ?? {}
  if (name !== folder) throw invalid('bad_front_matter', `${entry.id}: name in the front matter must be ${folder}, as config.name says`)
  if (model !== undefined)
    throw invalid('setting_refused', `${entry.id}: model in the front matter is refused: the service names the model; remove the field`)
  return folder
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
