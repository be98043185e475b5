/** Facts and questions in the words of the full-text index. */
import type { SearchQuery } from '../../../../src/contract/index.ts'
import { searchTerms, searchWords } from '../../../../src/kit/index.ts'
import { factsOfQuery } from '../../../../src/excerpts/index.ts'
import { factWord, isFactWord } from '../../common/facts.ts'

/** A text as the index takes it: its words, which it only has to tell apart at the spaces. */
export const indexedText = (text: string): string => searchWords(text).join(' ')

/** Null where nothing is asked that the index of words knows. */
export function matchOf(query: SearchQuery): string | null {
  const terms = searchTerms(query.text ?? '')
  const phrases = (isExcluded: boolean): readonly string[] =>
    terms
      .filter((term) => term.isExcluded === isExcluded)
      .map(
        ({ words, isBeginning }) =>
          `${mayBeFact(words, isBeginning) ? '{input output} : ' : ''}"${words.join(' ')}"${isBeginning ? ' *' : ''}`,
      )
  const wanted = [...factsOfQuery(query).map((fact) => `facts : "${factWord(fact)}"`), ...phrases(false)]
  const excluded = phrases(true)
  if (wanted.length + excluded.length === 0) return null
  const all = wanted.length === 0 ? ANY_TYPE : wanted.map((each) => `(${each})`).join(' AND ')
  return excluded.length === 0 ? all : `(${all}) NOT (${excluded.map((each) => `(${each})`).join(' OR ')})`
}

/** Whether they could be found among the facts too. Looking only where the texts are takes nearly twice as long. */
const mayBeFact = (words: readonly string[], isBeginning: boolean): boolean => isBeginning || words.some(isFactWord)

/** What is excluded must be taken from something. */
const ANY_TYPE = (['inference', 'report', 'train'] as const)
  .flatMap((type) => factsOfQuery({ type, before: 0, limit: 0 }))
  .map((fact) => `(facts : "${factWord(fact)}")`)
  .join(' OR ')
