/** What the gate was already asked: renamed copies, candidates that come back, and budgets that ended. */
import { describe, expect, it } from 'vitest'
import type { Decision, Mutation, Question, Selection } from '../contract/index.ts'
import { metric, REQUEST, taskNamed, testBench, type Tools } from './testing/bench.ts'

const rule = (id: string, text: string): Mutation => ({ op: 'create', id, options: { name: 'rules', config: { text } } })
const named = (name: string, id = name): Mutation => ({ op: 'create', id, options: { name: 'agent_command', config: { name, text: 'x' } } })
const REJECTED = 'it was rejected before, and neither the served tree nor the tasks have changed since'

/** Draws every task once for each step, and remembers what it was asked. */
function drawing(decide: (question: Question) => Partial<Decision> = () => ({})) {
  const asked: Question[] = []
  const selection: Selection = {
    next(question) {
      const rounds = asked.filter(({ seed }) => seed === question.seed).length + 1
      return question.pairs.length >= rounds * question.tasks.length
        ? []
        : question.tasks.map(({ name }) => ({ task: name, repeat: Math.floor(question.pairs.length / question.tasks.length) }))
    },
    decide(pairs, question) {
      asked.push({ ...question, pairs: [...pairs] })
      return { selected: false, reason: 'x', ...decide(question) }
    },
  }
  return { asked, selection }
}

/** Offers one after the other. */
const offering = (...offers: readonly (readonly Mutation[])[]): NonNullable<Tools['propose']> => {
  let asked = 0
  return () => ({ mutations: offers[(asked += 1) - 1] ?? [] })
}

describe('a candidate whose rendered tree was rejected', () => {
  it('is not decided again under another id, and does not count', async () => {
    const { asked, selection } = drawing()
    const copies = Array.from({ length: 5 }, (_, n) => [rule(`copy-${n}`, 'Be kind.')])
    const bench = await testBench({ selection, propose: offering(...copies, [rule('other', 'Be brave.')]) })
    await bench.step()
    for (let copy = 1; copy < 5; copy += 1) expect(await bench.step()).toMatchObject({ kind: 'skip', reason: `refused: ${REJECTED}` })
    await bench.step()
    expect(asked.map(({ history }) => history.decided)).toEqual([0, 1])
  })

  it('is not decided again in another order that the agent does not see', async () => {
    const { asked, selection } = drawing()
    const bench = await testBench({ selection, propose: offering([named('a'), named('b')], [named('b'), named('a', 'c')]) })
    await bench.step()
    expect(await bench.step()).toMatchObject({ kind: 'skip' })
    expect(asked).toHaveLength(1)
  })

  it('is decided again with another grader or other tasks, and where a person asks', async () => {
    const { asked, selection } = drawing()
    const propose = offering([rule('a', 'x')])
    const first = await testBench({ selection, propose })
    const { state = {} } = await first.step()
    const changed = taskNamed('one', { data: { answer: 'another' } })
    for (const more of [{ tasks: [changed] }, { settings: { evaluator_module: 'another' } }, {}])
      await (await testBench({ selection, propose: offering([rule('a', 'x')]), state, ...more })).step()
    expect(asked).toHaveLength(3)
    await (await testBench({ selection, propose: offering([rule('a', 'x')]), state })).step({ request: REQUEST })
    expect(asked).toHaveLength(4)
  })

  it('is remembered longer than proposers are shown it', async () => {
    const { selection } = drawing()
    const others = Array.from({ length: 6 }, (_, n) => [rule('a', `Rule ${n}.`)])
    const bench = await testBench({ selection, settings: { max_rejected_history: 1 }, propose: offering(...others, others[0] ?? []) })
    for (let step = 0; step < 6; step += 1) expect(await bench.step()).toMatchObject({ kind: 'reject' })
    expect(await bench.step()).toMatchObject({ kind: 'skip', reason: `refused: ${REJECTED}` })
  })
})

const renaming = (): { readonly mutations: readonly Mutation[] } => ({
  mutations: [
    { op: 'remove', id: 'base' },
    { op: 'create', id: 'renamed', options: { name: 'rules', config: { text: 'Be brief.' } } },
  ],
})

it('a change that renders like the served tree is none, and a person may ask for it', async () => {
  const bench = await testBench({ propose: renaming, selection: drawing(() => ({ selected: true })).selection })
  expect(await bench.step()).toMatchObject({ kind: 'skip', reason: 'refused: nothing would change' })
  expect((await bench.step({ request: REQUEST })).kind).not.toBe('skip')
})

const isOpen = (): Partial<Decision> => ({ isOpen: true })

describe('a candidate for which the budget was too small', () => {
  it('goes on with its own pairs at its own level when it comes back, under any id, and counts once', async () => {
    const { asked, selection } = drawing(isOpen)
    const offers = [[rule('a', 'Be kind.')], [rule('b', 'Be brave.')], [rule('c', 'Be kind.')]]
    const bench = await testBench({ selection, propose: offering(...offers) })
    await bench.step()
    expect(await bench.step()).toMatchObject({ metrics: { episodes_used: expect.any(Number) } })
    const back = await bench.step()
    expect(asked.map(({ history, pairs }) => [history.decided, pairs.length])).toEqual([
      [0, 3],
      [1, 3],
      [0, 6],
    ])
    expect([asked[2]?.seed, metric(back, 'pairs_resumed')]).toEqual([asked[0]?.seed, 3])
    expect(asked[2]?.pairs.map(({ task, repeat }) => `${task.name} ${repeat}`)).toEqual([
      'one 0',
      'two 0',
      'three 0',
      'one 1',
      'two 1',
      'three 1',
    ])
    expect(back.state).toMatchObject({ decided: 2, selected: 0 })
  })

  it('is published at its own level, and then counts as published', async () => {
    const { selection } = drawing(({ pairs }) => (pairs.length > 3 ? { selected: true } : { isOpen: true }))
    const offer = [rule('a', 'Be kind.')]
    const bench = await testBench({ selection, propose: offering(offer, offer) })
    await bench.step()
    expect(await bench.step()).toMatchObject({ kind: 'publish', state: { decided: 1, selected: 1, cases: [] } })
  })

  it('is closed by a decision that the budget does not explain', async () => {
    const { selection } = drawing(({ pairs }) => ({ isOpen: pairs.length <= 3 }))
    const offer = [rule('a', 'Be kind.')]
    const bench = await testBench({ selection, propose: offering(offer, offer, offer) })
    expect([(await bench.step()).kind, (await bench.step()).kind, (await bench.step()).kind]).toEqual(['reject', 'reject', 'skip'])
  })

  it('leaves no more in a row than it may hold: the oldest begin anew', async () => {
    const tasks = Array.from({ length: 100 }, (_, n) => taskNamed(`a-task-with-a-long-name-${'x'.repeat(160)}-${n}`))
    const offers = Array.from({ length: 8 }, (_, n) => [rule('a', `Rule ${n}.`)])
    const bench = await testBench({ selection: drawing(isOpen).selection, tasks, propose: offering(...offers, offers[0] ?? []) })
    let state = {}
    for (let step = 0; step < 8; step += 1) state = (await bench.step()).state ?? {}
    expect(Buffer.byteLength(JSON.stringify(Object(state)['cases']))).toBeLessThan(140_000)
    expect(metric(await bench.step(), 'pairs_resumed')).toBeUndefined()
  })

  it('goes on in the families that it was drawn from, whatever was learnt since', async () => {
    const { asked, selection } = drawing(isOpen)
    const offers = [[rule('a', 'Be kind.')], [rule('a', 'Be kind.')], [rule('b', 'Be brave.')]]
    const propose = offering(...offers)
    const first = await testBench({ selection, propose })
    const { state = {} } = await first.step()
    const rows = Array.from({ length: 30 }, (_, n) => {
      const [one, two] = [100 * (n % 2), 100 * (Math.floor(n / 2) % 2)]
      return { tree: `tree-${n}`, candidate: [one, one, two], current: [50, 50, 50] }
    })
    const second = await testBench({ selection, propose, state: { ...state, moves: { tasks: ['one', 'two', 'three'], rows } } })
    for (let step = 0; step < 2; step += 1) await second.step()
    const families = asked.map(({ tasks }) => tasks.map(({ family }) => family))
    expect(families).toEqual([[], [], ['like one', 'like one']].map(([one, two]) => [one, two, undefined]))
    expect(asked[1]?.pairs).toHaveLength(6)
  })

  it('with known scores of another step has them played again before it is published', async () => {
    const { selection } = drawing(({ pairs, seed }) => (seed.includes(':2:') && pairs.length > 12 ? { selected: true } : { isOpen: true }))
    const offers = [[rule('a', 'Be brave.')], [rule('b', 'Be kind.')], [rule('b', 'Be kind.')]]
    const tasks = Array.from({ length: 12 }, (_, n) => taskNamed(`task-${n}`))
    const bench = await testBench({ selection, tasks, evaluator: { score: async () => 1 }, propose: offering(...offers) })
    for (let step = 0; step < 2; step += 1) await bench.step()
    expect(await bench.step()).toMatchObject({ kind: 'publish', metrics: { pairs_resumed: 12, episodes_rechecked: expect.any(Number) } })
  })

  it('survives a state of an earlier version, or one that is damaged', async () => {
    for (const cases of [undefined, null, 'x', [{}], [{ tree: 1, against: 2 }]]) {
      const bench = await testBench({ state: { cases: cases ?? null } })
      expect(await bench.step()).toMatchObject({ kind: 'publish' })
    }
  })
})
