/** Roman numerals. The bare model only ever adds: IIII for IV. */
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const ASKED = /\broman\b/i
const NUMBER = /\b(\d{1,4})\b/
const NUMERAL = /\b([MDCLXVI]{2,15})\b/

type Numerals = readonly (readonly [number, string])[]
const SUBTRACTIVE: Numerals = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
]
const ADDITIVE: Numerals = SUBTRACTIVE.filter(([, numeral]) => numeral.length === 1)

const SAMPLES = [9, 14, 49, 94, 400, 444, 1994, 2029] as const

export const roman: Family = {
  name: 'roman',
  topic: /roman|numeral/i,
  lessons: ['subtractive'],
  read,
  tasks: () =>
    makeTasks('roman', (_, index) => {
      const number = SAMPLES[index] ?? 4
      return { prompt: `Write ${number} as a Roman numeral.`, answer: spell(number, SUBTRACTIVE) }
    }),
}

function read(text: string): Problem | null {
  if (!ASKED.test(text)) return null
  const number = Number(NUMBER.exec(text)?.[1] ?? 0)
  if (number > 0 && number < 4000) {
    const right = spell(number, SUBTRACTIVE)
    const wrong = spell(number, ADDITIVE)
    return { right, slips: wrong === right ? [] : [{ lesson: 'subtractive', wrong }] }
  }
  const numeral = NUMERAL.exec(text)?.[1]
  if (numeral === undefined) return null
  const added = numeral.split('').reduce((sum, sign) => sum + valueOf(sign), 0)
  const right = String(valueOfNumeral(numeral))
  return { right, slips: String(added) === right ? [] : [{ lesson: 'subtractive', wrong: String(added) }] }
}

function spell(number: number, numerals: Numerals): string {
  let rest = number
  let text = ''
  for (const [value, numeral] of numerals) {
    text += numeral.repeat(Math.floor(rest / value))
    rest %= value
  }
  return text
}

const valueOf = (sign: string | undefined): number => SUBTRACTIVE.find(([, numeral]) => numeral === sign)?.[0] ?? 0

const valueOfNumeral = (numeral: string): number =>
  numeral.split('').reduce((sum, sign, at) => sum + (valueOf(sign) < valueOf(numeral[at + 1]) ? -valueOf(sign) : valueOf(sign)), 0)
