/** Conformance suite for examiners, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { Candidate, Examination, Examiner, JsonObject, Tryout } from '../src/contract/index.ts'
import { assertGivenUp, assertPlain, assertUntouched, never, type Runner } from './support.ts'

export interface ExaminerSuite extends Runner {
  readonly examiner: Examiner
  /** Whether it calls the candidate. */
  readonly asks?: boolean
}

const GIVE_UP_MS_MAX = 1000

export function examinerConformance({ it, examiner, asks = true }: ExaminerSuite): void {
  it('whatever the candidate says, it decides, and says what its decision rests on in plain data', async () => {
    for (const answer of ANSWERS) {
      const { select, metrics = {} } = await examine(examiner, answering(answer))
      assert.equal(typeof select, 'boolean', 'it answered without a decision')
      assertPlain(metrics, 'what it rests on')
    }
  })
  it('the same candidate is decided on the same, since a step may be taken again', async () => {
    for (const answer of ANSWERS) assert.deepEqual(await examine(examiner, answering(answer)), await examine(examiner, answering(answer)))
  })
  it('the metrics of the training are afterwards what they were', async () => {
    const candidate = simulatedCandidate(saying('yes'))
    await assertUntouched(candidate.metrics, (metrics) => examine(examiner, { ...candidate, metrics }))
  })
  if (!asks) return
  it('a candidate that cannot be loaded, or does not answer, fails it: nothing is published', async () => {
    const candidate = simulatedCandidate(saying('yes'))
    await assert.rejects(examine(examiner, { ...candidate, try: dead }))
    await assert.rejects(examine(examiner, simulatedCandidate(dead)))
  })
  it('it is soon over after an abort', async () => {
    const stopping = new AbortController()
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>()
    const examination = examiner.examine(simulatedCandidate(slowly(stopping.signal, asked)), stopping.signal)
    await isAsked
    stopping.abort(new Error('stopped'))
    await assertGivenUp(examination, GIVE_UP_MS_MAX)
  })
}

/** The chats of the candidate and of the served release, which are the same by default. */
export function simulatedCandidate(candidate: Tryout['chat'], current: Tryout['chat'] = candidate): Candidate {
  return {
    scenario: 'scenario-1',
    job: '0'.repeat(64),
    metrics: { loss: 0.5, optimizer_steps: 1, tokens_trained: 100 },
    try: (work) => work({ chat: candidate }),
    current: (work) => work({ chat: current }),
  }
}

/** Always answers with this text. */
export const saying =
  (text: string): Tryout['chat'] =>
  () =>
    Promise.resolve(completion({ role: 'assistant', content: text }))

const answering = (answer: JsonObject): Candidate => simulatedCandidate(() => Promise.resolve(answer))

const dead = (): Promise<never> => Promise.reject(new Error('the engine is gone'))

const completion = (message: JsonObject): JsonObject => ({
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
})

/** Right, empty, without text, and malformed. */
const ANSWERS: readonly JsonObject[] = [
  completion({ role: 'assistant', content: 'yes' }),
  completion({ role: 'assistant', content: '' }),
  completion({ role: 'assistant', content: null, tool_calls: [] }),
  { object: 'chat.completion', choices: [] },
  {},
]

/** Never answers, and rejects on an abort. */
const slowly =
  (signal: AbortSignal, asked: () => void): Tryout['chat'] =>
  () =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('given up')))
      asked()
    })

const examine = (examiner: Examiner, candidate: Candidate): Promise<Examination> => examiner.examine(candidate, never())
