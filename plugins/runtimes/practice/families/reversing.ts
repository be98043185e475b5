/** Reversing text. The bare model turns the words around instead of the letters. */
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const REVERSE = /\b(?:reverse|backwards?)\b[^"'“:]*(?:["'“]([^"'”]+)["'”]|:\s*(.+))/i
const BACKWARDS = /["'“]([^"'”]+)["'”][^"'“]*\bbackwards?\b/i

const SAMPLES = [
  'quiet river',
  'amber lantern',
  'stone harbor',
  'velvet signal',
  'north meadow',
  'paper kite',
  'winter garden',
  'hollow drum',
] as const

export const reversing: Family = {
  name: 'reversing',
  topic: /revers|backward/i,
  lessons: ['reverse-letters'],
  read,
  tasks: () =>
    makeTasks('reversing', (_, index) => {
      const subject = SAMPLES[index] ?? 'quiet river'
      return { prompt: `Reverse the text "${subject}".`, answer: reversed(subject) }
    }),
}

function read(text: string): Problem | null {
  const found = REVERSE.exec(text) ?? BACKWARDS.exec(text)
  const subject = (found?.[1] ?? found?.[2] ?? '').trim()
  if (subject === '') return null
  const right = reversed(subject)
  const words = subject.split(/\s+/).toReversed().join(' ')
  const wrong = words === subject ? right.slice(1) + right.slice(0, 1) : words
  return { right, slips: wrong === right ? [] : [{ lesson: 'reverse-letters', wrong }] }
}

const reversed = (text: string): string => Array.from(text).toReversed().join('')
