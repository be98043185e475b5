/** Finds secrets in text, also encoded, split or disguised, and takes them out. */
import { hiddenCharacters } from '@svc-ai/client/hidden'
import { ADDRESS_PASSWORD, FRAME_SHAPES, KEY_SHAPES, NAMED_VALUE, PLACEHOLDER } from './secret-shapes.ts'

const REDACTED = '[redacted]'

export function holdsSecret(text: string): boolean {
  return isPlainSecret(text) || readings(text).some(isPlainSecret)
}

/** The text without its secrets; the whole text is dropped where one is found only after decoding. */
export function withoutSecrets(text: string): string {
  if (!holdsSecret(text)) return text
  const spans = text
    .replaceAll(PRIVATE_KEY, REDACTED)
    .replaceAll(KEYS_WHOLE, REDACTED)
    .replaceAll(FRAMES_WHOLE, REDACTED)
    .replaceAll(ADDRESS_PASSWORD, (whole, password: string) => (isPlaceholder(password) ? whole : REDACTED))
    .replaceAll(NAMED_VALUE, (whole, value: string) => (isRandom(value) ? REDACTED : whole))
  if (!holdsSecret(spans)) return spans
  const words = spans.replaceAll(WORD, (word) => (holdsSecret(word) ? REDACTED : word))
  return holdsSecret(words) ? REDACTED : words
}

const PRIVATE_KEY = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[^]*?(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{0,5}|$)/g
const WORD = /[^\s"'`,;=()<>{}[\]\\]+/g
const joined = (shapes: readonly string[], rest = ''): string => shapes.map((shape) => `(?:${shape})${rest}`).join('|')
const KEYS = new RegExp(joined(KEY_SHAPES))
const FRAMES = new RegExp(joined(FRAME_SHAPES), 'i')
/** With the rest of its word: a shape stops where it is sure. */
const REST = '[A-Za-z0-9+/=_.~%-]*'
const KEYS_WHOLE = new RegExp(joined(KEY_SHAPES, REST), 'g')
const FRAMES_WHOLE = new RegExp(joined(FRAME_SHAPES, '\\S*'), 'gi')

function isPlainSecret(text: string): boolean {
  if (KEYS.test(text) || FRAMES.test(text)) return true
  for (const [, password = ''] of text.matchAll(ADDRESS_PASSWORD)) if (!isPlaceholder(password)) return true
  for (const [, value = ''] of text.matchAll(NAMED_VALUE)) if (isRandom(value)) return true
  return false
}

const isPlaceholder = (password: string): boolean => PLACEHOLDER.test(password) || /[$%{]/.test(password)

/** A long value of letters and digits in no order that words or ids have. */
function isRandom(value: string): boolean {
  const [core = ''] = /^[A-Za-z0-9+/_=-]+/.exec(value) ?? []
  if (core.length < 20 || UUID.test(core) || PLACEHOLDER.test(core)) return false
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(core)).length
  const digits = core.replaceAll(/[^0-9]/g, '').length
  return digits >= 3 && (kinds === 3 || /^[a-f0-9]{32,}$/i.test(core)) && new Set(core).size >= 10
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The text as a model or a program would read it. Equal ones are left out. */
export function readings(text: string): readonly string[] {
  const visible = withoutHidden(text)
  const unescaped = percentDecoded(unescapedJson(visible))
  const decoded = [...new Set([visible, unescaped])].flatMap(decodedRuns)
  return [...new Set([visible, unescaped, withoutSeams(unescaped), ...decoded])].filter((reading) => reading !== text)
}

/** Full-width letters and invisible characters inside a word read the same to a model. */
export function withoutHidden(text: string): string {
  let visible = ''
  let after = 0
  for (const { at, code, name } of hiddenCharacters(text)) {
    visible += text.slice(after, at)
    // A look-alike stays: it is seen, and NFKC makes it plain where it can.
    const character = String.fromCodePoint(Number.parseInt(code.slice(2), 16))
    if (/^unusual|letter/.test(name)) visible += character
    after = at + character.length
  }
  return (visible + text.slice(after)).normalize('NFKC')
}

const unescapedJson = (text: string): string =>
  text.includes('\\')
    ? text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([/\\"'-]))/g, (_, four?: string, two?: string, plain?: string) =>
        plain === undefined ? String.fromCharCode(Number.parseInt(four ?? two ?? '0', 16)) : plain,
      )
    : text

const percentDecoded = (text: string): string =>
  text.includes('%') ? text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) : text

/** Texts in quotes that a program would join: `'sk-' + 'abc'`. */
const withoutSeams = (text: string): string => text.replaceAll(/(["'`])\s{0,8}[+.,&]?\s{0,8}\1/g, '')

const RUN = /[A-Za-z0-9+/_-]{24,}={0,2}/g
const RUNS_MAX = 200
const PRINTED = /^[\t\n\r\x20-\x7e]{12,}$/

/** What Base64 and hexadecimal runs say, where that is printed text. */
function decodedRuns(text: string): readonly string[] {
  const found: string[] = []
  let runs = 0
  for (const [run] of text.matchAll(RUN)) {
    runs += 1
    if (runs > RUNS_MAX) break
    const encodings = /^(?:[0-9a-fA-F]{2})+$/.test(run) ? (['hex', 'base64'] as const) : (['base64'] as const)
    found.push(...encodings.map((encoding) => Buffer.from(run, encoding).toString('latin1')).filter((said) => PRINTED.test(said)))
  }
  return found
}
