/** Reads a text in every way in which another text may be hidden in it: escaped, encoded, reversed, shifted, or built of pieces. */

const CHARACTERS_MAX = 1024 * 1024

/** The same sign over and over hides nothing, and would take long to decode. */
const REPEATED = /(.)\1{31,}/gs

/** The text itself comes first. Other shifts of the alphabet than rot13 are found by `ShingleIndex`. */
export function readingsOf(text: string): readonly string[] {
  const plain = text.slice(0, CHARACTERS_MAX).replaceAll(REPEATED, '$1')
  const written = unique([plain, unescaped(plain), literalsIn(plain)])
  const decoded = unique(written.flatMap((one) => [...decodings(one), ...decodings(reversed(one))]))
  const all = unique([...written, ...decoded, ...decoded.flatMap(decodings)])
  return unique(all.flatMap((one) => [one, reversed(one), rot13(one)]))
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].filter((text) => text !== '')

/** By code units: what is looked for is of letters and digits. */
// oxlint-disable-next-line unicorn/prefer-spread
const reversed = (text: string): string => text.split('').toReversed().join('')

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
const HALF = ALPHABET.length / 2
const ROTATED = new Map(Array.from(ALPHABET, (letter, at) => [letter, ALPHABET[(at + HALF) % ALPHABET.length] ?? letter]))
const rot13 = (text: string): string => text.toLowerCase().replaceAll(/[a-z]/g, (letter) => ROTATED.get(letter) ?? letter)

const ESCAPES =
  /\\u\{([0-9a-f]{1,6})\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|%([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|\\([0-3][0-7]{2})/gi

function unescaped(text: string): string {
  return text.replaceAll(ESCAPES, (...found: readonly unknown[]) => {
    const [, ...groups] = found
    const at = groups.findIndex((group) => group !== undefined)
    return characterOf(Number.parseInt(String(groups[at]), RADIXES[at] ?? HEX))
  })
}
const HEX = 16
const RADIXES = [HEX, HEX, HEX, HEX, HEX, 10, 8]
const CODE_POINT_MAX = 0x10ffff
const characterOf = (code: number): string => (code >= 0 && code <= CODE_POINT_MAX ? String.fromCodePoint(code) : '')

/** What stands in quotes, put together: code may build a text of pieces. */
const literalsIn = (text: string): string =>
  [...text.matchAll(/"([^"\n]*)"|'([^'\n]*)'|`([^`]*)`/g)].map(([, ...parts]) => parts.find((part) => part !== undefined) ?? '').join('')

const decodings = (text: string): readonly string[] => [...base64In(text), ...hexIn(text), base32In(text), codesIn(text), bitsIn(text)]

const BASE64_MIN = 16
const QUARTET = 4

/** In each of the four places at which a group of four may begin, so that it does not matter what stands before it. */
function base64In(text: string): readonly string[] {
  if (!/[A-Za-z0-9+/_-]{8}/.test(text)) return []
  const signs = text.replaceAll(/[^A-Za-z0-9+/_-]+/g, '')
  if (signs.length < BASE64_MIN) return []
  return Array.from({ length: QUARTET }, (_, start) => Buffer.from(signs.slice(start), 'base64').toString('utf8'))
}

function hexIn(text: string): readonly string[] {
  const runs = text.replaceAll(/\\x|0x|[\s,:;"'+]+/gi, '').match(/[0-9a-f]{24,}/gi) ?? []
  return [0, 1].map((start) => runs.map((run) => Buffer.from(run.slice(start), 'hex').toString('utf8')).join(''))
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const BASE32_BITS = 5

function base32In(text: string): string {
  const runs = text.match(/[A-Z2-7]{16,}/g) ?? []
  const bits = runs.map((run) => Array.from(run, (sign) => BASE32.indexOf(sign).toString(2).padStart(BASE32_BITS, '0')).join(''))
  return bits.map(fromBits).join('')
}

const CODES = /\d{2,3}(?:[\s,;|+]{1,3}\d{2,3}){7,}/g
const BYTE_MAX = 255

/** Lists of character codes. */
const codesIn = (text: string): string =>
  (text.match(CODES) ?? [])
    .flatMap((run) => run.match(/\d+/g) ?? [])
    .map((code) => (Number(code) <= BYTE_MAX ? characterOf(Number(code)) : ''))
    .join('')

const bitsIn = (text: string): string =>
  (text.match(/(?:[01]{8}[\s,]*){8,}/g) ?? []).map((run) => fromBits(run.replaceAll(/[\s,]+/g, ''))).join('')

const fromBits = (bits: string): string => (bits.match(/[01]{8}/g) ?? []).map((byte) => characterOf(Number.parseInt(byte, 2))).join('')
