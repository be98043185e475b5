/** Bodies of the inference line are scanned and not built: verdict, facts and record are those that building them would give. */
import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isObject, isRefusal, type Json, type JsonObject } from '../../contract/index.ts'
import { taggedPayload, type Tags } from '../../inference/index.ts'
import { joined, BytePieces, piecesOf } from '../../kit/index.ts'
import { outlineOf } from './jobs.ts'

const onePiece = (bytes: Buffer): BytePieces => new BytePieces([bytes])

/** What building it says: null for anything but a JSON object in UTF-8. */
function built(bytes: Buffer): JsonObject | null {
  if (!isUtf8(bytes)) return null
  try {
    const value: Json = JSON.parse(bytes.toString())
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const scanned = (bytes: Buffer, tags: Tags) => scannedPieces(onePiece(bytes), tags)

function scannedPieces(pieces: BytePieces, tags: Tags) {
  try {
    return outlineOf(pieces, tags)
  } catch (error) {
    expect(isRefusal(error) && error.code).toBe('malformed_json')
    return null
  }
}

const FACTS = ['model', 'stream', 'lora_path', 'max_tokens', 'temperature', 'generationConfig']
const KEYS = [
  ...FACTS,
  'messages',
  'response',
  'metadata',
  'metadata_tags',
  '__proto__',
  'constructor',
  '',
  'caf\u00e9',
  '"',
  '\\',
  '\ud83d',
]
const value = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant({ tags: { a: 'old', b: 1 } }), fc.double())
/** JSON.parse takes an escaped key for `\\` where an object of the same shape had that key before. */
const key = fc.oneof(fc.constantFrom(...KEYS), fc.string()).filter((text) => !text.startsWith('\\'))
const member = fc.tuple(key, value)

/** Keys may stand twice, and every character of a key may be an escape. */
const body = fc
  .tuple(fc.array(member, { maxLength: 8 }), fc.constantFrom('', ' ', '\r\n\t'), fc.boolean())
  .map(([members, space, isEscaped]) => {
    const print = (text: string): string =>
      isEscaped ? `"${Array.from({ length: text.length }, (_, at) => escape(text, at)).join('')}"` : JSON.stringify(text)
    const texts = members.map(([name, held]) => `${space}${print(name)}${space}:${space}${JSON.stringify(held)}${space}`)
    return Buffer.from(`${space}{${texts.join(',')}${space}}${space}`)
  })
const escape = (text: string, at: number): string => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`

/** Something put in, left out or put in the place of another: bytes that are no UTF-8, a byte order mark, marks of JSON. */
const CUTS = ['\ufeff', '{', '}', '[', ']', ',', ':', '"', '\\', '\\u12', '\u0000', '\n', '-', '01', '1e999', 'NaN', '\\ud83d', 'é'].map(
  (text) => Buffer.from(text),
)
const cut = fc.constantFrom(...CUTS, Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.alloc(0))
const hostile = fc.tuple(body, cut, fc.nat(), fc.nat(3)).map(([bytes, put, place, gone]) => {
  const at = place % (bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + gone)])
})

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((one, other) => one - other)
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
}

const deep = (levels: number): Buffer => Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)
const TAGS: readonly Tags[] = [{}, { session: 's', a: 'new' }]

describe('a body that is the provider’s to judge', () => {
  it('is refused exactly where JSON.parse refuses it or finds no object, and its facts are what JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.oneof(body, hostile), fc.constantFrom(...TAGS), (bytes, tags) => {
        const whole = built(bytes)
        const outline = scanned(bytes, tags)
        expect([bytes.toString(), outline === null]).toEqual([bytes.toString(), whole === null])
        if (outline === null || whole === null) return
        for (const fact of FACTS) expect([fact, outline.facts[fact]]).toEqual([fact, Object.hasOwn(whole, fact) ? whole[fact] : undefined])
      }),
      { numRuns: 3000 },
    )
  })

  it('is kept with everything it says but what the record has of its own', () => {
    fc.assert(
      fc.property(body, fc.constantFrom(...TAGS), (bytes, tags) => {
        const outline = outlineOf(onePiece(bytes), tags)
        const kept: JsonObject = JSON.parse(joined(bytes, outline, new Map([...outline.tagged, ['response', '"answer"']])).toString())
        const whole: JsonObject = JSON.parse(taggedPayload(bytes, tags).toString())
        expect(kept).toEqual({ ...whole, response: 'answer' })
      }),
      { numRuns: 500 },
    )
  })

  it('may come in any pieces, cut anywhere: in a character, an escape, a key, or after every byte', () => {
    const pieces = fc.oneof(
      fc.constant((bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.of(byte))),
      fc.array(fc.nat(), { maxLength: 6 }).map(
        (places) =>
          (bytes: Buffer): Buffer[] =>
            cutAt(bytes, places),
      ),
    )
    fc.assert(
      fc.property(fc.oneof(body, hostile), fc.constantFrom(...TAGS), pieces, (bytes, tags, cutUp) => {
        const [whole, list] = [scanned(bytes, tags), cutUp(bytes)]
        const outline = scannedPieces(new BytePieces(list), tags)
        expect(outline).toEqual(whole)
        if (outline === null) return
        // What the record has of it may not change with the next body that is scanned.
        outlineOf(onePiece(Buffer.from(`{"${'x'.repeat(bytes.length)}":"y"}`)), {})
        const kept = Buffer.concat(piecesOf(new BytePieces(list), outline, outline.tagged))
        expect(kept.toString()).toBe(joined(bytes, outline, outlineOf(onePiece(bytes), tags).tagged).toString())
      }),
      { numRuns: 500 },
    )
  })

  it('may nest as deep as its length allows', () => {
    expect(outlineOf(onePiece(deep(131_000)), {}).kept).toHaveLength(1)
    expect(() => outlineOf(onePiece(deep(140_000)), {})).toThrow('deeper than')
  })
})
