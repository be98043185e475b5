/** The message for an unknown key: the nearest existing key, or the keys of the section. */
import { allKeys, namesAt, typeAt } from './keys.ts'
import { nearest } from './nearest.ts'

/** Null when the key or section is known. */
export function unknownKeyProblem(path: readonly string[]): string | null {
  const depth = path.findIndex((_, index) => typeAt(path.slice(0, index + 1)) === null)
  if (depth === -1) return null
  const within = path.slice(0, depth)
  const unknown = path.slice(0, depth + 1).join('.')
  const names = namesAt(within)
  if (names === null) return `${unknown} is not a known key; ${within.join('.')} is a value and has no keys below it`
  const meant = meantKey(path, depth, names)
  const hint =
    meant === null ? `${within.length === 0 ? 'the file' : within.join('.')} knows ${names.join(', ')}` : `did you mean ${meant}?`
  return `${unknown} is not a known ${within.length === 0 && path.length > 1 ? 'section' : 'key'}; ${hint}`
}

/** First a misspelt neighbour, then the same name in another section, then the nearest whole key. */
function meantKey(path: readonly string[], depth: number, names: readonly string[]): string | null {
  const word = path[depth] ?? ''
  const neighbour = nearest(word, names)
  if (neighbour !== null) return [...path.slice(0, depth), neighbour].join('.')
  const keys = allKeys().map(({ key }) => key)
  return keys.find((key) => key.endsWith(`.${word}`)) ?? nearest(path.join('.'), keys)
}
