/** What a search compares exactly: everything that a record can be asked for besides its words, score and time. */
import type { RecordRow, SearchQuery } from '../contract/index.ts'
import type { Excerpt } from './excerpt.ts'

const QUOTED_MAX = 1000

/** A text each. */
export function factsOfRecord(
  { request_type: type, artifact_ref: release, references, summary }: RecordRow,
  { tags, model, isComplete }: Excerpt,
): readonly string[] {
  const name = summary?.model ?? model
  return [
    fact('type', type),
    ...(release === null ? [] : [fact('release', release)]),
    ...(name === null ? [] : [fact('model', name)]),
    ...(type === 'inference' ? [fact('status', isComplete && summary?.complete !== false ? 'complete' : 'broken_off')] : []),
    ...Object.entries(tags).map(([tag, value]) => fact('tag', tag, value)),
    ...references.slice(0, QUOTED_MAX).map((id) => fact('quotes', id)),
  ]
}

/** Those that a record must have to be found. */
export function factsOfQuery({ type, release, model, status, tags = [], quotes }: SearchQuery): readonly string[] {
  const asked = { type, release, model, status, quotes }
  return [
    ...Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [fact(name, value)])),
    ...tags.map(([name, value]) => fact('tag', name, value)),
  ]
}

const fact = (...words: readonly string[]): string => words.join('\0')
