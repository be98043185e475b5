/** Payment cards: 13 to 19 digits, alone or in groups, that begin as one does and pass the Luhn check. */
import { WHOLE_ESCAPE, type Without } from './stand.ts'

const DIGITS_MIN = 13
const DIGITS_MAX = 19
/** Digits in groups, as long as any row of cards may be. What a longer run of digits holds is no card. */
const RUN = new RegExp(`${WHOLE_ESCAPE}(?<![\\p{L}\\d_.])\\d(?:[ -]?\\d){${DIGITS_MIN - 1},1000}(?![\\p{L}\\d_])`, 'gu')
const ISSUED = /^(?:3[04-9]|4|5[0-8]|6|2(?:2[2-9]|[3-6]|7[0-2]))/

export const withoutCards: Without = (text, stand) =>
  text.replaceAll(RUN, (run) => {
    const groups = run.split(/(?<=[ -])/)
    let rest = ''
    for (let first = 0; first < groups.length; first += 1) {
      const last = lastOfCard(groups, first)
      rest += last === null ? groups[first] : stand.for('card', numberOf(groups, first, last)) + separatorOf(groups[last] ?? '')
      first = last ?? first
    }
    return rest
  })

/** The last group of the longest card that begins with that group; null where none does. */
function lastOfCard(groups: readonly string[], first: number): number | null {
  let found: number | null = null
  let digits = ''
  for (let last = first; last < groups.length && digits.length < DIGITS_MAX; last += 1) {
    digits = numberOf(groups, first, last)
    if (isCard(digits)) found = last
  }
  return found
}

const numberOf = (groups: readonly string[], first: number, last: number): string =>
  groups
    .slice(first, last + 1)
    .join('')
    .replaceAll(/[ -]/g, '')

const separatorOf = (group: string): string => (/[ -]$/.exec(group) ?? [''])[0]

function isCard(digits: string): boolean {
  return digits.length >= DIGITS_MIN && digits.length <= DIGITS_MAX && ISSUED.test(digits) && passesLuhn(digits)
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits.charAt(digits.length - 1 - place))
    const doubled = place % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
