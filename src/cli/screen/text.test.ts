import { assert, jsonValue, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cut, jsonLine, jsonText, oneLine, shellWord, shownLines, sparkline, widthOf } from './text.ts'

const HOSTILE = 'a\u001b[2Jb\u009b31mc\u202ed\u2066e\u2028f\u0007g\u200fh\u007fi'
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const ACTED_ON = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

describe('text of strangers', () => {
  test('is shown by number where a terminal would act on it', () => {
    expect(oneLine(HOSTILE)).toBe('a[U+001B][2Jb[U+009B]31mc[U+202E]d[U+2066]e[U+2028]f[U+0007]g[U+200F]h[U+007F]i')
    expect(oneLine('ünï 漢字 👩‍🚀 plain')).toBe('ünï 漢字 👩‍🚀 plain')
  })

  test('keeps its lines, and only those', () => {
    expect(shownLines('one\r\ntwo\rthree\n\u001b[0m')).toBe('one\ntwo[U+000D]three\n[U+001B][0m')
    expect(oneLine('  one\n\n two\tthree ')).toBe('one two three')
  })

  test('holds nothing a terminal acts on, whatever it was', () => {
    assert(
      property(string({ unit: 'binary' }), (text) => {
        for (const made of [oneLine(text), shownLines(text).replaceAll('\n', ''), shellWord(text), jsonText(text)])
          expect(made).not.toMatch(ACTED_ON)
      }),
    )
  })

  test('as JSON means what it meant', () => {
    assert(
      property(jsonValue(), string({ unit: 'binary' }), (value, text) => {
        expect(JSON.parse(jsonText({ [text]: value }, 2))).toEqual(JSON.parse(JSON.stringify({ [text]: value })))
      }),
    )
  })
})

test('JSON of somebody else becomes one line that means the same', () => {
  const json = '{\n\t"a": 12345678901234567890,\r\n "b": "x\u2028\u009b\\n"\n}\n'
  expect(jsonLine(json)).toBe(String.raw`{  "a": 12345678901234567890,   "b": "x\u2028\u009b\n" }`)
})

describe('a cell', () => {
  test.each([
    ['plain', 5],
    ['漢字', 4],
    ['👩‍🚀!', 3],
    ['é', 1],
    ['', 0],
  ])('%s takes %d places', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['漢字漢字', 6, '漢字…'],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 4, '漢…'],
  ])('%s in %d places is %s', (text, width, made) => {
    expect(cut(text, width)).toBe(made)
  })
})

test.each([
  ['support', 'support'],
  ['a b', "'a b'"],
  ["it's $(x)", String.raw`'it'\''s $(x)'`],
  ['', "''"],
])('%j is the word %s of a shell', (text, word) => {
  expect(shellWord(text)).toBe(word)
})

test('a sparkline goes from the lowest to the highest, and is level where nothing changes', () => {
  expect(sparkline([0.1, 0.5, 0.9])).toBe('▁▅█')
  expect(sparkline([0.3, 0.3])).toBe('▄▄')
})
