/** JSON laid out to be read. */

/** Indented each level by its depth, a deep value would fill the memory with spaces. */
const INDENTED_DEPTH_MAX = 100

export function pretty(value: unknown): string {
  try {
    const compact = JSON.stringify(value) ?? ''
    return depthOf(compact) > INDENTED_DEPTH_MAX ? compact : (JSON.stringify(value, null, 2) ?? '')
  } catch {
    // Up to Node 24.
    return 'nested too deep to be shown; read it with curl'
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

/** Of JSON text: brackets within texts do not count. */
function depthOf(json: string): number {
  let [depth, deepest, isInText] = [0, 0, false]
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) isInText = !isInText
    else if (isInText) at += code === BACKSLASH ? 1 : 0
    else if (code === OPEN_LIST || code === OPEN_OBJECT) deepest = Math.max(deepest, (depth += 1))
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
  }
  return deepest
}

/** Beyond this, laying it out again costs a person more time than it saves. */
const PRETTY_CHARACTERS_MAX = 400_000

/** JSON that came as text is laid out; text that is none, or that was cut off, is left as it is. */
export function prettyText(text: string): string {
  if (text.length > PRETTY_CHARACTERS_MAX || !/^\s*[[{]/.test(text)) return text
  try {
    return pretty(JSON.parse(text))
  } catch {
    return text
  }
}
