/**
 * Excerpts: what a record says in a few words, for lists and for the search.
 * Does not store, find or judge anything.
 */
export { excerptOf, shownExcerpt, tagsWithin, type Excerpt } from './excerpt.ts'
export { factsOfQuery, factsOfRecord } from './facts.ts'
