/** The heads of skills and commands: Codex leaves out, without a word, a file whose head it cannot read, so such a tree is refused here. */
import { parse } from 'yaml'
import { invalid, isObject, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { hasFrontMatter, withFrontMatter } from '../../../src/harness/index.ts'

/** Both kinds are skills to Codex, which lists them by name and description. */
export function headed({ entries }: Draft): Files {
  const skills = entries.filter(({ name }) => name === 'skill' || name === 'agent_command')
  return Object.fromEntries(skills.map((entry) => [`codex/skills/${textIn(entry, 'name')}/SKILL.md`, headedText(entry)]))
}

function headedText(entry: Entry): string {
  const [name, text] = [textIn(entry, 'name'), textIn(entry, 'text')]
  const head = headOf(entry.id, text)
  if (head !== null) checkHead(entry.id, name, head)
  return withNewline(withFrontMatter(name, text))
}

/** A person would call it by the name in its head, and everything else here by its folder's. */
function checkHead(id: string, folder: string, { name = folder, description }: JsonObject): void {
  if (name !== folder) throw invalid('bad_front_matter', `${id}: name in the front matter must be ${folder}, as config.name says`)
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('bad_front_matter', `${id}: the front matter needs a description; Codex does not offer a skill without one`)
}

/** Null where there is none, which is no mistake. */
function headOf(id: string, text: string): JsonObject | null {
  if (!hasFrontMatter(text)) return null
  const [, yaml] = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  const head = yaml === undefined ? null : read(yaml)
  if (isObject(head)) return head
  throw invalid('bad_front_matter', `${id}: the front matter is no YAML mapping between two lines of ---; mend or remove it`)
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

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)
