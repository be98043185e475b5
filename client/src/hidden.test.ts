import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { hiddenAsJson, hiddenCharacters, showHidden, showHiddenLine, shownParts } from './hidden.ts'

const tags = (text: string): string => Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')

describe('hidden characters are found, with offset, number and name', () => {
  it.each<[string, string, number, string, string]>([
    ['a tag', `x${tags('A')}`, 1, 'U+E0041', 'tag character'],
    ['a language tag', 'x\u{e0001}', 1, 'U+E0001', 'tag character'],
    ['a flag of tags that is none of the three', `\u{1f3f4}${tags('usrm')}\u{e007f}`, 2, 'U+E0075', 'tag character'],
    ['tags after the flag that end nowhere', `\u{1f3f4}${tags('gbeng')}`, 2, 'U+E0067', 'tag character'],
    ['a right-to-left override', 'a\u202eb', 1, 'U+202E', 'right-to-left override'],
    ['a left-to-right override', 'a\u202db', 1, 'U+202D', 'left-to-right override'],
    ['an embedding', 'a\u202ab', 1, 'U+202A', 'bidirectional control'],
    ['an isolate', 'a\u2066b', 1, 'U+2066', 'bidirectional control'],
    ['a mark', 'a\u200fb', 1, 'U+200F', 'bidirectional control'],
    ['an Arabic letter mark', 'a\u061cb', 1, 'U+061C', 'bidirectional control'],
    ['a zero-width space', 'a\u200bb', 1, 'U+200B', 'zero-width space'],
    ['a joiner between Latin letters', 'a\u200db', 1, 'U+200D', 'zero-width joiner'],
    ['a joiner after an emoji and before a letter', '\u{1f600}\u200db', 2, 'U+200D', 'zero-width joiner'],
    ['a non-joiner between Latin letters', 'a\u200cb', 1, 'U+200C', 'zero-width non-joiner'],
    ['two joiners between Persian letters', '\u0645\u200c\u200c\u062e', 1, 'U+200C', 'zero-width non-joiner'],
    ['a byte order mark at the start', '\ufeffa', 0, 'U+FEFF', 'byte order mark'],
    ['a word joiner', 'a\u2060b', 1, 'U+2060', 'word joiner'],
    ['a Mongolian vowel separator', 'a\u180eb', 1, 'U+180E', 'word joiner'],
    ['a variation selector after a letter', 'a\ufe0f', 1, 'U+FE0F', 'variation selector'],
    ['a variation selector after a digit', '5\ufe0f', 1, 'U+FE0F', 'variation selector'],
    ['a selector that holds a byte', '\u{1f600}\u{e0101}', 2, 'U+E0101', 'variation selector'],
    ['a second selector after an emoji', '❤\ufe0f\ufe0f', 2, 'U+FE0F', 'variation selector'],
    ['a Mongolian selector', 'a\u180b', 1, 'U+180B', 'variation selector'],
    ['a soft hyphen', 'a\u00adb', 1, 'U+00AD', 'soft hyphen'],
    ['a Hangul filler', '\u3164', 0, 'U+3164', 'Hangul filler'],
    ['a half-width Hangul filler', '\uffa0', 0, 'U+FFA0', 'Hangul filler'],
    ['a choseong filler', '\u115f', 0, 'U+115F', 'Hangul filler'],
    ['an invisible plus', 'a\u2064b', 1, 'U+2064', 'invisible operator'],
    ['an interlinear annotation', 'a\ufff9b', 1, 'U+FFF9', 'interlinear annotation'],
    ['an object replacement', 'a\ufffcb', 1, 'U+FFFC', 'object replacement'],
    ['a blank Braille pattern', 'a\u2800b', 1, 'U+2800', 'blank Braille pattern'],
    ['private use', '\ue000', 0, 'U+E000', 'private use'],
    ['private use of a later plane', '\u{10fffd}', 0, 'U+10FFFD', 'private use'],
    ['a NUL', 'a\u0000b', 1, 'U+0000', 'control character'],
    ['an escape', 'a\u001b[2Jb', 1, 'U+001B', 'control character'],
    ['a backspace', 'a\u0008b', 1, 'U+0008', 'control character'],
    ['a delete', 'a\u007fb', 1, 'U+007F', 'control character'],
    ['a C1 control', 'a\u009bb', 1, 'U+009B', 'control character'],
    ['a vertical tab', 'a\u000bb', 1, 'U+000B', 'control character'],
    ['a noncharacter', '\ufdd0', 0, 'U+FDD0', 'noncharacter'],
    ['the last code point', '\u{10ffff}', 0, 'U+10FFFF', 'noncharacter'],
    ['an unassigned code point', '\u{2fe0}', 0, 'U+2FE0', 'unassigned'],
    ['half a surrogate pair', 'a\ud800', 1, 'U+D800', 'half a surrogate pair'],
    ['a space that does not break', 'a\u00a0b', 1, 'U+00A0', 'unusual space'],
    ['a hair space', 'a\u200ab', 1, 'U+200A', 'unusual space'],
    ['an ideographic space', 'a\u3000b', 1, 'U+3000', 'unusual space'],
    ['a line separator', 'a\u2028b', 1, 'U+2028', 'unusual line break'],
    ['a grapheme joiner', 'a\u034fb', 1, 'U+034F', 'invisible character'],
    ['a Khmer vowel that is not shown', '\u17b4', 0, 'U+17B4', 'invisible character'],
    ['a musical control', '\u{1d173}', 0, 'U+1D173', 'invisible character'],
    ['a Khitan filler', 'a\u{16fe4}', 1, 'U+16FE4', 'invisible character'],
    ['a hieroglyph control that mirrors', 'a\u{13440}', 1, 'U+13440', 'invisible character'],
    ['the first of the damaged hieroglyphs', 'a\u{13447}', 1, 'U+13447', 'invisible character'],
    ['the last of them', 'a\u{13455}', 1, 'U+13455', 'invisible character'],
    ['a Cyrillic letter in a Latin word', 'p\u0430ypal', 1, 'U+0430', 'Cyrillic letter in a Latin word'],
    ['a Greek letter that looks Latin', 'g\u03bfogle', 1, 'U+03BF', 'Greek letter in a Latin word'],
    ['an Armenian letter in a Latin word', 'g\u0585ogle', 1, 'U+0585', 'Armenian letter in a Latin word'],
    ['a Cherokee letter in a Latin word', 'b\u13a0sh', 1, 'U+13A0', 'Cherokee letter in a Latin word'],
    ['a Latin letter in a Cyrillic word', 'пр\u0069вет', 0, 'U+043F', 'Cyrillic letter in a Latin word'],
    ['a Greek letter in a Cyrillic word', 'пр\u03bfвет', 2, 'U+03BF', 'Greek letter in a Cyrillic word'],
    ['a carriage return that would write over its line', 'safe\rdone', 4, 'U+000D', 'control character'],
    ['a mark at the start', '\u0338= b', 0, 'U+0338', 'mark without a letter'],
    ['a mark at the start of a line', 'a\n\u20dd', 2, 'U+20DD', 'mark without a letter'],
    ['marks that pile up', `a${'\u0301'.repeat(9)}`, 7, 'U+0301', 'piled mark'],
    ['a space that does not break between words', 'my\u202fapp', 2, 'U+202F', 'unusual space'],
    ['an ideographic space between Latin words', 'my\u3000app', 2, 'U+3000', 'unusual space'],
    ['letters of formulas', '\u{1d422}gnore', 0, 'U+1D422', 'styled letter'],
  ])('%s', (_, text, at, code, name) => {
    expect(hiddenCharacters(text)[0]).toEqual({ at, code, name })
    expect(showHidden(text)).toMatch(new RegExp(`\\[${code.replace('+', String.raw`\+`)}(?: x\\d+)?\\]`))
    expect(hiddenCharacters(showHidden(text))).toEqual([])
  })
})

describe('visible text is left as it is', () => {
  it.each([
    'Plain prose, with "quotes", tabs\t and\r\nline ends.',
    'naïve café Straße Ångström Łódź Đặng',
    'привет, мир; JSON-файл',
    'γειά σου κόσμε',
    'Δt = 3 μs, πr², Ω-rule, λx.x',
    '日本語のAPIテスト、カタカナ',
    '한국어 문장 API',
    'ไทยAPI',
    'عربي ١٢٣ \u0600',
    'می\u200cخواهم',
    'क्\u200dष नमस्ते',
    'שלום עולם',
    '👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽 1\ufe0f\u20e3 ☎\ufe0e 🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥',
    `\u{1f3f4}${tags('gbsct')}\u{e007f}`,
    '← → ∑ € £ ½ ‹› “quotes” — … • ✓ ✗ ┌─┐ ░',
    '© ® ™ \ufffd',
    'Vraiment\u202f? «\u00a0Oui\u00a0», 10\u202f000\u00a0km, 5\u00a0%',
    '\u3000一つ目。\n\u3000二つ目\u3000終わり',
    'a\u0323\u0302\u0301 ก็้ བསྒྲུབས 𑄌𑄋𑄴𑄟𑄳𑄦',
  ])('%s', (text) => {
    expect(hiddenCharacters(text)).toEqual([])
    expect(showHidden(text)).toBe(text)
  })
})

it('every hidden character of a text is shown where it stands', () => {
  expect(showHidden(`run${tags('rm')} a\u202eb`)).toBe('run[U+E0072][U+E006D] a[U+202E]b')
})

it('a run of one hidden character is counted, not repeated', () => {
  expect(showHidden(`a${'\u202e'.repeat(9)}b${tags('zzz')}`)).toBe('a[U+202E x9]b[U+E007A x3]')
})

it('in one line no break is left', () => {
  expect(showHiddenLine('one\r\ntwo\tthree\nfour\rfive')).toBe('one[U+000D][U+000A]two three[U+000A]four[U+000D]five')
})

const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)) })

it('nothing hidden is left in any text, and every visible character stands in its place', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(hiddenCharacters(showHidden(text))).toEqual([])
      expect(showHiddenLine(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
      const kept = shownParts(text).filter(({ isHidden }) => !isHidden)
      expect(kept.reduce((from, part) => text.indexOf(part.text, from) + part.text.length, 0)).toBeLessThanOrEqual(text.length)
    }),
  )
})

it('as JSON any text means the same, and shows what nobody sees', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const json = hiddenAsJson(JSON.stringify({ [text]: text }))
      expect(JSON.parse(json)).toEqual({ [text]: text })
      expect(json).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u{e0000}-\u{e0fff}]/u)
    }),
  )
  expect(hiddenAsJson(JSON.stringify('а\nпривет'))).toBe(JSON.stringify('а\nпривет'))
})

it('a word of a megabyte is read once', () => {
  const long = 'a'.repeat(1_000_000)
  expect(hiddenCharacters(`${long}\u0430`)).toHaveLength(1)
})

it('a flood of marks is read once', () => {
  expect(showHidden(`a${'\u0301'.repeat(200_000)}`)).toBe(`a${'\u0301'.repeat(6)}[U+0301 x199994]`)
})

it('a word with two hundred thousand look-alikes is shown', () => {
  expect(showHidden(`a${'\u0430'.repeat(200_000)}`)).toBe('a[U+0430 x200000]')
})
