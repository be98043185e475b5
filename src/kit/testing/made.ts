/** Secrets for tests are made up while they run, from parts, so that no file holds one. */
export const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const ANY = `${LETTERS}${LETTERS.toUpperCase()}0123456789`
const HEX = '0123456789abcdef'
export const CAPITALS = `${LETTERS.toUpperCase()}234567`

/** Text of no meaning, the same on every run. */
export function made(count: number, alphabet = ANY): string {
  let state = count * 7919 + alphabet.length
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return alphabet[Math.floor((state / 2_147_483_648) * alphabet.length)]
  }).join('')
}

export const hex = (count: number): string => made(count, HEX)
export const uuid = (): string => [8, 4, 4, 4, 12].map(hex).join('-')
export const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** The dot keeps the parts of a secret apart in a file. */
export const whole = (parts: string): string => parts.replaceAll('·', '')
