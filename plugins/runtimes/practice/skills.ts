/** The skills an agent lists in its prompt: name, description, and where the text is when the list says so. */
import type { Tool } from '../../../src/dialects/index.ts'

export interface Skill {
  readonly name: string
  readonly description: string
  readonly location: string | null
}

const BULLET = /^\s*[-*]\s+[*`"]*([A-Za-z0-9][\w.:-]*?)[*`"]*\s*(?::|—|–|-)[*]*\s+(.+?)(?:\s+\((?:file:\s*)?(\S+\.md)\))?\s*$/
const SKILL_TOOL = /^(?:(?:read|load|use|get|activate|invoke)_)?skills?$/i

/** Agents list skills in the system text or in the description of the tool that reads them, as elements or as bullets below a heading. */
export function skillsIn(instructions: string, tools: readonly Tool[]): readonly Skill[] {
  const texts = [instructions, ...tools.filter(isSkillTool).map((tool) => tool.description)]
  return texts.flatMap((text) => [...elements(text), ...bullets(text)])
}

export const isSkillTool = (tool: Tool): boolean => SKILL_TOOL.test(tool.name)

function elements(text: string): readonly Skill[] {
  return piecesBetween(text, '<skill>', '</skill>').flatMap((element) => {
    const name = elementText(element, 'name')
    const description = elementText(element, 'description')
    if (name === null || description === null) return []
    return [{ name, description, location: elementText(element, 'location') ?? elementText(element, 'path') }]
  })
}

function bullets(text: string): readonly Skill[] {
  const skills: Skill[] = []
  let isBelowHeading = false
  for (const line of text.split('\n')) {
    const [, name, description, location] = BULLET.exec(line) ?? []
    if (name !== undefined && description !== undefined) {
      if (isBelowHeading) skills.push({ name, description, location: location ?? null })
    } else if (/\bskills?\b/i.test(line)) isBelowHeading = true
    else if (/^\s*#/.test(line)) isBelowHeading = false
  }
  return skills
}

/** Every piece from an opening mark to the next closing one, marks included; in one pass, since a pattern could take too long. */
export function piecesBetween(text: string, open: string, close: string): readonly string[] {
  const pieces: string[] = []
  let from = text.indexOf(open)
  while (from !== -1) {
    const to = text.indexOf(close, from + open.length)
    if (to === -1) break
    pieces.push(text.slice(from, to + close.length))
    from = text.indexOf(open, to + close.length)
  }
  return pieces
}

/** What is inside the first such element, or null. */
function elementText(text: string, name: string): string | null {
  const [piece] = piecesBetween(text, `<${name}>`, `</${name}>`)
  return piece?.slice(name.length + 2, -(name.length + 3)).trim() ?? null
}
