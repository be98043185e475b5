/** Texts, facts and questions as PostgreSQL compares them. Words are ours, so that every store finds the same: no dictionary of the server is asked. */
import type { RecordRow, SearchQuery } from '../../../../src/contract/index.ts'
import { factsOfQuery, factsOfRecord, type Excerpt } from '../../../../src/excerpts/index.ts'
import { searchTerms, searchWords } from '../../../../src/kit/index.ts'
import { factWord } from '../../common/facts.ts'

/** No phrase goes over the end of what was asked. */
const GAP = 2

/**
 * A tsvector as text. A word is letters and digits alone, so nothing in it needs a backslash. Of a word that occurs more often than 256 times
 * the server keeps the first places.
 */
export function vectorOf({ input, output }: Excerpt): string {
  const asked = searchWords(input)
  const places = new Map<string, number[]>()
  const note = (word: string, place: number): void => {
    const known = places.get(word)
    if (known === undefined) places.set(word, [place])
    else known.push(place)
  }
  asked.forEach((word, at) => note(word, at + 1))
  searchWords(output).forEach((word, at) => note(word, asked.length + GAP + at))
  return [...places].map(([word, at]) => `'${word}':${at.join(',')}`).join(' ')
}

/** Also the scenario is one: so a word that is frequent in others is intersected in the index. */
export const factsIn = (key: number, row: RecordRow, excerpt: Excerpt): readonly string[] => [
  scenarioFact(key),
  ...factsOfRecord(row, excerpt).map(factWord),
]

export const factsAsked = (key: number, query: SearchQuery): readonly string[] => [scenarioFact(key), ...factsOfQuery(query).map(factWord)]

const scenarioFact = (key: number): string => `scenario ${key}`

/** A tsquery as text; null where no word is asked for. */
export function questionOf({ text = '' }: SearchQuery): string | null {
  const terms = searchTerms(text).map(({ words, isBeginning, isExcluded }) => {
    const last = words.length - 1
    const phrase = words.map((word, at) => `'${word}'${isBeginning && at === last ? ':*' : ''}`).join(' <-> ')
    return `${isExcluded ? '!' : ''}(${phrase})`
  })
  return terms.length === 0 ? null : terms.join(' & ')
}
