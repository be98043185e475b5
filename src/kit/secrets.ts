/** Finds secrets in text, also encoded, split or disguised, and takes them out. */
import { withoutKnownSecrets } from './known-secrets.ts'
import { readings } from './readings.ts'
import { ADDRESS_PASSWORD, ALONE, FRAME_SHAPES, KEY_SHAPES, NAMED_VALUE, PLACEHOLDER } from './secret-shapes.ts'

const REDACTED = '[redacted]'

export function holdsSecret(text: string): boolean {
  return isPlainSecret(text) || readings(text).some(isPlainSecret)
}

/** The text without secrets, by their shape and those that this process holds; the whole text is dropped where one is found only after decoding. */
export function withoutSecrets(given: string): string {
  const text = withoutKnownSecrets(given)
  if (!holdsSecret(text)) return text
  const spans = replaceSecrets(text, () => REDACTED)
  if (!holdsSecret(spans)) return spans
  const words = spans.replaceAll(WORD, (word) => (holdsSecret(word) ? REDACTED : word))
  return holdsSecret(words) ? REDACTED : words
}

/** The text with something else in the place of each secret that stands there as it is. Takes time in proportion to the text. */
export function replaceSecrets(text: string, by: (secret: string) => string): string {
  return text
    .replaceAll(PRIVATE_KEY, by)
    .replaceAll(KEYS_WHOLE, by)
    .replaceAll(FRAMES_WHOLE, by)
    .replaceAll(ADDRESS_PASSWORD, (whole, password: string) => (isPlaceholder(password) ? whole : by(whole)))
    .replaceAll(NAMED_VALUE, (whole, value: string) => (isRandom(value) ? by(whole) : whole))
}

const PRIVATE_KEY = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[^]*?(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{0,5}|$)/g
const WORD = /[^\s"'`,;=()<>{}[\]\\]+/g
const any = (shapes: readonly string[]): string => shapes.map((shape) => `(?:${shape})`).join('|')
/** What must stand alone is looked at only where a word begins: most places of a text are inside one. */
const joined = (shapes: readonly string[], rest = ''): string => {
  const alone = shapes.flatMap((shape) => (shape.startsWith(ALONE) ? [shape.slice(ALONE.length)] : []))
  const anywhere = shapes.filter((shape) => !shape.startsWith(ALONE))
  return `(?:${ALONE}(?:${any(alone)})|${any(anywhere)})${rest}`
}
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
  return digits >= 3 && (kinds === 3 || /^(?:0x)?[a-f0-9]{32,}$/i.test(core)) && new Set(core).size >= 10
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
