/** JSON with numbers that are more than a double holds: they stay as they were written, and are printed again as such. */
import type { Json } from '../contract/index.ts'

declare global {
  interface JSON {
    /** Printed as it is. */
    rawJSON(text: string): { readonly rawJSON: string }
    isRawJSON(value: unknown): boolean
  }
}

/** Shorter ones are exact in any case, and most texts have no longer ones. */
const LONG = /\d{16}|\d[eE]\+?\d{3}/
const WHOLE = /^-?\d+$/

/** Throws where the text is not JSON. */
export function parseExactly(text: string): Json {
  const value: Json = LONG.test(text) ? JSON.parse(text, exactly) : JSON.parse(text)
  return value
}

function exactly(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source ?? ''
  const isMore = typeof value === 'number' && (WHOLE.test(source) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
  return isMore ? JSON.rawJSON(source) : value
}

/** Parsed, or undefined when the text is not JSON. */
export function parsedExactly(text: string): Json | undefined {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

/** Of any length. */
export const isNumber = (value: Json | undefined): value is Json => typeof value === 'number' || JSON.isRawJSON(value)
