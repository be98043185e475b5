/** How the person judged the answer to a request: by a report, else by what was said next. */
import { isObject, type Json } from '../../../src/contract/index.ts'
import { judgementIn, outcomeOfThread, type Thread, type WeakOutcome } from '../../../src/sessions/index.ts'
import type { SessionReport } from './records.ts'

export interface Judgement {
  readonly verdict: 'good' | 'bad' | null
  readonly by: 'report' | 'turn' | 'none'
  /** The person's own words about the answer; empty where there are none. */
  readonly words: string
  /** The right answer, where the person states it. */
  readonly stated: string | null
  /** Orders what is offered. */
  readonly seems: WeakOutcome
}

const GOOD_SCORE = 0.9
const BAD_SCORE = 0.5

export function judgementOf(thread: Thread, report: SessionReport | null): Judgement {
  const seems = outcomeOfThread(thread)
  if (report !== null) {
    const words = wordsIn(report.feedback)
    const verdict = verdictOf(report.score, words)
    return {
      verdict,
      by: verdict === null ? 'none' : 'report',
      words,
      stated: statedIn(report.feedback) ?? answerIn(words, verdict),
      seems,
    }
  }
  const words = nextWords(thread)
  const judged = judgementIn(words)
  const verdict = judged === 'thanks' ? 'good' : judged === 'corrects' ? 'bad' : null
  return verdict === null
    ? { verdict, by: 'none', words: '', stated: null, seems }
    : { verdict, by: 'turn', words, stated: answerIn(words, verdict), seems }
}

function verdictOf(score: number | null, words: string): Judgement['verdict'] {
  if (score !== null) return score >= GOOD_SCORE ? 'good' : score < BAD_SCORE ? 'bad' : null
  const judged = judgementIn(words)
  return judged === 'thanks' ? 'good' : judged === 'corrects' ? 'bad' : null
}

/** What the person said after the first answer. */
function nextWords({ steps }: Thread): string {
  const [, next] = steps.filter((step) => step.by === 'person')
  return next?.text ?? ''
}

const wordsIn = (feedback: Json): string => {
  if (typeof feedback === 'string') return feedback.trim()
  if (!isObject(feedback)) return ''
  const texts = ['text', 'comment', 'reason', 'message', 'feedback'].map((name) => feedback[name])
  return texts.filter((text) => typeof text === 'string').join('\n')
}

const ANSWER_FIELDS = ['answer', 'expected', 'expected_answer', 'correct_answer', 'correct']
const ANSWER_CHARACTERS_MAX = 80

function statedIn(feedback: Json): string | null {
  if (!isObject(feedback)) return null
  const value = ANSWER_FIELDS.map((name) => feedback[name]).find((each) => typeof each === 'string' || typeof each === 'number')
  return value === undefined ? null : shortLine(String(value))
}

const STATED = [
  /\b(?:right|correct|expected|true)\s+(?:answer|result|value|one)\s+(?:is|was|would be|should be)(?:\s*:)?\s*([^\n]+)/i,
  /\b(?:the answer|it|that)\s+(?:is actually|should be|should have been|must be|ought to be)(?:\s*:)?\s*([^\n]+)/i,
  /^(?:no|wrong|incorrect)\b[\s,.:;!–-]*(?:it is|it['’]s|the answer is)\s+([^\n]+)/i,
]

/** Words in English alone; in other languages a person states it in a field of the feedback. */
function answerIn(words: string, verdict: Judgement['verdict']): string | null {
  if (verdict !== 'bad') return null
  for (const shape of STATED) {
    const [, said] = shape.exec(words.slice(0, WORDS_READ)) ?? []
    const answer = said === undefined ? null : shortLine(said)
    if (answer !== null) return answer
  }
  return null
}
const WORDS_READ = 2000

/** One short line, without the quotes and the full stop around it. A sentence is no answer that can be compared. */
export function shortLine(text: string): string | null {
  const line = text
    .trim()
    .replace(/(?<![.!])[.!]+$/, '')
    .replace(/^["'`“”‘’*]+|["'`“”‘’*]+$/g, '')
    .trim()
  return line === '' || line.includes('\n') || line.length > ANSWER_CHARACTERS_MAX || line.split(/\s+/).length > WORDS_MAX ? null : line
}
const WORDS_MAX = 8
