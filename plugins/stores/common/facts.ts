/** What is compared exactly, as words of an index. */
import { hash } from 'node:crypto'

const FACT_CHARACTERS = 16

/** One word each, whatever it holds. */
export const factWord = (fact: string): string => hash('sha1', fact).slice(0, FACT_CHARACTERS)

/** Whether a word of a text could be taken for one. */
export const isFactWord = (word: string): boolean => word.length === FACT_CHARACTERS && /^[0-9a-f]+$/.test(word)
