/** Parses a regular expression as far as its steps have to be counted: no flag v, no modifiers of groups, no names in references. */

/** A single character: a literal, a class or an escape. */
export interface OneCharacter {
  readonly kind: 'character'
  readonly fits: (character: string) => boolean
  /** Some characters that fit, the plainest first. */
  readonly samples: readonly string[]
}
export type PatternNode =
  | OneCharacter
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'either'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number; readonly isGreedy: boolean }
  | { readonly kind: 'group'; readonly part: PatternNode; readonly number: number }
  | { readonly kind: 'look'; readonly part: PatternNode; readonly isBehind: boolean; readonly isNegative: boolean }
  | { readonly kind: 'edge'; readonly of: 'start' | 'end' | 'word' | 'inner' }
  | { readonly kind: 'again'; readonly group: number }

const TOKEN =
  /\[(?:\\[^]|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|c[A-Za-z]|\d+|[^])|\(\?(?:<?[=!]|:|<\w+>)|\{\d+(?:,\d*)?\}|[^]/iuy

/** Bounds above these are lowered, the unbounded stays unbounded: growth shows with short texts then. */
const MIN_MAX = 4
const MAX_MAX = 8

export function parsePattern({ source, flags }: RegExp): PatternNode {
  const tokens: string[] = []
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < source.length;) tokens.push(TOKEN.exec(source)?.[0] ?? '')
  const classFlags = flags.replaceAll(/[^iu]/g, '')
  const known = new Map<string, OneCharacter>()
  let [at, groups] = [0, 0]

  const either = (): PatternNode => {
    const options = [sequence()]
    while (tokens[at] === '|') {
      at += 1
      options.push(sequence())
    }
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: 'either', options }
  }
  const sequence = (): PatternNode => {
    const parts: PatternNode[] = []
    while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') parts.push(repeated(atom()))
    return { kind: 'sequence', parts }
  }
  const repeated = (part: PatternNode): PatternNode => {
    const token = tokens[at] ?? ''
    const bounds = boundsOf(token)
    if (bounds === null) return part
    at += 1
    const isGreedy = tokens[at] !== '?'
    if (!isGreedy) at += 1
    return { kind: 'repeat', part, ...bounds, isGreedy }
  }
  const inside = (): PatternNode => {
    const part = either()
    if (tokens[at] !== ')') throw new Error(`${source} is not understood`)
    at += 1
    return part
  }
  const atom = (): PatternNode => {
    const token = tokens[at] ?? ''
    at += 1
    const look = /^\(\?(<?)([=!])$/.exec(token)
    if (look !== null) return { kind: 'look', part: inside(), isBehind: look[1] === '<', isNegative: look[2] === '!' }
    if (token === '(?:') return inside()
    if (token.startsWith('(')) {
      groups += 1
      const number = groups
      return { kind: 'group', part: inside(), number }
    }
    if (token === '^') return { kind: 'edge', of: 'start' }
    if (token === '$') return { kind: 'edge', of: 'end' }
    if (token === String.raw`\b`) return { kind: 'edge', of: 'word' }
    if (token === String.raw`\B`) return { kind: 'edge', of: 'inner' }
    const again = /^\\([1-9]\d*)$/.exec(token)
    if (again !== null) return { kind: 'again', group: Number(again[1]) }
    return character(token === '.' && !flags.includes('s') ? String.raw`[^\n\r\u2028\u2029]` : token === '.' ? '[^]' : token)
  }
  const character = (token: string): OneCharacter => {
    const made = known.get(token) ?? oneCharacter(token, classFlags)
    known.set(token, made)
    return made
  }
  return either()
}

function boundsOf(token: string): { readonly min: number; readonly max: number } | null {
  if (token === '*') return { min: 0, max: Infinity }
  if (token === '+') return { min: 1, max: Infinity }
  if (token === '?') return { min: 0, max: 1 }
  const [, from, comma, to] = /^\{(\d+)(,?)(\d*)\}$/.exec(token) ?? []
  if (from === undefined) return null
  const min = Math.min(Number(from), MIN_MAX)
  const max = comma === '' ? Number(from) : to === '' ? Infinity : Number(to)
  return { min, max: max === Infinity ? max : Math.max(min, Math.min(max, comma === '' ? MIN_MAX : MAX_MAX)) }
}

/** Plain characters first, then some of every kind that patterns of ours name. */
const CANDIDATES = [
  ...Array.from('aA0 \n'),
  ...Array.from({ length: 0x7f }, (_, at) => String.fromCharCode(at)),
  ...Array.from('\u00a0\u00adéßжא中あ가\u200b\u200d\u3000\ufe0f\ufffd\u2028\u0301’“«—ب☝\u{1f3fb}\u{1f3f4}\u{e0067}\u{1f600}\u{10ffff}'),
]

function oneCharacter(token: string, flags: string): OneCharacter {
  const shape = new RegExp(`^(?:${token})$`, flags)
  const answers = new Map<string, boolean>()
  const fits = (character: string): boolean => {
    const known = answers.get(character)
    if (known !== undefined) return known
    const fit = shape.test(character)
    answers.set(character, fit)
    return fit
  }
  const samples = CANDIDATES.filter(fits)
  return { kind: 'character', fits, samples: samples.length > 0 ? samples : [named(token) ?? firstFitting(shape)] }
}

/** The character that an escape gives the number of. */
function named(token: string): string | null {
  const [, inBraces, plain] = /^\\(?:u\{([0-9a-f]+)\}|[ux]([0-9a-f]{2,4}))$/i.exec(token) ?? []
  const digits = inBraces ?? plain
  return digits === undefined ? null : String.fromCodePoint(Number.parseInt(digits, 16))
}

function firstFitting(shape: RegExp): string {
  for (let point = 0x80; point < 0x110000; point += 1) if (shape.test(String.fromCodePoint(point))) return String.fromCodePoint(point)
  throw new Error(`no character fits ${String(shape)}`)
}
