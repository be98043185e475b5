/** Changes the texts of JSON and nothing else: every digit, blank and escape outside of a changed text stays as it was. */

export interface JsonChange {
  /** The new text; the same one where nothing changes. Names of members are given too. The path is that of the object or list around it; the key is that of the member, null for a name and a number. */
  readonly text: (text: string, path: readonly string[], key: string | null) => string
  /** Whether an object or a list under that name is replaced by null. Its texts are not given. */
  readonly isDropped?: (key: string, path: readonly string[]) => boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const MINUS = 0x2d
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Text that is no JSON, or only begins like it, is changed as far as its quotes can be followed. */
export function changeJson(json: string, { text: change, isDropped }: JsonChange): string {
  const path: string[] = []
  let key = ''
  let changed = ''
  let copied = 0
  let at = 0
  const replace = (start: number, end: number, by: string): void => {
    changed += json.slice(copied, start) + by
    copied = end
  }
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(json, at)
      if (end === -1) break
      const next = pastSpace(json, end + 1)
      const isKey = json.charCodeAt(next) === COLON
      const said = readText(json, at, end)
      if (isKey) key = said ?? ''
      const better = said === null ? null : change(said, path, isKey ? null : key)
      if (better !== said && better !== null) replace(at, end + 1, JSON.stringify(better))
      at = end + 1
      if (isKey && isDropped?.(key, path) === true) at = drop(pastSpace(json, next + 1), at)
      continue
    }
    if (code === OPEN_OBJECT || code === OPEN_LIST) path.push(key)
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) key = path.pop() ?? ''
    else if (isDigit(code) || code === MINUS) {
      const end = endOfNumber(json, at)
      changeNumber(at, end)
      at = end
      continue
    }
    at += 1
  }
  return copied === 0 ? json : changed + json.slice(copied)

  function drop(start: number, otherwise: number): number {
    const code = json.charCodeAt(start)
    if (code !== OPEN_OBJECT && code !== OPEN_LIST) return otherwise
    const end = endOfNested(json, start)
    replace(start, end, 'null')
    return end
  }

  /** A number may be a card: what takes its place is a text. */
  function changeNumber(start: number, end: number): void {
    if (end - start < NUMBER_DIGITS_MIN) return
    const number = json.slice(start, end)
    const better = change(number, path, null)
    if (better !== number) replace(start, end, JSON.stringify(better))
  }
}

/** Shorter numbers are counts, times and prices. */
const NUMBER_DIGITS_MIN = 13

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

function endOfNumber(json: string, start: number): number {
  let end = start + 1
  while (end < json.length && /[\d.eE+-]/.test(json.charAt(end))) end += 1
  return end
}

/** Where the closing quote stands; -1 where there is none. */
function endOfText(json: string, quote: number): number {
  for (let end = json.indexOf('"', quote + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end
  }
  return -1
}

/** Null where it is no text of JSON after all. */
function readText(json: string, quote: number, end: number): string | null {
  const raw = json.slice(quote + 1, end)
  if (!raw.includes('\\')) return raw
  try {
    const text: unknown = JSON.parse(json.slice(quote, end + 1))
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

function endOfNested(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(json, at)
      if (end === -1) return json.length
      at = end
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return json.length
}

function pastSpace(json: string, from: number): number {
  let at = from
  while (at < json.length && json.charCodeAt(at) <= 0x20) at += 1
  return at
}
