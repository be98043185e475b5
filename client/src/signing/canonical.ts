/** One text for one value: fields in the order of their names, no spaces, numbers as JavaScript prints them. */
import { createHash } from 'node:crypto'

/** Throws for what JSON cannot say. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined)
    const sorted = fields.toSorted(([one], [other]) => (one < other ? -1 : 1))
    return `{${sorted.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`).join(',')}}`
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a number must be finite')
  const text = JSON.stringify(value)
  if (typeof text !== 'string') throw new TypeError('only what JSON can say has a canonical text')
  return text
}

/** Of the canonical text, in hexadecimal. */
export const digestOf = (value: unknown): string => sha256(canonicalJson(value))

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
