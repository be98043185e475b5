/** Facts that only the prompt can tell: they stand in a rule or in a skill, or the model has to guess. */
import { drawInteger } from '../draw.ts'
import { sentences } from '../rules.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const ASKED = /\bhandbook\b[^?]{0,60}?\bwhat is (?:the )?([^?]{1,200})\?/i
const SMALL_WORDS = new Set(['the', 'of', 'a', 'an', 'for', 'in', 'our', 'is', 'to'])

/** The facts of the made-up handbook, in the order of the tasks. */
const FACTS = [
  ['port of the billing service', '4517'],
  ['owner of the search index', 'team-kestrel'],
  ['region of the archive bucket', 'eu-north-3'],
  ['branch of nightly builds', 'dusk'],
  ['timeout of the import job', '95'],
  ['name of the staging cluster', 'heron'],
  ['queue of failed mails', 'mail-retry'],
  ['color of the release badge', 'teal'],
] as const

/** A skill text that holds every fact. */
export const HANDBOOK: string = ['# Team handbook', ...FACTS.map(([subject, value]) => `The ${subject} is ${value}.`)].join('\n')

export const lookup: Family = {
  name: 'lookup',
  topic: /handbook|team facts/i,
  lessons: [],
  read,
  tasks: () =>
    makeTasks('lookup', (_, index) => {
      const [subject, answer] = FACTS[index] ?? FACTS[0]
      return { prompt: `According to the team handbook, what is the ${subject}?`, answer }
    }),
}

function read(text: string): Problem | null {
  const subject = ASKED.exec(text)?.[1]
  if (subject === undefined) return null
  const guess = String(drawInteger(1000, 9999, text, 'guess'))
  return { right: guess, slips: [], find: (known) => findFact(known, wordsOf(subject)) }
}

function findFact(known: string, wanted: readonly string[]): string | null {
  for (const sentence of sentences(known)) {
    // The question itself holds all of its own words.
    if (sentence.endsWith('?')) continue
    const value = /(?:\bis|\bare|=|:)\s+([^=:]+?)\s*[.;]?$/.exec(sentence)?.[1]
    if (value === undefined) continue
    const words = new Set(wordsOf(sentence))
    if (wanted.every((word) => words.has(word))) return value
  }
  return null
}

const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}-]+/u)
    .filter((word) => word !== '' && !SMALL_WORDS.has(word))
