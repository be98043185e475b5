/** Calls are held before they are sent: no cap is passed, however many are under way, wherever they are made. */
import { expect, it } from 'vitest'
import { randomOf } from '../../../test/crash/random.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { dialects } from '../../dialects/index.ts'
import { FolderDocuments, TokenCounter } from '../../kit/index.ts'
import { EpisodeBounds, OUTPUT_UNBOUNDED, usedWithin } from './bounds.ts'
import { CapReached, type CapSettings } from './caps.ts'
import { Ledger } from './ledger.ts'
import { Purse, type HeldCall } from './purse.ts'

const NOON = Date.UTC(2026, 4, 4, 12)
const NONE: CapSettings = {
  max_tokens_per_step: 0,
  max_cost_per_step: 0,
  max_tokens_per_day: 0,
  max_cost_per_day: 0,
  prices: { m: { input: 10, output: 100, cached: null } },
  sandbox: {},
}
const SIGNAL = new AbortController().signal
const bound = (input: number, output: number) => ({ input, output, isBounded: true, model: 'm' })
const use = (input: number, output: number) => ({ input, cached: 0, output, model: 'm', isAnswered: true })

interface PurseOptions {
  readonly component?: string
  readonly step?: number
  readonly silentMs?: number
}

const purseIn = (folder: string, caps: Partial<CapSettings>, { component = 'a', step = 1, silentMs }: PurseOptions = {}): Purse =>
  new Purse(new Ledger(new FolderDocuments(folder), component, silentMs), { ...NONE, ...caps }, step, () => NOON)

/** Whether it is over by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  promise.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1))
  return isOver
}

it('never passes a cap with random calls of several trainers and gateways, and refuses only what could', async () => {
  const random = randomOf(process.env['TEST_SEED'] ?? 'holds')
  for (let round = 0; round < 8; round += 1) {
    const folder = temporaryFolder()
    const step = random.between(500, 3000)
    const day = random.between(step, 2 * step)
    const cost = random.between(20, 300) / 1000
    const caps = { max_tokens_per_step: step, max_tokens_per_day: day, max_cost_per_step: cost }
    // Two gateways of one step, and another component of the scenario.
    const purses = [purseIn(folder, caps), purseIn(folder, caps), purseIn(folder, caps, { component: 'b' })]
    const taken = [0, 0]
    let money = 0
    const call = async (): Promise<void> => {
      const at = random.between(0, purses.length - 1)
      const most = bound(random.between(1, 200), random.between(1, 200))
      const held = await purses[at]?.hold('episode', most, SIGNAL)
      const of = at === 2 ? 1 : 0
      const [input, output] = [random.between(0, most.input), random.between(0, most.output)]
      // As soon as it is sent the worst may be what it takes.
      expect((taken[of] ?? 0) + most.input + most.output).toBeLessThanOrEqual(step)
      expect(taken.reduce((sum, each) => sum + each, 0) + most.input + most.output).toBeLessThanOrEqual(day)
      taken[of] = (taken[of] ?? 0) + most.input + most.output
      await new Promise((resolve) => setTimeout(resolve, random.between(0, 3)))
      taken[of] += input + output - most.input - most.output
      if (of === 0) money += (input * 10 + output * 100) / 1e6
      purses[at]?.spend('episode', use(input, output), held ?? null)
    }
    const lines = Array.from({ length: 6 }, async () => {
      for (let calls = 0; calls < 12; calls += 1)
        await call().catch((error: unknown) => {
          if (!(error instanceof CapReached)) throw error
        })
    })
    await Promise.all(lines)
    expect(taken[0]).toBeLessThanOrEqual(step)
    expect(money).toBeLessThanOrEqual(cost)
    const next = new Ledger(new FolderDocuments(folder), 'a')
    await next.settle(NOON)
    const { day: today } = next.taken(NOON, 1)
    expect(today.inputTokens + today.outputTokens).toBe((taken[0] ?? 0) + (taken[1] ?? 0))
  }
})

it('waits while a call is under way that may give back enough, and goes on with what it gave back', async () => {
  const folder = temporaryFolder()
  const [here, there] = [purseIn(folder, { max_tokens_per_step: 100 }), purseIn(folder, { max_tokens_per_step: 100 })]
  const first = await here.hold('episode', bound(40, 40), SIGNAL)
  const [second, third] = [here.hold('episode', bound(20, 20), SIGNAL), there.hold('episode', bound(20, 20), SIGNAL)]
  expect(await isSettled(Promise.race([second, third]))).toBe(false)
  expect(here.reached).toBeNull()
  here.spend('episode', use(10, 5), first)
  expect(await second).not.toBeNull()
  expect(await third).not.toBeNull()
  const leaving = new AbortController()
  const fourth = there.hold('episode', bound(20, 20), leaving.signal)
  leaving.abort(new Error('the agent is gone'))
  await expect(fourth).rejects.toThrow('the agent is gone')
})

it('counts what was under way when a process was killed at the most that it may have taken', async () => {
  const folder = temporaryFolder()
  const caps = { max_tokens_per_step: 100 }
  const killed = purseIn(folder, caps)
  killed.spend('model', use(10, 0), null)
  await killed.hold('episode', bound(30, 20), SIGNAL)
  const next = purseIn(folder, caps, { silentMs: 50 })
  await next.settle()
  expect(next.spent).toMatchObject({ episode: { calls: 1, inputTokens: 30, outputTokens: 20 }, model: { inputTokens: 10 } })
  next.spend('episode', use(20, 20), await next.hold('episode', bound(20, 20), SIGNAL))
  // The one that was killed counts as there, until it was silent for long enough.
  await expect(next.hold('episode', bound(1, 0), SIGNAL)).rejects.toThrow('the step has used 100 tokens, its next call may take 1 tokens')
})

it('a call that does not fit into what is left of the day is refused alone: smaller ones and other steps go on', async () => {
  const folder = temporaryFolder()
  const caps = { max_tokens_per_day: 100 }
  const purse = purseIn(folder, caps)
  purse.spend('episode', use(60, 0), await purse.hold('episode', bound(60, 0), SIGNAL))
  const words = 'the scenario has used today 60 tokens, its next call may take 50 tokens (30 of its question, 20 of its answer)'
  await expect(purse.hold('episode', bound(30, 20), SIGNAL)).rejects.toThrow(words)
  purse.spend('episode', use(10, 0), await purse.hold('episode', bound(10, 0), SIGNAL))
  const next = purseIn(folder, caps, { step: 2 })
  await next.settle()
  expect(next.reached).toBeNull()
  next.spend('episode', use(30, 0), await next.hold('episode', bound(20, 10), SIGNAL))
  await next.settle()
  expect(next.reachedToday).toBe('the scenario has used today 100 tokens, and its cap is 100 (evolution.max_tokens_per_day)')
})

it('a step whose call did not fit into the day does not begin again on it, until the cap is raised', async () => {
  const folder = temporaryFolder()
  const purse = purseIn(folder, { max_tokens_per_day: 100 })
  purse.spend('episode', use(60, 0), null)
  await expect(purse.hold('episode', bound(30, 20), SIGNAL)).rejects.toThrow('raise evolution.max_tokens_per_day')
  for (const [step, cap, reached] of [
    [1, 100, expect.stringContaining('its next call may take 50 tokens')],
    [1, 200, null],
    [2, 100, null],
  ] as const) {
    const next = purseIn(folder, { max_tokens_per_day: cap }, { step })
    await next.settle()
    expect(next.reachedToday).toEqual(reached)
  }
})

it('a call that fits into no day is refused, and nothing waits for the next day', async () => {
  const folder = temporaryFolder()
  const purse = purseIn(folder, { max_tokens_per_day: 100 })
  await expect(purse.hold('episode', bound(100, 20), SIGNAL)).rejects.toThrow('raise evolution.max_tokens_per_day')
  await purse.settle()
  expect([purse.reachedToday, purse.reached]).toEqual([null, expect.stringContaining('its next call may take 120 tokens')])
})

it('does not hold, wait or write anything where there is no cap', async () => {
  const folder = temporaryFolder()
  expect(await purseIn(folder, {}).hold('episode', bound(1e9, 1e9), SIGNAL)).toBeNull()
  expect(await new FolderDocuments(folder).list('')).toEqual([])
})

const asked = (request: object, dialect = dialects.chat) => {
  const body = Buffer.from(JSON.stringify(request))
  return { dialect, model: 'm', body, bytes: body.length }
}

it.each([
  ['chat', dialects.chat, { max_tokens: 7 }, 7],
  ['chat, by its other name', dialects.chat, { max_completion_tokens: 7 }, 7],
  ['chat, of several answers', dialects.chat, { max_tokens: 7, n: 3 }, 21],
  ['chat, beside a count that is none', dialects.chat, { max_tokens: 7, n: 3, generationConfig: { candidateCount: 'x' } }, 21],
  ['chat, with two limits, of which the larger may hold', dialects.chat, { max_tokens: 7, max_completion_tokens: 90 }, 90],
  [
    'chat, with two limits and one that is not set',
    dialects.chat,
    { max_tokens: 90, max_completion_tokens: 7, max_output_tokens: null },
    90,
  ],
  ['responses', dialects.responses, { max_output_tokens: 7 }, 7],
  ['messages', dialects.messages, { max_tokens: 7 }, 7],
  ['gemini', dialects.gemini, { generationConfig: { maxOutputTokens: 7, candidateCount: 2 } }, 14],
  ['gemini, in two spellings', dialects.gemini, { generationConfig: { maxOutputTokens: 7, max_output_tokens: 9 } }, 9],
  [
    'gemini, in two settings',
    dialects.gemini,
    { generationConfig: { maxOutputTokens: 7 }, generation_config: { max_output_tokens: 9, candidate_count: 2 } },
    18,
  ],
])('the bound of an answer is read from a request of %s', (_title, dialect, request, output) => {
  expect(new EpisodeBounds().of(asked(request, dialect))).toMatchObject({ output, isBounded: true })
})

it.each([[{}], [{ max_tokens: null }], [{ max_tokens: -1 }], [{ max_tokens: 'many' }], [{ max_tokens: 7, max_completion_tokens: -1 }]])(
  'an answer without a bound (%j) counts as long as one may be that nothing is known of',
  (request) => {
    expect(new EpisodeBounds().of(asked(request))).toMatchObject({ output: OUTPUT_UNBOUNDED, isBounded: false })
  },
)

it('an answer without a bound counts as long as the longest so far, where that was longer', async () => {
  const purse = purseIn(temporaryFolder(), { max_tokens_per_step: 200_000 })
  const unbounded = { input: 1, output: OUTPUT_UNBOUNDED, isBounded: false, model: 'm' }
  const first = await purse.hold('episode', unbounded, SIGNAL)
  purse.spend('episode', use(1, 50_000), first)
  expect(await purse.hold('episode', unbounded, SIGNAL)).toMatchObject({ bound: { output: 50_000 } })
})

it('a question that goes on counts what the one before took, and what was added', () => {
  const bounds = new EpisodeBounds()
  const first = asked({ messages: ['x'.repeat(1000)] })
  expect(bounds.of(first).input).toBe(first.bytes)
  bounds.counted(first.body, 250)
  const second = asked({ messages: ['x'.repeat(1000), 'y'.repeat(10)] })
  expect(bounds.of(second).input).toBe(250 + second.bytes - first.bytes + 2)
  // Another question altogether.
  const other = asked({ prompt: 'z'.repeat(1500) })
  expect(bounds.of(other).input).toBe(other.bytes)
})

it.each([
  ['says less', '{"usage":{"prompt_tokens":1,"completion_tokens":1}}', 'whole', { input: 1, output: 1 }],
  ['says more', '{"usage":{"prompt_tokens":900,"completion_tokens":800}}', 'whole', { input: 900, output: 800 }],
  ['says nothing', '{"text":"hello"}', 'whole', { input: 100, output: 16 }],
  ['says nothing of a long answer', `"${'x'.repeat(300)}"`, 'whole', { input: 100, output: 50 }],
  ['breaks off', '{"usage":{"prompt_tokens":9,"completion_tokens":1}}', 'broken', { input: 9, output: 50 }],
  ['is left before it answers', '', 'broken', { input: 100, output: 50 }],
] as const)('a provider that %s counts as it says, else as what was held', (_title, answer, end, counts) => {
  const counter = new TokenCounter()
  counter.ask(100)
  counter.read(Buffer.from(answer))
  expect(usedWithin(bound(100, 50), counter, end)).toMatchObject(counts)
})

it('a provider that says more than it could ends the step with the next call', async () => {
  const purse = purseIn(temporaryFolder(), { max_tokens_per_step: 1000 })
  const held: HeldCall | null = await purse.hold('episode', bound(100, 50), SIGNAL)
  purse.spend('episode', use(900, 800), held)
  await expect(purse.hold('episode', bound(1, 1), SIGNAL)).rejects.toThrow('the step has used 1700 tokens')
})
