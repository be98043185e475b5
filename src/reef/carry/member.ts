/** Replaces one member of a JSON object in its text and keeps every other byte. */

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b])
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d])

/** `json` is a whole object; a missing member stays missing. Of a duplicate member the last counts, as for every reader. */
export function withMember(json: Uint8Array, key: string, value: string): Uint8Array {
  const span = memberSpan(json, key)
  if (span === null) return json
  return Buffer.concat([json.subarray(0, span.from), Buffer.from(value), json.subarray(span.to)])
}

function memberSpan(json: Uint8Array, key: string): { readonly from: number; readonly to: number } | null {
  let found: { readonly from: number; readonly to: number } | null = null
  let depth = 0
  let name: string | null = null
  let from = 0
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0
    if (byte === QUOTE) {
      const end = stringEnd(json, at)
      if (depth === 1 && name === null) name = nameIn(json.subarray(at, end))
      at = end - 1
    } else if (OPENING.has(byte)) depth += 1
    else if (depth === 1 && byte === COLON) from = at + 1
    else if (depth === 1 && (byte === COMMA || CLOSING.has(byte))) {
      if (name === key) found = { from, to: at }
      name = null
      if (CLOSING.has(byte)) depth -= 1
    } else if (CLOSING.has(byte)) depth -= 1
  }
  return found
}

function stringEnd(json: Uint8Array, from: number): number {
  let at = from + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at + 1
}

const nameIn = (text: Uint8Array): string => String(JSON.parse(Buffer.from(text).toString()))
