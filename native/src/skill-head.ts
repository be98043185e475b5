/** What a skill is about, from the head of its text: enough of YAML for one line, quoted or folded. */

const DESCRIPTION_CHARACTERS_MAX = 1000

/** Null where nothing says it. */
export function descriptionIn(text: string): string | null {
  const [, head] = /^---[ \t]*\r?\n((?:(?!---)[^\n]*\n)*)---/.exec(text) ?? []
  const found = head === undefined ? firstLine(text) : (described(head.split(/\r?\n/)) ?? firstLine(text.slice(head.length + 8)))
  return found === null || found === '' ? null : found.slice(0, DESCRIPTION_CHARACTERS_MAX)
}

function described(lines: readonly string[]): string | null {
  const at = lines.findIndex((line) => line.startsWith('description:'))
  const [first, ...rest] = at < 0 ? [] : lines.slice(at)
  if (first === undefined) return null
  const value = first.slice('description:'.length).trim()
  const end = rest.findIndex((line) => line.trim() !== '' && !/^\s/.test(line))
  const further = rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim())
  const words = [/^[|>][-+]?$/.test(value) ? '' : value, ...further].filter((each) => each !== '').join(' ')
  return unquoted(words)
}

function unquoted(text: string): string {
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  if (!/^".*"$/.test(text)) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1)
  }
}

function firstLine(text: string): string | null {
  const lines = text.split('\n').map((line) => line.replace(/^#+/, '').trim())
  return lines.find((line) => line !== '') ?? null
}
