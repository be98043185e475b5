/** JSON as text: what is JSON and what is none, and text that is put together again digit by digit. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutOut, elementsOf, faultInJson, joined, membersOf, type JsonRules, type Member } from '../index.ts'
import { endOfString, openDocument } from './strings.ts'

const stringEndsIn = (bytes: Buffer) => openDocument([bytes]).ends

const RULES = { depthMax: 1000, uniqueKeys: false }
const fault = (text: string | Buffer, rules: JsonRules = RULES) => faultInJson(Buffer.from(text), rules)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const MARKS = [...Array.from('{}[]",:\\ \n\t\r0123456789.eE+-abfnrtuls/'), '\u0001', 'é', 'true', 'null', '"a"', '\\u00e9', '\\ud83d']

describe('text', () => {
  it('is JSON exactly where JSON.parse says so', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.nat(), fc.constantFrom(...MARKS), (text, at, cut, mark) => {
        const place = at % (text.length + 1)
        for (const one of [text, text.slice(0, place) + mark + text.slice(place), text.slice(0, place) + text.slice(place + (cut % 3))])
          expect([one, fault(one.toWellFormed()) === null]).toEqual([one, isJson(one.toWellFormed())])
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...MARKS), { maxLength: 12 }), (marks) => {
        expect([marks, fault(marks.join('')) === null]).toEqual([marks, isJson(marks.join(''))])
      }),
      { numRuns: 1500 },
    )
  })

  it.each([
    ['{a":1}', 1],
    ['{"a":1,"b}', 7],
    ['{"a" 1}', 1],
    ['[1,x]', 3],
    ['{"a":1}}', 7],
    ['[1', 2],
  ])('that is none is wrong at a place: %s', (text, at) => {
    expect(fault(text)).toEqual({ kind: 'malformed', at })
  })

  it('differs from bytes that are no UTF-8, nest too deep or repeat a key', () => {
    expect(fault(Buffer.from([0x22, 0xff, 0x22]))).toEqual({ kind: 'not_utf8' })
    expect(fault('{"a":[[]]}', { depthMax: 2, uniqueKeys: false })).toEqual({ kind: 'too_deep' })
    expect(fault('{"a":[[]]}', { depthMax: 3, uniqueKeys: false })).toBeNull()
    expect(fault(`${'['.repeat(1e6)}${']'.repeat(1e6)}`, { depthMax: 1e6, uniqueKeys: true })).toBeNull()
    const once = { depthMax: 9, uniqueKeys: true }
    expect(fault('{"a":{"b":1,"\\u0062":2}}', once)).toEqual({ kind: 'repeated_key', key: 'b' })
    expect(fault('{"a":[{"b":1},{"b":2}],"b":{"a":1}}', once)).toBeNull()
    expect(fault('{"a":1,"a":2}')).toBeNull()
  })

  it.each([
    ['[9007199254740993]', 1],
    ['{"a":-12345678901234567890}', 5],
    ['[9007199254740994,1234567890123456.5,1e300,"9007199254740993"]', null],
    [`[1${'0'.repeat(400)}]`, null],
  ])('may be required to hold only whole numbers that a double keeps: %s', (text, at) => {
    expect(fault(text)).toBeNull()
    expect(fault(text, { ...RULES, exactIntegers: true })).toEqual(at === null ? null : { kind: 'inexact_integer', at })
  })
})

const PIECES = [
  '"',
  '\\',
  '\\"',
  '\\\\',
  '\\u00e9',
  '\\uD83d',
  '\\u12g4',
  '\\u12',
  '\\x',
  '\n',
  '\u0000',
  '\u001f',
  ' ',
  'é',
  '\u{1f600}',
  'plain words, and more than a few of them',
]
const written = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary' })), { maxLength: 40 })
  .map((parts) => parts.join(''))

describe('the end of a text', () => {
  it('is the same sixteen bytes at a time and byte by byte, whatever the document before it left', () => {
    fc.assert(
      fc.property(written, fc.nat(20), (text, before) => {
        const bytes = Buffer.from(`${' '.repeat(before)}"${text}`)
        const ends = stringEndsIn(bytes)
        for (let at = bytes.indexOf('"'); at !== -1; at = bytes.indexOf('"', at + 1))
          expect([text, at, ends(at)]).toEqual([text, at, endOfString(bytes, at)])
      }),
      { numRuns: 2000 },
    )
  })

  it('is looked for in the document alone, however long that is', () => {
    stringEndsIn(Buffer.from(`"${'"'.repeat(200)}`))
    for (const length of [0, 1, 14, 15, 16, 17, 31, 32, 100]) expect(stringEndsIn(Buffer.from(`"${'a'.repeat(length)}`))(0)).toBe(-1)
    for (const length of [65_000, 70_000, 3_000_000]) expect(stringEndsIn(Buffer.from(`"${'a'.repeat(length)}"`))(0)).toBe(length + 1)
    for (const cut of ['\\', '\\u', '\\u0', '\\u00', '\\u004']) expect(stringEndsIn(Buffer.from(`"${cut}`))(0)).toBe(-1)
  })
})

const textOf = (bytes: Buffer, { start, end }: { start: number; end: number }): string => bytes.toString('utf8', start, end)

describe('parts of a text', () => {
  it('are the members and elements that JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()), (object, list) => {
        const bytes = Buffer.from(` ${JSON.stringify(object, null, 1)}\n`)
        const seen: Member[] = []
        expect(faultInJson(bytes, RULES, (member) => seen.push(member))).toBeNull()
        expect(seen).toEqual([...membersOf(bytes)])
        const members = seen.map((member) => [member.key, JSON.parse(textOf(bytes, member))])
        expect(Object.fromEntries(members)).toEqual(JSON.parse(bytes.toString()))
        const items = Buffer.from(JSON.stringify(list, null, 1))
        expect([...elementsOf(items, 0)].map((span) => JSON.parse(textOf(items, span)))).toEqual(JSON.parse(items.toString()))
      }),
      { numRuns: 100 },
    )
  })

  it.each([
    ['{"a":1.0,"response":2,"b":12345678901234567890}', '{"a":1.0,"b":12345678901234567890,"response":0}'],
    ['{"response":2}', '{"response":0}'],
    ['{ }', '{"response":0}'],
    ['{"response":1,"a":"\\ud83d","response":2}', '{"a":"\\ud83d","response":0}'],
  ])('are put together again as they were written: %s', (text, expected) => {
    const bytes = Buffer.from(text)
    expect(joined(bytes, cutOut(bytes, ['response']), new Map([['response', '0']])).toString()).toBe(expected)
  })
})
