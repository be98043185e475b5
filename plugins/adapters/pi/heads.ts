/** The heads of skills and commands, as pi reads them: a file whose head it cannot read is left out without a word, so it is refused here. */
import { parse } from 'yaml'
import { invalid, isObject, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { hasFrontMatter, withFrontMatter } from '../../../src/harness/index.ts'

/** The skills of the draft, each with a head. */
export function headed({ entries, files }: Draft): Files {
  for (const entry of entries) if (entry.name === 'agent_command') headOf(entry)
  const skills = entries.filter(({ name }) => name === 'skill').map((entry) => headedSkill(entry, files))
  return Object.fromEntries(skills)
}

function headedSkill(entry: Entry, files: Files): [string, string] {
  const name = textIn(entry, 'name')
  checkSkill(entry, name)
  const path = `pi-agent/skills/${name}/SKILL.md`
  return [path, withFrontMatter(name, files[path] ?? '')]
}

/** pi would offer a skill under the name in its head; everything else here calls it by its folder. */
function checkSkill(entry: Entry, folder: string): void {
  const head = headOf(entry)
  if (head === null) return
  const { name = folder, description } = head
  if (name !== folder) throw invalid('bad_front_matter', `${entry.id}: name in the front matter must be ${folder}, as config.name says`)
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('bad_front_matter', `${entry.id}: the front matter needs a description; pi does not offer a skill without one`)
}

/** Null where there is none, which is no mistake. */
function headOf(entry: Entry): JsonObject | null {
  const text = textIn(entry, 'text')
  if (!hasFrontMatter(text)) return null
  const [, yaml] = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---/.exec(text) ?? []
  const head = yaml === undefined ? null : read(yaml)
  if (isObject(head)) return head
  throw invalid('bad_front_matter', `${entry.id}: the front matter is no YAML mapping between two lines of ---; mend or remove it`)
}

/** The house has refused an entry whose name or text is none. */
function textIn({ config }: Entry, field: string): string {
  const value = config[field]
  return typeof value === 'string' ? value : ''
}

function read(yaml: string): Json {
  try {
    return parse(yaml)
  } catch {
    return null
  }
}
