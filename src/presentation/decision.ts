/** What a reviewer reads first: the result, what changed and what that may do, in a few sentences; and both sides, task by task. */
import { headlineOf } from './evidence.ts'
import { counted, formatted } from './numbers.ts'
import { powersOfStep } from './powers.ts'
import { numberAt, objectAt, objectsAt, textAt, type UnknownRecord } from './read.ts'
import { mutationsIn } from './replaces.ts'
import { scoreText } from './scores.ts'

/** "10 of 14 improved, none worse; …", "It adds 1 entry and changes 2.", "Only words: …". Empty of a step that tried nothing. */
export function briefOf(metrics: UnknownRecord): readonly string[] {
  const headline = headlineOf(metrics)
  return [...(headline === null ? [] : [`${headline}.`]), ...changeSentence(metrics), ...powerSentences(metrics)]
}

const VERBS = [
  ['create', 'adds'],
  ['update', 'changes'],
  ['remove', 'removes'],
] as const

function changeSentence(metrics: UnknownRecord): readonly string[] {
  const mutations = mutationsIn(metrics)
  const parts = VERBS.flatMap(([op, verb]) => {
    const { length } = mutations.filter((one) => textAt(one, 'op') === op)
    return length === 0 ? [] : [`${verb} ${counted(length, 'entry', 'entries')}`]
  })
  const last = parts.at(-1)
  if (last === undefined) return []
  return [`It ${parts.length === 1 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`}.`]
}

function powerSentences(metrics: UnknownRecord): readonly string[] {
  const powers = powersOfStep(metrics)
  if (powers === null) return []
  return powers.powers.length === 0 ? [powers.summary] : powers.powers.map(({ sentence }) => sentence)
}

export interface TaskScores {
  readonly task: string
  /** The mean of the served release; null where it was not played. */
  readonly before: string | null
  readonly after: string | null
  /** "better", "worse", "the same"; null where one side was not played. */
  readonly word: 'better' | 'worse' | 'the same' | null
  readonly tone: 'good' | 'bad' | 'plain'
  /** "3 pairs" */
  readonly pairs: string
  /** Where an episode of each side can be read; null where none was kept. */
  readonly episodes: { readonly before: EpisodePlace | null; readonly after: EpisodePlace | null }
}

export interface EpisodePlace {
  /** As `step_record` of the row of the step that played it. */
  readonly record: string
  /** Its folder in that record. */
  readonly folder: string
}

/** What got worse comes first, then what got better: the rest says little. */
const ORDER = { worse: 0, better: 1, 'the same': 2 } as const

/** Empty of a step that played nothing, or that is older than these means. */
export function taskScoresOf(metrics: UnknownRecord): readonly TaskScores[] {
  const rows = objectsAt(metrics, 'task_scores').map((one): TaskScores => {
    const [before, after] = [numberAt(one, 'current'), numberAt(one, 'candidate')]
    const word = before === null || after === null ? null : after > before ? 'better' : after < before ? 'worse' : 'the same'
    return {
      task: textAt(one, 'task') ?? 'unnamed',
      before: before === null ? null : scoreText(before),
      after: after === null ? null : scoreText(after),
      word,
      tone: word === 'better' ? 'good' : word === 'worse' ? 'bad' : 'plain',
      pairs: counted(numberAt(one, 'pairs') ?? 1, 'pair'),
      episodes: { before: placeAt(one, 'current_episode'), after: placeAt(one, 'candidate_episode') },
    }
  })
  const rank = ({ word }: TaskScores): number => (word === null ? 3 : ORDER[word])
  return rows.toSorted((one, other) => rank(one) - rank(other))
}

function placeAt(from: UnknownRecord, name: string): EpisodePlace | null {
  const [, record, folder] = /^([^/]+\/[^/]+)\/(.+)$/.exec(textAt(from, name) ?? '') ?? []
  return record === undefined || folder === undefined ? null : { record, folder }
}

/** One side of a task as it was played, to read beside the other. */
export interface PlayedEpisode {
  readonly prompt: string
  /** What the agent said last. */
  readonly answer: string
  readonly score: string
  /** What the evaluator said, or why there is no score. */
  readonly words: string | null
}

/** Reads the file of an episode; what is missing in it is empty. */
export function playedEpisode(file: UnknownRecord): PlayedEpisode {
  const score = numberAt(file, 'score')
  const words = [textAt(objectAt(file, 'evaluation'), 'words'), textAt(file, 'failure')].filter((text) => text !== null)
  return {
    prompt: textAt(file, 'prompt') ?? '',
    // Steps of earlier versions kept the output alone.
    answer: textAt(file, 'answer') ?? textAt(file, 'stdout') ?? '',
    score: score === null ? 'no score' : scoreText(score),
    words: words.length === 0 ? null : words.join('; '),
  }
}

/** "6 better, 1 worse, 7 the same" */
export function taskScoresSummary(rows: readonly TaskScores[]): string {
  const parts = (['better', 'worse', 'the same'] as const).flatMap((word) => {
    const { length } = rows.filter((row) => row.word === word)
    return length === 0 ? [] : [`${formatted(length)} ${word}`]
  })
  return parts.join(', ')
}
