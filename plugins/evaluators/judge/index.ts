/**
 * A model scores the answer: compared with the current release's answer where there is one, else graded alone. It is asked twice in both
 * orders, since models favour a position.
 */
import { define, unavailable, isObject } from '../../../src/contract/index.ts'
import type { ChatMessage, Episode, Model, Scene, Task, Json, JsonObject } from '../../../src/contract/index.ts'
import { finalText, scoreOfEnd } from '../common/episodes.ts'
import { comparison, grading, type JudgeQuestion } from './questions.ts'

type Winner = 'A' | 'B' | 'tie'

/** One code fence around the whole reply is allowed. */
const FENCED = /^```(?:json)?\s*\n([^`]*)\n```$/

export default define('evaluator', {
  compares: true,
  async score(task, episode, scene) {
    const model = judgeIn(scene)
    const [said, reference] = [saidIn(episode), scene.reference === null ? null : saidIn(scene.reference)]
    if (said === null) return null
    if (reference === null) return grade(model, task, said)
    return compare(model, task, said, reference)
  },
})

function judgeIn({ models: { served }, signal }: Scene): Model {
  signal.throwIfAborted()
  if (served !== undefined) return served
  throw unavailable('no_model', 'there is no model to judge with')
}

/** Null when the agent did not start; empty when it hit a limit. */
function saidIn(episode: Episode): string | null {
  const settled = scoreOfEnd(episode)
  if (settled === undefined) return finalText(episode).trim()
  return settled === null ? null : ''
}

async function grade(model: Model, task: Task, said: string): Promise<number | null> {
  if (said === '') return 0
  const grades = await asked(model, [grading(task, said, 'task first'), grading(task, said, 'answer first')], gradeIn)
  return grades === null ? null : (grades[0] + grades[1]) / 2
}

/** 0.5 is a tie, also when the two orders disagree. */
async function compare(model: Model, task: Task, said: string, reference: string): Promise<number | null> {
  if (said === reference) return TIE
  if (said === '') return 0
  const winners = await asked(model, [comparison(task, said, reference), comparison(task, reference, said)], winnerIn)
  if (winners === null) return null
  const [first, second] = winners
  if (first === 'A' && second === 'B') return 1
  return first === 'B' && second === 'A' ? 0 : TIE
}

const TIE = 0.5

/** Both verdicts, or null when one is missing. */
async function asked<T>(
  model: Model,
  questions: readonly [JudgeQuestion, JudgeQuestion],
  read: Reader<T>,
): Promise<readonly [T, T] | null> {
  const [first, second] = await Promise.all([verdictOf(model, questions[0], read), verdictOf(model, questions[1], read)])
  return first === null || second === null ? null : [first, second]
}

/** Null when the reply is not a verdict. */
type Reader<T> = (reply: string) => T | null

/** Room for reasoning too. */
const ANSWER = { tokensMax: 4096, timeoutSeconds: 120 }

/** Asks once more when the reply is not a verdict. Prose is not searched, since it may quote the agent. */
async function verdictOf<T>(model: Model, { messages, shown, form }: JudgeQuestion, read: Reader<T>): Promise<T | null> {
  // A reply that occurs in the judged text is a quotation.
  const readOwn: Reader<T> = (reply) => (shown.includes(reply.trim()) ? null : read(reply))
  const reply = await model.chat(messages, ANSWER)
  const verdict = readOwn(reply)
  if (verdict !== null) return verdict
  const again = `That was not the one JSON object that was asked for. Reply with nothing but ${form}`
  const further: readonly ChatMessage[] = [
    { role: 'assistant', content: reply || '(nothing)' },
    { role: 'user', content: again },
  ]
  return readOwn(await model.chat([...messages, ...further], ANSWER))
}

/** Reads a judge's reply strictly: one JSON object of the expected fields and nothing else. */
function gradeIn(reply: string): number | null {
  const score = verdictIn(reply, 'score')
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : null
}

function winnerIn(reply: string): Winner | null {
  const winner = verdictIn(reply, 'winner')
  return winner === 'A' || winner === 'B' || winner === 'tie' ? winner : null
}

function verdictIn(reply: string, field: string): Json | undefined {
  const text = reply.trim()
  const verdict = objectIn(FENCED.exec(text)?.[1] ?? text)
  const isAsked = verdict !== null && Object.keys(verdict).every((key) => key === field || key === 'reason')
  return isAsked ? verdict[field] : undefined
}

function objectIn(text: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
