/** Publishes a candidate that answers held-out tasks well enough: as well as a floor, and as well as what is served. */
import { define, isObject, type Json, type JsonObject, type Tryout } from '../../../src/contract/index.ts'
import { settingsIn, type ThresholdSettings } from './settings.ts'

export default define('examiner', {
  make(config) {
    const settings = settingsIn(config)
    const { floor, margin, tasks, against_current: isCompared } = settings
    return {
      async examine(candidate, signal) {
        const score = (tryout: Tryout): Promise<number> => scoreOf(tryout, settings, signal)
        const candidateScore = await candidate.try(score)
        const currentScore = isCompared ? await candidate.current(score) : null
        const least = currentScore === null ? floor : Math.max(floor, currentScore - margin)
        return {
          select: candidateScore >= least,
          metrics: {
            candidate_score: candidateScore,
            ...(currentScore !== null && { current_score: currentScore }),
            evaluation_task_count: tasks.length,
          },
        }
      },
    }
  },
})

/** The share of answers that are right. */
async function scoreOf(
  tryout: Tryout,
  { tasks, repeats, match, temperature, max_tokens }: ThresholdSettings,
  signal: AbortSignal,
): Promise<number> {
  let right = 0
  for (const { prompt, answer } of tasks)
    for (let time = 0; time < repeats; time += 1) {
      signal.throwIfAborted()
      // Drawn by a number where it is drawn at all, so that both sides and every repetition of the step draw alike.
      const drawn = temperature === 0 ? {} : { seed: time }
      const body = { messages: [{ role: 'user', content: prompt }], temperature, max_tokens, ...drawn }
      if (isRight(textIn(await tryout.chat(body)), answer, match)) right += 1
    }
  return right / (tasks.length * repeats)
}

function isRight(said: string, answer: string, match: ThresholdSettings['match']): boolean {
  const [heard, wanted] = [plain(said), plain(answer)]
  return match === 'exact' ? heard === wanted : heard.includes(wanted)
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ').trim()

/** Whoever says nothing, or asks for a tool instead, has not answered. */
function textIn({ choices }: JsonObject): string {
  const [choice]: readonly Json[] = Array.isArray(choices) ? choices : []
  const message = isObject(choice) ? choice['message'] : undefined
  const content = isObject(message) ? message['content'] : undefined
  return typeof content === 'string' ? content : ''
}
