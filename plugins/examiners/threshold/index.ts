/** Publishes a candidate that answers held-out tasks well enough: not below a floor, and not below what is served. */
import { z } from 'zod'
import { define, isObject, type Json, type JsonObject, type Tryout, invalid } from '../../../src/contract/index.ts'

/** Under `training.examiner_config`: the tasks, and how well they must be answered. */
type ThresholdSettings = z.infer<typeof schema>

const text = z.string({ error: 'must be text' }).refine((value) => value.trim() !== '', { error: 'must be text that is not blank' })
const share = z.number({ error: 'must be a number from 0 to 1' }).min(0, 'must be at least 0').max(1, 'must be at most 1')
const count = (most: number, error = `must be a whole number from 1 to ${most}`) => z.int(error).min(1, error).max(most, error)
const task = z.strictObject({ prompt: text, answer: text }, { error: 'must be an object of prompt and answer' })
const schema = z.strictObject(
  {
    tasks: z.array(task, { error: 'must be a list of tasks' }).min(1, { error: 'must hold at least one task' }),
    repeats: count(100).default(1),
    floor: share.default(0),
    against_current: z.boolean({ error: 'must be true or false' }).default(true),
    margin: share.default(0),
    match: z.enum(['contained', 'exact'], { error: 'must be contained or exact' }).default('contained'),
    temperature: z.number({ error: 'must be a number from 0 to 2' }).min(0).max(2).default(0),
    max_tokens: count(65_536).default(256),
  },
  { error: 'holds an unknown setting; there are: tasks, repeats, floor, against_current, margin, match, temperature, max_tokens' },
)

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

async function scoreOf(
  tryout: Tryout,
  { tasks, repeats, match, temperature, max_tokens }: ThresholdSettings,
  signal: AbortSignal,
): Promise<number> {
  let right = 0
  for (const { prompt, answer } of tasks)
    for (let time = 0; time < repeats; time += 1) {
      signal.throwIfAborted()
      // A seed makes both sides, and a repeated step, sample alike.
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

const plain = (said: string): string => said.toLowerCase().replaceAll(/\s+/g, ' ').trim()

/** Empty when the model says nothing, or calls a tool instead. */
function textIn({ choices }: JsonObject): string {
  const [choice]: readonly Json[] = Array.isArray(choices) ? choices : []
  const message = isObject(choice) ? choice['message'] : undefined
  const content = isObject(message) ? message['content'] : undefined
  return typeof content === 'string' ? content : ''
}

function settingsIn(config: JsonObject): ThresholdSettings {
  const checked = schema.safeParse(config)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const path = ['training.examiner_config', ...(issue?.path ?? []).map(String)].join('.')
  throw invalid('bad_setting', `${path}: ${issue?.message ?? 'is not acceptable'}`)
}
