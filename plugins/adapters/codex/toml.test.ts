import { describe, expect, it } from 'vitest'
import { printToml } from './toml.ts'

describe('data printed as TOML', () => {
  it('is the same text whatever the order of its keys', () => {
    const one = printToml({ b: { z: 1, a: [true] }, a: 'x' })
    expect(printToml({ a: 'x', b: { a: [true], z: 1 } })).toBe(one)
    expect(one).toBe('a = "x"\n\n[b]\na = [true]\nz = 1\n')
  })

  it.each([
    ['a number', { a: -1.5 }, 'a = -1.5\n'],
    ['a large number', { a: 1e21 }, 'a = 1e+21\n'],
    ['a truth', { a: false }, 'a = false\n'],
    ['an empty list', { a: [] }, 'a = []\n'],
    ['a list of mixed values', { a: [1, 'b', [true]] }, 'a = [1, "b", [true]]\n'],
    ['objects in a list, on the line', { a: [{ b: { c: 1 } }, {}] }, 'a = [{ b = { c = 1 } }, { }]\n'],
    ['an empty object', { a: {} }, '[a]\n'],
    ['an object that holds objects alone, without a line of its own', { a: { b: { c: 1 } } }, '[a.b]\nc = 1\n'],
    ['plain fields before objects, which would swallow them', { z: 1, a: { b: 2 } }, 'z = 1\n\n[a]\nb = 2\n'],
    ['nothing', {}, '\n'],
  ])('can be %s', (_, data, text) => {
    expect(printToml(data)).toBe(text)
  })

  it.each([
    ['a quote and a backslash', 'a"b\\', '"a\\"b\\\\"'],
    ['a line that would begin a table', 'x\n[model_providers.evil]', '"x\\n[model_providers.evil]"'],
    ['three quotes', '"""', '"\\"\\"\\""'],
    ['control characters', '\u0000\u001f\u007f', '"\\u0000\\u001f\\u007f"'],
    ['a line break of another alphabet', '\u2028', '"\u2028"'],
    ['a picture', '🪸', '"🪸"'],
  ])('keeps a text with %s on one line', (_, text, printed) => {
    expect(printToml({ a: text })).toBe(`a = ${printed}\n`)
  })

  it.each([
    ['an empty key', '', '""'],
    ['a dotted key', 'a.b', '"a.b"'],
    ['a key that would end the table’s name', 'a]\nx = 1', '"a]\\nx = 1"'],
    ['a key of another alphabet', 'ключ', '"ключ"'],
    ['the name of a prototype', '__proto__', '__proto__'],
  ])('keeps %s a key', (_, key, printed) => {
    expect(printToml(Object.fromEntries([[key, 1]]))).toBe(`${printed} = 1\n`)
    expect(printToml({ t: Object.fromEntries([[key, { a: 1 }]]) })).toBe(`[t.${printed}]\na = 1\n`)
  })

  it('cannot be null, and the refusal names the field', () => {
    expect(() => printToml({ a: { b: [null] } })).toThrow('a.b is null')
  })

  it('cannot be half a surrogate pair, in a value or a key', () => {
    expect(() => printToml({ a: '\ud800' })).toThrow('surrogate')
    expect(() => printToml({ '\udc00': 1 })).toThrow('surrogate')
  })
})
