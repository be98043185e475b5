/** Finds characters that people do not see, or take for others, and shows them by number. What is not known to be visible counts as hidden. */

export interface HiddenCharacter {
  /** Its offset in the text, in UTF-16 units. */
  readonly at: number
  /** Such as `U+202E`. */
  readonly code: string
  /** What it is, in plain words. */
  readonly name: string
}

/** Every text without these passes at once. */
const SUSPECT = /[^\t\n\r\x20-\x7e]|\r(?!\n)/

export function hiddenCharacters(text: string): readonly HiddenCharacter[] {
  return SUSPECT.test(text) ? [...unseen(text), ...lookAlikes(text)].sort(byPlace) : []
}

/** The text with every hidden character as its number in brackets, such as `[U+202E]`. Line breaks and tabs stay. */
export function showHidden(text: string): string {
  return shownParts(text)
    .map(({ text: part, isHidden }) => (isHidden ? `[${part}]` : part))
    .join('')
}

/** The same in one line: line breaks are shown by number too. */
export const showHiddenLine = (text: string): string =>
  showHidden(text).replaceAll('\t', ' ').replaceAll('\r', '[U+000D]').replaceAll('\n', '[U+000A]')

/** One stretch of a text: as it is, or the number of a hidden character, such as `U+202E`, or `U+202E x9` for nine in a row. */
export interface TextStretch {
  readonly text: string
  readonly isHidden: boolean
}

export function shownParts(text: string): readonly TextStretch[] {
  const parts: TextStretch[] = []
  const hidden = hiddenCharacters(text)
  let after = 0
  for (let next = 0; next < hidden.length;) {
    const { at = 0, code = '' } = hidden[next] ?? {}
    const units = unitsOf(code)
    let times = 1
    while (hidden[next + times]?.code === code && hidden[next + times]?.at === at + times * units) times += 1
    if (at > after) parts.push({ text: text.slice(after, at), isHidden: false })
    parts.push({ text: times === 1 ? code : `${code} x${times}`, isHidden: true })
    after = at + times * units
    next += times
  }
  return after < text.length ? [...parts, { text: text.slice(after), isHidden: false }] : parts
}

/** JSON that means the same and shows every character that nobody sees. Letters that look like others stay: programs compare them. */
export function hiddenAsJson(json: string): string {
  if (!SUSPECT.test(json)) return json
  let escaped = ''
  let after = 0
  for (const { at, code } of [...unseen(json)].sort(byPlace)) {
    const end = at + unitsOf(code)
    escaped += json.slice(after, at) + Array.from(json.slice(at, end).split(''), unitEscape).join('')
    after = end
  }
  return escaped + json.slice(after)
}

const unitEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const unitsOf = (code: string): number => (Number.parseInt(code.slice(2), 16) > 0xffff ? 2 : 1)

const byPlace = (one: HiddenCharacter, other: HiddenCharacter): number => one.at - other.at

/** Invisible characters, and marks that stand on nothing or pile up. */
function* unseen(text: string): Generator<HiddenCharacter> {
  const ordinary = ordinaryIn(text)
  for (const { 0: character, index } of text.matchAll(INVISIBLE)) {
    if (!ordinary.has(index)) yield described(character, index, invisibleName(character))
  }
  for (const { 0: marks, index } of text.matchAll(MARKS)) yield* piled(marks, index, text.slice(Math.max(0, index - 2), index))
}

/** No script stacks more on one letter; more of them cover the lines around. */
const MARKS_MAX = 6

/** A mark without a letter changes the character before the text. */
function* piled(marks: string, at: number, before: string): Generator<HiddenCharacter> {
  const isLoose = /^$|[\s\p{Cc}]$/u.test(before)
  const kept = isLoose ? 0 : MARKS_MAX
  let offset = at
  let place = 0
  for (const mark of marks) {
    if (place >= kept) yield described(mark, offset, isLoose ? 'mark without a letter' : 'piled mark')
    offset += mark.length
    place += 1
  }
}

const described = (character: string, at: number, name: string): HiddenCharacter => ({
  at,
  code: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  name,
})

/** Marks by their category that are drawn as nothing, or only turn or dim a sign: a Khitan filler, and controls of hieroglyphs. */
const UNDRAWN = '\\u{16fe4}\\u{13440}\\u{13447}-\\u{13455}'
/** Arabic and Kaithi signs that enclose a number: format characters by their category, and visible. */
const VISIBLE_FORMATS = '\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}'
/** By category, so that characters of later versions of Unicode count too. Later emoji are unassigned here, and visible there. */
const INVISIBLE = new RegExp(
  `(?![\\t\\n ${VISIBLE_FORMATS}]|\\r\\n)` +
    `(?:[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\p{Variation_Selector}\\u2800\\ufffc${UNDRAWN}](?<!(?=\\p{Extended_Pictographic})\\p{Cn}))`,
  'gu',
)

const MARKS = new RegExp(`(?:(?![\\p{Default_Ignorable_Code_Point}${UNDRAWN}])[\\p{Mn}\\p{Me}])+`, 'gu')

const EMOJI = '(?:\\p{Extended_Pictographic}|\\p{Emoji_Modifier_Base})(?:[\\ufe0e\\ufe0f]|\\p{Emoji_Modifier})?'
/** Scripts that need joiners for their letters to be written. */
const JOINED = [
  'Arab',
  'Beng',
  'Deva',
  'Gujr',
  'Guru',
  'Knda',
  'Khmr',
  'Mlym',
  'Mong',
  'Mymr',
  'Orya',
  'Sinh',
  'Syrc',
  'Taml',
  'Telu',
  'Thaa',
]
const JOINED_LETTER = `[${JOINED.map((script) => `\\p{Script=${script}}`).join('')}]`
const IDEOGRAPH = '[\\p{Script=Han}\\p{Script=Hira}\\p{Script=Kana}\\u3001-\\u301f\\uff01-\\uff60]'
/**
 * Invisible characters where they are ordinary: inside one emoji, in a keycap, in the three flags made of tags, inside words of scripts that
 * join. Unusual spaces where typesetting has them: at French punctuation, after a number, before ideographs.
 */
const ORDINARY = new RegExp(
  [
    `\\u{1f3f4}(?:${['gbeng', 'gbsct', 'gbwls'].map(tagged).join('|')})\\u{e007f}`,
    `${EMOJI}(?:\\u200d${EMOJI})*`,
    '[0-9#*]\\ufe0f\\u20e3',
    `(?<=${JOINED_LETTER})[\\u200c\\u200d](?=${JOINED_LETTER})`,
    '(?<=[\\p{L}\\p{N}\\p{P}])[\\u00a0\\u202f](?=[;:!?»%€])|(?<=[«\\p{Nd}])[\\u00a0\\u202f](?=[\\p{L}\\p{Nd}])',
    `(?<![^\\n])\\u3000{1,2}(?=${IDEOGRAPH})|(?<=${IDEOGRAPH})\\u3000(?=${IDEOGRAPH})`,
  ].join('|'),
  'gu',
)

function tagged(text: string): string {
  return Array.from(text, (letter) => `\\u{${(0xe0000 + letter.charCodeAt(0)).toString(16)}}`).join('')
}

/** The offsets of invisible characters that are part of something visible. */
function ordinaryIn(text: string): ReadonlySet<number> {
  const offsets = new Set<number>()
  for (const { 0: whole, index } of text.matchAll(ORDINARY)) {
    for (let offset = index; offset < index + whole.length; offset += 1) offsets.add(offset)
  }
  return offsets
}

/** The first line that fits names the character. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/\u200b/, 'zero-width space'],
  [/\u200c/, 'zero-width non-joiner'],
  [/\u200d/, 'zero-width joiner'],
  [/\ufeff/, 'byte order mark'],
  [/\u00ad/, 'soft hyphen'],
  [/\u202e/, 'right-to-left override'],
  [/\u202d/, 'left-to-right override'],
  [/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/, 'bidirectional control'],
  [/[\u2060\u180e]/, 'word joiner'],
  [/[\u2061-\u2064]/, 'invisible operator'],
  [/[\u206a-\u206f]/, 'deprecated format character'],
  [/[\u115f\u1160\u3164\uffa0]/, 'Hangul filler'],
  [/[\ufff9-\ufffb]/, 'interlinear annotation'],
  [/\ufffc/, 'object replacement'],
  [/\u2800/, 'blank Braille pattern'],
  [/[\u{e0000}-\u{e007f}]/u, 'tag character'],
  [/\p{Variation_Selector}/u, 'variation selector'],
  [/\p{Noncharacter_Code_Point}/u, 'noncharacter'],
  [/\p{Co}/u, 'private use'],
  [/\p{Cs}/u, 'half a surrogate pair'],
  [/\p{Cc}/u, 'control character'],
  [/\p{Zs}/u, 'unusual space'],
  [/\p{Z}/u, 'unusual line break'],
  [/\p{Cn}/u, 'unassigned'],
]

const invisibleName = (character: string): string => NAMES.find(([shape]) => shape.test(character))?.[1] ?? 'invisible character'

const WORD = /[\p{L}\p{M}\p{N}_]+/gu
const LATIN = /\p{Script=Latin}/u
/** Scripts that are written beside Latin letters without a space, and whose letters look like none of them. */
const BESIDE_LATIN =
  /[\p{Script=Han}\p{Script=Hira}\p{Script=Kana}\p{Script=Hang}\p{Script=Bopo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmr}\p{Script=Mymr}]/u
/** Greek letters of formulas, which look like no Latin letter. */
const FORMULA = /[ΓΔΘΛΞΠΣΦΨΩβδεζηθλμξπσςφψωϕϑϵ]/u
/** Letters made for formulas: plain words in them are a disguise. */
const STYLED = /[\u{1d400}-\u{1d7ff}\u{1f110}-\u{1f189}]/u

/** Letters of one word that come from another script, and letters that only look like letters. */
function* lookAlikes(text: string): Generator<HiddenCharacter> {
  for (const { 0: word, index } of text.matchAll(WORD)) if (SUSPECT.test(word)) yield* lookAlikesIn(word, index)
}

function* lookAlikesIn(word: string, at: number): Generator<HiddenCharacter> {
  const hasLatin = LATIN.test(word)
  const first = hasLatin ? 'Latin' : scriptOf(word)
  for (const { 0: letter, index } of word.matchAll(LETTER)) {
    const script = scriptOf(letter)
    if (STYLED.test(letter)) yield described(letter, at + index, 'styled letter')
    else if (script !== null && script !== first && !BESIDE_LATIN.test(letter) && !(hasLatin && FORMULA.test(letter)))
      yield described(letter, at + index, `${script} letter in a ${first ?? 'foreign'} word`)
  }
}

/** Letters of ASCII are never taken for others. */
const LETTER = /(?![A-Za-z])\p{L}/gu

/** Those whose letters are taken for one another, and the rest as one. Null for letters of every script. */
const SCRIPTS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Georgian', 'Hebrew', 'Arabic', 'Lisu', 'Deseret']

function scriptOf(text: string): string | null {
  const [letter] = /\p{L}/u.exec(text) ?? []
  if (letter === undefined || /[\p{Script=Common}\p{Script=Inherited}]/u.test(letter)) return null
  return SCRIPT_SHAPES.find(([, shape]) => shape.test(letter))?.[0] ?? 'foreign'
}

const SCRIPT_SHAPES = SCRIPTS.map((script) => [script, new RegExp(`\\p{Script=${script}}`, 'u')] as const)
