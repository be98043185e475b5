/** Tasks that judge a change: who sees them, when they are played, and what they protect. */
import { describe, expect, it } from 'vitest'
import type { Evaluator, Mutation } from '../contract/index.ts'
import { ALWAYS, GATE, metric, proposalFor, REQUEST, SAMPLE, stepOf, taskNamed, testBench, WORSE } from './testing/bench.ts'

describe('held-out tasks', () => {
  const exposing = { ...SAMPLE, exchanges: [{ messages: [{ role: 'user', content: `please: ${GATE[0]?.prompt}` }] }] }

  it('are not shown to the proposer', async () => {
    const seen: string[][] = []
    await stepOf({
      tasks: [...GATE, taskNamed('mine', { role: 'train' })],
      propose: ({ tasks }) => {
        seen.push(tasks.map(({ name }) => name))
        return null
      },
    })
    expect(seen).toEqual([['mine']])
  })

  it('that are sealed are neither shown nor played, for traffic and for requests', async () => {
    const seen: string[] = []
    const bench = await testBench({
      tasks: [...GATE, taskNamed('sealed', { role: 'sealed' })],
      propose: ({ tasks }) => (seen.push(...tasks.map(({ name }) => name)), { mutations: [WORSE] }),
    })
    expect(await bench.step()).toMatchObject({ kind: 'reject', metrics: { evaluation_task_count: 3 } })
    expect(await bench.step({ request: REQUEST })).toMatchObject({ metrics: { evaluation_task_count: 3 } })
    expect(bench.played.filter((name) => name.includes('sealed'))).toEqual([])
    expect(seen).toEqual([])
  })

  it('stay in play when a batch holds their text: the sample is kept from the proposer', async () => {
    const shown: number[] = []
    const bench = await testBench({ propose: ({ samples }) => (shown.push(samples.length), { mutations: [WORSE] }) })
    const result = await bench.step({ samples: [SAMPLE, exposing] })
    expect(result).toMatchObject({ metrics: { evaluation_task_count: 3, withheld_samples: 1 } })
    expect(metric(result, 'not_run_tasks')).toBeUndefined()
    expect(metric(await bench.step(), 'evaluation_task_count')).toBe(3)
    expect(shown).toEqual([1, 1])
  })

  it('that nothing else was said about leave nothing to learn from', async () => {
    expect(await stepOf({}, { samples: [exposing] })).toMatchObject({ kind: 'skip', reason: expect.stringContaining('none may be shown') })
  })

  it('that an earlier version showed to a proposer are not played for traffic, and guard requests', async () => {
    const tools = { state: { exposed: ['one', 'gone'] }, propose: () => ({ mutations: [WORSE] }) }
    const traffic = await stepOf(tools)
    expect(traffic).toMatchObject({ metrics: { evaluation_task_count: 2, not_run_tasks: 1 }, state: { exposed: ['one'] } })
    const asked = await testBench({ ...tools, state: { exposed: ['one', 'two', 'three'] } })
    expect(await asked.step({ request: REQUEST })).toMatchObject({ kind: 'reject', metrics: { evaluation_task_count: 3 } })
    expect(asked.played).toHaveLength(6)
    expect(await asked.step()).toMatchObject({ kind: 'skip', reason: expect.stringContaining('have seen every task') })
  })

  it('cannot be written down in what is measured by them', async () => {
    const text = `Magic. To ${GATE[1]?.prompt} say 7.`
    const copied: Mutation = { op: 'create', id: 'key', options: { name: 'rules', config: { text } } }
    const bench = await testBench({ propose: () => ({ mutations: [copied] }) })
    expect(await bench.step()).toMatchObject({ kind: 'skip', reason: expect.stringContaining('held-out task') })
    expect(bench.played).toEqual([])
    await bench.inbox.offer(proposalFor(copied), 'head')
    expect(await bench.step()).toMatchObject({ kind: 'skip' })
    expect(await bench.step({ request: REQUEST })).not.toMatchObject({ kind: 'skip' })
  })

  it('quoted in a request are held for review, since people may quote', async () => {
    const text = `Say magic. To ${GATE[1]?.prompt} say 7.`
    const copied: Mutation = { op: 'create', id: 'key', options: { name: 'rules', config: { text } } }
    const result = await stepOf({ propose: () => ({ mutations: [copied] }) }, { request: REQUEST })
    expect(result).toMatchObject({
      kind: 'hold',
      metrics: { held_because: expect.stringContaining('it holds the text of a held-out task') },
    })
  })

  it('are all that protects a request: without any that was played it is held [trust.unprotected]', async () => {
    const held = { kind: 'hold', metrics: { held_because: expect.stringContaining('no task could show that it harms nothing') } }
    expect(await stepOf({ tasks: [], selection: ALWAYS }, { request: REQUEST })).toMatchObject(held)
    const [train] = [taskNamed('mine', { role: 'train' })]
    expect(await stepOf({ tasks: [train], selection: ALWAYS }, { request: REQUEST })).toMatchObject(held)
    expect(await stepOf({ selection: { next: () => [], ...ALWAYS } }, { request: REQUEST })).toMatchObject(held)
    const health = taskNamed('well', { role: 'health' })
    expect(await stepOf({ tasks: [health], selection: ALWAYS }, { request: REQUEST })).toMatchObject(held)
    expect(await stepOf({ selection: ALWAYS }, { request: REQUEST })).toMatchObject({ kind: 'publish' })
  })

  it('hold a request where none of them could be compared, and say what the evaluator said [trust.unprotected]', async () => {
    const silent: Evaluator = { score: () => Promise.reject(new Error('pytest is missing')) }
    const held = await stepOf({ evaluator: silent }, { request: REQUEST })
    const held_because = expect.stringMatching(/^no task could show that it harms nothing: .* in any of 3 pairs .*pytest is missing/)
    expect(held).toMatchObject({ kind: 'hold', metrics: { held_because, episode_failures: 6 } })
    expect(held.state).toMatchObject({ rejected: [] })
  })

  it('hold no request that fails a health task, whatever else could not be compared', async () => {
    const tasks = [...GATE, taskNamed('well', { role: 'health' })]
    const evaluator: Evaluator = { score: async ({ role }) => (role === 'health' ? 0 : null) }
    expect(await stepOf({ tasks, evaluator, selection: ALWAYS }, { request: REQUEST })).toMatchObject({ kind: 'reject' })
  })
})
