/** Redaction takes time in proportion to the text, whatever beginning of a secret is repeated in it. */
import { expect, it } from 'vitest'
import { FRAME_SHAPES, KEY_SHAPES } from '../../../src/kit/secret-shapes.ts'
import personal from './index.ts'

/** Above what any shape counts, so that one that reads on from every place is found out. */
const LENGTH = 16_000
/** One that does takes sixteen times as long as plain letters, the others twice at most. */
const TIMES_MAX = 6
const TRIES = 5

const redactor = await personal.plugin.make({})

/** The letters that a shape itself names, such as `eyJ` and `PRIVATE KEY`. */
function namedIn(shape: string): readonly string[] {
  const letters = shape.replaceAll(/\[(?:\\.|[^\]])*\]|\{[\d,]*\}|\(\?(?:<?[!=]|:)|\\[sdwbS]/g, '\n').replaceAll('\\', '')
  return letters.split(/[\n()|?*+]+/).filter((part) => part.length > 1)
}

/** Processor time of this thread alone, so that others on the machine do not count. */
function spent(text: string): number {
  const before = process.threadCpuUsage()
  redactor.open()(text)
  const { user, system } = process.threadCpuUsage(before)
  return user + system
}

const leastOf = (tries: number, text: string): number => Math.min(...Array.from({ length: tries }, () => spent(text)))
const repeated = (part: string): string => part.repeat(LENGTH / part.length)

it('every beginning of a secret, repeated, takes about as long as plain letters', () => {
  const plain = leastOf(TRIES, repeated('at'))
  const parts = [...new Set([...KEY_SHAPES, ...FRAME_SHAPES].flatMap(namedIn))].flatMap((part) => [part, `${part}-`])
  expect(parts).toContain('eyJ-')
  const slow = parts.map(repeated).filter((text) => spent(text) > plain * TIMES_MAX && leastOf(TRIES, text) > plain * TIMES_MAX)
  expect(slow.map((text) => text.slice(0, 20))).toEqual([])
})

it('a token is found behind other words of its word, and plain words are none', () => {
  const token = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N'].join('.')
  const redact = redactor.open()
  expect(redact(`x ${token}`)).toBe('x [key 1]')
  for (const before of ['jwt_', 'my-key-', '"', '/']) expect(redact(before + token)).not.toContain('eyJzdWIi')
  expect(redact('plain words, x and y')).toBe('plain words, x and y')
})
