/**
 * Scored by a model: held against what the current release said to the same task where that is known, else graded by itself. Asked twice with
 * the order changed, since models favour a place.
 */
import { define, unavailable, type ChatMessage, type Episode, type Model, type Scene, type Task } from '../../../src/contract/index.ts'
import { finalText, scoreOfEnd } from '../common/episodes.ts'
import { comparison, grading, type Question } from './questions.ts'
import { gradeIn, winnerIn } from './verdicts.ts'

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
  throw unavailable('no_model', 'there is no model that could judge')
}

/** Null when nobody could have said anything. What an agent said before it ran into a limit does not count. */
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

/** Half a point is as good as the reference: what two orders disagree on is no difference. */
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

/** Both verdicts, or null when one of them is missing. */
async function asked<T>(model: Model, questions: readonly [Question, Question], read: Reader<T>): Promise<readonly [T, T] | null> {
  const [first, second] = await Promise.all([verdictOf(model, questions[0], read), verdictOf(model, questions[1], read)])
  return first === null || second === null ? null : [first, second]
}

/** Null when the reply is no verdict. */
type Reader<T> = (reply: string) => T | null

/** A model that thinks before it speaks needs room for both. */
const ANSWER = { tokensMax: 4096, timeoutSeconds: 120 }

/** Asked once more when the reply was none: nothing is read out of prose, where the agent's own words may stand. */
async function verdictOf<T>(model: Model, { messages, shown, form }: Question, read: Reader<T>): Promise<T | null> {
  // A reply that stands in what was judged is a quotation.
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
