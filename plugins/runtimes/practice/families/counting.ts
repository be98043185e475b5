/** Counting letters and words. The bare model is off by one. */
import { drawInteger } from '../draw.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const LETTERS =
  /how many (?:times does )?(?:the )?(?:letter )?["'“]?([a-z])["'”]?(?:'?s)? (?:are|is|appear|occur|does)?[^"'“]*["'“]([^"'”]+)["'”]/i
const WORDS = /how many words[^"“:]*(?:["“]([^"”]+)["”]|:\s*(.+))/i

const SAMPLES = ['strawberry', 'mississippi', 'bookkeeper', 'committee', 'parallelogram', 'tennessee', 'millennium', 'occurrence'] as const

export const counting: Family = {
  name: 'counting',
  topic: /\bcount/i,
  lessons: ['count-each'],
  read,
  tasks: () =>
    makeTasks('counting', (seed, index) => {
      const word = SAMPLES[index] ?? 'banana'
      const letter = word.charAt(drawInteger(0, word.length - 1, seed, 'letter'))
      return { prompt: `How many times does the letter "${letter}" appear in "${word}"?`, answer: String(lettersIn(word, letter)) }
    }),
}

function read(text: string): Problem | null {
  const letters = LETTERS.exec(text)
  if (letters !== null) return problemOf(lettersIn(letters[2] ?? '', letters[1] ?? ''))
  const words = WORDS.exec(text)
  if (words === null) return null
  return problemOf((words[1] ?? words[2] ?? '').split(/\s+/).filter((word) => word !== '').length)
}

const lettersIn = (word: string, letter: string): number => word.toLowerCase().split(letter.toLowerCase()).length - 1

const problemOf = (count: number): Problem => ({
  right: String(count),
  slips: [{ lesson: 'count-each', wrong: String(count > 1 ? count - 1 : count + 1) }],
})
