import { expect, it } from 'vitest'
import { ModelBudget } from './budget.ts'

const LIMITS = { calls: 3, tokens: 1000, cost: 0, inputPrice: 0, outputPrice: 0 }
const answer = (usage: object): Buffer => Buffer.from(JSON.stringify({ choices: [], usage }))

function paid(budget: ModelBudget, bytes: number, output: number | null = 100) {
  const call = budget.take(bytes, output)
  return typeof call === 'string' ? expect.fail(call) : call
}

it('allows as many calls as it says, whether they succeed or not', () => {
  const budget = new ModelBudget(LIMITS)
  for (let call = 0; call < 3; call += 1) paid(budget, 10).settle()
  expect(budget.take(10, 1)).toBe('3 calls')
})

it('holds for calls at once: each takes its share before it is sent', () => {
  const budget = new ModelBudget(LIMITS)
  const first = paid(budget, 400, 400)
  expect(budget.take(100, 101)).toBe('1000 tokens')
  first.read(answer({ prompt_tokens: 100, completion_tokens: 5 }))
  first.settle()
  paid(budget, 400, 400)
})

it('reads what an answer counted, whole, streamed or cut anywhere', () => {
  const budget = new ModelBudget(LIMITS)
  const call = paid(budget, 100, 100)
  const text = '{"usage":{"input_tokens": 300,"cache_read_input_tokens":200,"output_tokens":1}} … {"usage":{"output_tokens":400}}'
  for (const part of text.match(/.{1,7}/g) ?? []) call.read(Buffer.from(part))
  call.settle()
  expect(budget.take(50, 51)).toBe('1000 tokens')
  paid(budget, 50, 50)
})

it('takes no count from the words of a model', () => {
  const budget = new ModelBudget(LIMITS)
  const call = paid(budget, 40, 100)
  call.read(
    Buffer.from(JSON.stringify({ text: '"output_tokens": 0, "input_tokens": 900', usage: { input_tokens: 10, output_tokens: 10 } })),
  )
  call.settle()
  paid(budget, 500, 480)
})

it('estimates an answer that counts nothing, by its length', () => {
  const budget = new ModelBudget(LIMITS)
  const call = paid(budget, 400, 400)
  call.read(Buffer.alloc(2000, 120))
  call.settle()
  expect(budget.take(200, 201)).toBe('1000 tokens')
})

it('counts an answer without a limit as a long one, until it is known', () => {
  expect(new ModelBudget(LIMITS).take(1, null)).toBe('1000 tokens')
})

it('bounds money by the prices', () => {
  const budget = new ModelBudget({ ...LIMITS, tokens: 1e9, cost: 2, inputPrice: 1, outputPrice: 10 })
  const call = paid(budget, 500_000, 100_000)
  expect(budget.take(500_001, 1)).toBe('2 of money')
  call.read(answer({ prompt_tokens: 1_000_000, completion_tokens: 90_000 }))
  call.settle()
  expect(budget.take(100_001, 0)).toBe('2 of money')
  paid(budget, 100_000, 0)
})
