/** Scores 1 when the agent's last line is the task's answer. */
import { define, finalText, invalid, scoreOfEnd, type Task } from '../../../src/contract/index.ts'

export default define('evaluator', {
  async score(task, episode) {
    const accepted = answersTo(task)
    const settled = scoreOfEnd(episode)
    if (settled !== undefined) return settled
    return accepted.includes(lastLine(finalText(episode))) ? 1 : 0
  },
})

/** A blank answer would match an agent that says nothing. */
function answersTo({ name, data }: Task): readonly string[] {
  const given: unknown = data?.['answer']
  const answers: readonly unknown[] = Array.isArray(given) ? given : [given]
  const texts = answers.flatMap((answer) => (typeof answer === 'string' && answer.trim() !== '' ? [answer.trim()] : []))
  if (texts.length > 0 && texts.length === answers.length) return texts
  throw invalid('answer_missing', `task ${name}: answer must be non-blank text, or a list of such texts, for the evaluator answer`)
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.trim() ?? ''
