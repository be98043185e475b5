/** Unit conversion. The bare model forgets the unit, or converts with a rough factor. */
import { drawInteger, drawOne } from '../draw.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

interface Conversion {
  readonly from: RegExp
  readonly to: RegExp
  readonly names: readonly [string, string]
  readonly factor: number
  readonly rough: number
}

const CONVERSIONS: readonly [Conversion, ...Conversion[]] = [
  { from: /kilomet(?:er|re)s?|km/, to: /met(?:er|re)s?|m/, names: ['kilometers', 'meters'], factor: 1000, rough: 100 },
  { from: /hours?|h/, to: /minutes?|min/, names: ['hours', 'minutes'], factor: 60, rough: 100 },
  { from: /minutes?|min/, to: /seconds?|s/, names: ['minutes', 'seconds'], factor: 60, rough: 100 },
  { from: /days?/, to: /hours?|h/, names: ['days', 'hours'], factor: 24, rough: 25 },
  { from: /feet|foot|ft/, to: /inch(?:es)?|in/, names: ['feet', 'inches'], factor: 12, rough: 10 },
  { from: /pounds?|lbs?/, to: /ounces?|oz/, names: ['pounds', 'ounces'], factor: 16, rough: 15 },
  { from: /kilograms?|kg/, to: /grams?|g/, names: ['kilograms', 'grams'], factor: 1000, rough: 100 },
  { from: /weeks?/, to: /days?/, names: ['weeks', 'days'], factor: 7, rough: 5 },
]

export const units: Family = {
  name: 'units',
  topic: /\bunits?\b|conver(?:t|sion)|measure/i,
  lessons: ['state-units', 'exact-factors'],
  read,
  tasks: () =>
    makeTasks('units', (seed) => {
      const conversion = drawOne(CONVERSIONS, seed, 'pair')
      const amount = drawInteger(2, 48, seed, 'amount')
      const [from, to] = conversion.names
      return { prompt: `Convert ${amount} ${from} to ${to}.`, answer: `${amount * conversion.factor} ${to}` }
    }),
}

function read(text: string): Problem | null {
  for (const conversion of CONVERSIONS) {
    const amount = amountIn(text, conversion)
    if (amount === null) continue
    const unit = conversion.names[1]
    const right = tidy(amount * conversion.factor)
    return {
      right: `${right} ${unit}`,
      slips: [
        { lesson: 'exact-factors', wrong: `${tidy(amount * conversion.rough)} ${unit}` },
        { lesson: 'state-units', wrong: right },
      ],
    }
  }
  return null
}

function amountIn(text: string, { from, to }: Conversion): number | null {
  const number = String.raw`(\d+(?:\.\d+)?)`
  const forward = new RegExp(String.raw`\b${number}\s*(?:${from.source})\b\s+(?:in|to|into|as)\s+(?:${to.source})\b`, 'i')
  const backward = new RegExp(String.raw`how many (?:${to.source})\b[^.?!]*?\b${number}\s*(?:${from.source})\b`, 'i')
  const amount = forward.exec(text)?.[1] ?? backward.exec(text)?.[1]
  return amount === undefined ? null : Number(amount)
}

const tidy = (value: number): string => String(Number(value.toFixed(6)))
