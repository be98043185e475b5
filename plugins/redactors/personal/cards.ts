/** Payment cards: 13 to 19 digits, alone or in groups, that begin as one does and pass the Luhn check. */
import { startAfterNone, type Without } from './stand.ts'

const DIGITS_MIN = 13
const DIGITS_MAX = 19
/** Digits in groups, as long as any row of cards may be. What a longer run of digits holds is no card. */
const RUN = new RegExp(`(?=\\d)${startAfterNone('\\p{L}\\d_.')}\\d(?:[ -]?\\d){${DIGITS_MIN - 1},1000}(?![\\p{L}\\d_])`, 'gu')
const ISSUED_FIRST: ReadonlySet<string> = new Set('23456')
const ISSUED = /^(?:3[04-9]|4|5[0-8]|6|2(?:2[2-9]|[3-6]|7[0-2]))/

export const withoutCards: Without = (text, stand) =>
  text.replaceAll(RUN, (run) => {
    const groups = run.split(/(?<=[ -])/)
    let rest = ''
    for (let first = 0; first < groups.length; first += 1) {
      const card = cardAt(groups, first)
      rest += card === null ? groups[first] : stand.for('card', card.number) + separatorOf(groups[card.last] ?? '')
      first = card?.last ?? first
    }
    return rest
  })

interface FoundCard {
  readonly last: number
  readonly number: string
}

/** The longest card that begins with that group; null where none does. */
function cardAt(groups: readonly string[], first: number): FoundCard | null {
  if (!ISSUED_FIRST.has(groups[first]?.charAt(0) ?? '')) return null
  let found: FoundCard | null = null
  let number = ''
  for (let last = first; last < groups.length && number.length < DIGITS_MAX; last += 1) {
    number += withoutSeparator(groups[last] ?? '')
    if (isCard(number)) found = { last, number }
  }
  return found
}

const separatorOf = (group: string): string => (/[ -]$/.exec(group) ?? [''])[0]
const withoutSeparator = (group: string): string => group.slice(0, group.length - separatorOf(group).length)

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
