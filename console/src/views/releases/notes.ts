/** What reviewers noted about a change, and what it asks of a machine, read out of a step's metrics. Pure. */
import { dataAt, isData, listAt, textAt, type Data } from '../../data/json.ts'

export interface Notes {
  /** "complete", or what else the review came to; null where there was none. */
  readonly review: string | null
  readonly covered: readonly string[]
  readonly uncovered: readonly string[]
  readonly requires: readonly string[]
  readonly refused: readonly string[]
}

export function notesOf(metrics: Data): Notes {
  const review = dataAt(dataAt(metrics, 'proposal_notes'), 'review')
  const request = dataAt(metrics, 'training_request')
  return {
    review: textAt(review, 'result'),
    covered: textsAt(review, 'covered'),
    uncovered: textsAt(review, 'uncovered'),
    requires: listAt(request, 'requires').filter(isData).map(requiredLine),
    refused: listAt(request, 'refused_requires')
      .filter(isData)
      .map((refused) => `${requiredLine(dataAt(refused, 'item'))}: ${textAt(refused, 'reason') ?? 'refused'}`),
  }
}

const textsAt = (data: Data, key: string): readonly string[] => listAt(data, key).filter((text) => typeof text === 'string')

const requiredLine = (item: Data): string =>
  [textAt(item, 'kind') ?? 'thing', textAt(item, 'name') ?? 'unnamed', textAt(item, 'prompt') ?? ''].join(' ').trim()
