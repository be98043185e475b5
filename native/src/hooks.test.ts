/** Code of the tree that decides: hooks, and a loop in place of the graph. */
import { describe, expect, it } from 'vitest'
import { add, entry, model, play, results } from './testing/native.ts'
import { json } from '../../agent/src/testing/upstream.ts'

const hook = (event: string, code: string, name = event) => entry('native_hook', { name, event, code })
const loop = (body: string, more: object = {}) =>
  entry('native_loop', { name: 'round', code: `export async function runTurn(ctx: any) { ${body} }`, ...more })

describe('hooks', () => {
  it('decide one over the other, in the order of their names, and one that throws is passed over', async () => {
    const first = hook(
      'pre_execute',
      'export async function decide(event: { args: object }, next: () => Promise<{ args?: object }>) { const below = await next(); return { ...below, args: { ...below.args, a: 10 } } }',
      'a',
    )
    const second = hook('pre_execute', "export const decide = () => { throw new Error('broken') }", 'b')
    const third = hook('pre_execute', "export const decide = () => ({ action: 'allow', args: { a: 1, b: 1 } })", 'c')
    const end = await play([add, first, second, third], await model({ add: { a: 5, b: 5 } }, 'ok'))
    expect(results(end)).toEqual(['11'])
    expect(end.events.find(({ type }) => type === 'hook/error')?.data).toMatchObject({ error: { hook: 'b', problem: 'broken' } })
  })

  it.each([
    ['deny a call', hook('pre_execute', "export const decide = () => ({ action: 'deny', reason: 'no sums' })"), ['HOOK_DENIED: no sums']],
    [
      'block a result',
      hook('post_execute', "export const decide = () => ({ action: 'block' })"),
      ['HOOK_BLOCKED: a hook keeps the result back'],
    ],
    [
      'change a result',
      hook('post_execute', "export const decide = (e: { content: string }) => ({ action: 'accept', content: e.content + '!' })"),
      ['2!'],
    ],
    ['say nothing', hook('post_execute', 'export const decide = (): null => null'), ['2']],
  ])('may %s', async (_, one, expected) => {
    const end = await play([add, one], await model({ add: { a: 1, b: 1 } }, 'ok'))
    expect([results(end), end.reason]).toEqual([expected, 'completed'])
  })

  it('may add to a step, reject it, and have a model asked again that would not be', async () => {
    const adding = await play(
      [hook('pre_step', "export const decide = () => ({ action: 'enter', messages: ['Mind the time.'] })")],
      await model('ok'),
    )
    expect(adding.asked.at(-1)?.content).toBe('Mind the time.')
    const rejecting = await play(
      [hook('pre_step', "export const decide = () => ({ action: 'reject', reason: 'closed' })")],
      await model('ok'),
    )
    expect(rejecting).toMatchObject({ reason: 'rejected', message: 'a hook rejected step 1: closed' })
    const again = await play(
      [hook('request_error', "export const decide = () => ({ action: 'retry' })")],
      await model((r) => json(r, 400, {}), 'ok'),
    )
    expect(again.text).toBe('ok')
  })
})

describe('a loop of the tree', () => {
  it('asks the model, makes its calls and ends the turn as it likes', async () => {
    const body =
      "const { calls } = await ctx.model(); await ctx.log({ calls: calls.length }); const [sum] = await ctx.runTools(); await ctx.say('So?' + sum); await ctx.model(); await ctx.end('gave_up')"
    const end = await play([add, loop(body)], await model({ add: { a: 2, b: 2 } }, 'four'))
    expect(end).toMatchObject({ reason: 'gave_up', text: 'four' })
    expect(end.asked.at(-1)?.content).toBe('So?4')
    expect(end.events.find(({ type }) => type === 'loop/log')?.data).toEqual({ calls: 1 })
  })

  it.each(
    [
      ['throws', "throw new Error('lost')", 'the loop round failed: lost'],
      ['ends its process', 'process.exit(3)', 'ended with status 3'],
    ].slice(0, 2),
  )('that %s ends the turn with LOOP_ERROR', async (_, body, words) => {
    const end = await play([loop(body)], await model('x'))
    expect(end).toMatchObject({ code: 'LOOP_ERROR', message: expect.stringContaining(words) })
  })

  it('may not take more steps than it has', async () => {
    const end = await play([loop('for (;;) await ctx.model()', { max_steps: 2 })], await model('x'))
    expect([end.reason, end.questions]).toEqual(['max-steps', 2])
  })
})
