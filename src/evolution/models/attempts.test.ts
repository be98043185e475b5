/** What the attempts of a model call are held at and count as, whether they are answered, refused or break off. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { sendJson, startUpstream, type Upstream } from '../../../test/support/upstream.ts'
import type { ChatMessage } from '../../contract/index.ts'
import { OUTPUT_UNBOUNDED, type CallBound } from '../money/bounds.ts'
import { CapReached } from '../money/caps.ts'
import { openModels } from './index.ts'

const QUESTION: readonly ChatMessage[] = [{ role: 'user', content: 'Say hello.' }]
const ANSWER = { choices: [{ message: { role: 'assistant', content: 'hello' } }], usage: { prompt_tokens: 7, completion_tokens: 3 } }
const TOKENS_MAX = 100

let upstream: Upstream
beforeEach(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.close())

/** What happens to each attempt; the last one again and again. */
function attempts(...all: readonly ('answered' | 'broken' | 'cut' | readonly [status: number, message: string])[]): void {
  upstream.answer((_received, response) => {
    const now = all[Math.min(upstream.received.length, all.length) - 1] ?? 'broken'
    if (now === 'broken') return void response.destroy()
    if (now === 'cut') return void response.writeHead(200, { 'content-length': '1000' }).write('{"choices"', () => response.destroy())
    if (now === 'answered') return sendJson(response, 200, ANSWER)
    const [status, message] = now
    response.setHeader('retry-after', '0')
    return sendJson(response, status, { error: { message } })
  })
}

/** Asks once. `room`: how many attempts fit below the cap. */
async function asked(room = Infinity, url = upstream.url) {
  const held: CallBound[] = []
  const used: { readonly id: string | undefined; readonly input: number; readonly output: number; readonly isAnswered: boolean }[] = []
  const { models } = openModels(
    { url, model: 'm', api: 'openai', apiKey: null },
    {
      callsMax: 0,
      report: { phase: () => undefined, line: () => undefined },
      signal: new AbortController().signal,
      hold: async (bound) => {
        if (held.length === room) throw new CapReached('raise it')
        held.push(bound)
        return { id: `hold ${held.length}`, bound }
      },
      used: ({ input, output, isAnswered }, hold) => void used.push({ id: hold?.id, input, output, isAnswered }),
    },
  )
  const end = await models['served']?.chat(QUESTION, { tokensMax: TOKENS_MAX }).catch((error: unknown) => error)
  return { held, used, end }
}

const said = { input: 7, output: 3, isAnswered: true }
const nothing = { input: 0, output: 0, isAnswered: false }

it.each(['broken', 'cut'] as const)('one that is %s counts as all that was held for it, beside the one that is answered', async (how) => {
  attempts(how, how, 'answered')
  const { held, used, end } = await asked()
  expect(end).toBe('hello')
  const [{ input } = { input: 0 }] = held
  expect(input).toBeGreaterThan(QUESTION.length)
  const lost = { input, output: TOKENS_MAX, isAnswered: true }
  expect(used).toEqual([
    { id: 'hold 1', ...lost },
    { id: 'hold 2', ...lost },
    { id: 'hold 3', ...said },
  ])
})

it('one that the model refuses counts as nothing, also the last', async () => {
  attempts([429, 'wait'], [503, 'busy'])
  const { used, end } = await asked()
  expect(String(end)).toContain('status 503: busy')
  expect(used).toEqual([1, 2, 3].map((n) => ({ id: `hold ${n}`, ...nothing })))
})

it('one that never reached a server counts as nothing', async () => {
  const { url } = upstream
  await upstream.close()
  const { used } = await asked(Infinity, url)
  expect(used).toEqual([1, 2, 3].map((n) => ({ id: `hold ${n}`, ...nothing })))
})

it('one without a bound, since the model refuses it, is held without one', async () => {
  attempts([400, "Unsupported parameter: 'max_tokens'"], 'answered')
  const { held, used } = await asked()
  expect(held.map(({ output, isBounded }) => [output, isBounded])).toEqual([
    [TOKENS_MAX, true],
    [OUTPUT_UNBOUNDED, false],
  ])
  expect(used).toEqual([
    { id: 'hold 1', ...nothing },
    { id: 'hold 2', ...said },
  ])
})

it('one that no longer fits below a cap is not made, and the cap is the reason', async () => {
  attempts('broken', 'answered')
  const { used, end } = await asked(1)
  expect(end).toEqual(new CapReached('raise it'))
  expect(used).toMatchObject([{ id: 'hold 1', output: TOKENS_MAX }])
  expect(upstream.received).toHaveLength(1)
})
