/** Changes in a row: what they lose together, measured against what was served before the first of them. */
import { describe, expect, it } from 'vitest'
import { POWERS } from '../contract/index.ts'
import type { Evaluator, Executor, Files, Mutation, Pair, Question, Selection, StepResult, Task, TrainRequest } from '../contract/index.ts'
import { ALWAYS, episodeOf, GATE, metric, REQUEST, testBench, type Tools } from './testing/bench.ts'

/** Every line "Harm." costs 0.06 of a point, and every line "Help." gains as much. */
const countsLines: Executor['run'] = async (play) => {
  const rules = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })['agent/RULES.md'] ?? ''
  return episodeOf(rules)
}
const lines = (text: string, word: string): number => text.split(word).length - 1
const byLines: Evaluator = { score: async (_task, { stdout }) => 0.5 + 0.06 * (lines(stdout, 'Help.') - lines(stdout, 'Harm.')) }

const MARGIN = 0.1
/** At most the margin worse in the mean, for requests; for traffic, better. */
const selectionOf = (asked: Question[] = []): Selection => ({
  boundsSum: true,
  decide(pairs, question) {
    asked.push(question)
    const mean = pairs.reduce((sum, { candidate, current }) => sum + (candidate ?? 0) - (current ?? 0), 0) / pairs.length
    const selected = question.kind === 'request' ? mean > -MARGIN : mean > 0
    return { selected, reason: `at most ${MARGIN} worse`, metrics: { evidence: { mean_difference: Number(mean.toFixed(2)) } } }
  },
})

const adds = (id: string, text: string): Mutation => ({ op: 'create', id, options: { name: 'rules', config: { text } } })
const rewrites = (id: string, text: string): Mutation => ({ op: 'update', id, options: { name: 'rules', config: { text } } })

/** A bench that is asked for these changes in turn. */
async function asking(changes: readonly (readonly Mutation[])[], tools: Tools = {}) {
  const asked: Question[] = []
  const waiting = [...changes]
  const propose = () => ({ mutations: waiting.shift() ?? [] })
  const settings = { publish_powers: [...POWERS], ...tools.settings }
  const bench = await testBench({ run: countsLines, evaluator: byLines, selection: selectionOf(asked), propose, ...tools, settings })
  let requests = 0
  const request = async (served?: Files): Promise<StepResult> => {
    requests += 1
    const one: TrainRequest = { ...REQUEST, id: `request-${requests}` }
    return bench.step({ request: one, samples: [], ...(served !== undefined && { served }) })
  }
  return { bench, asked, request }
}

const filesOf = (result: StepResult): Files => {
  if (!('content' in result) || result.content.kind !== 'files') throw new Error(`there is no content in ${result.kind}`)
  return result.content.files
}
const sidesPlayed = ({ told }: { readonly told: readonly { readonly side: string }[] }): readonly string[] => [
  ...new Set(told.map(({ side }) => side)),
]

const HARMS = [[adds('a', 'Harm.')], [adds('b', 'Harm. Be brief.')], [adds('c', 'Harm. Be kind.')]]
const HELD = { kind: 'hold', metrics: { held_because: expect.stringContaining('together with the 1 change before it') } }

describe('small harms in a row', () => {
  it('are published while they are within the margin together, then held for a person [trust.requests-together]', async () => {
    const { bench, request } = await asking(HARMS)
    expect(await request()).toMatchObject({ kind: 'publish' })
    expect(sidesPlayed(bench)).toEqual(['candidate', 'current'])
    const second = await request()
    expect(second).toMatchObject(HELD)
    expect(metric(second, 'evidence')).toEqual({ mean_difference: -0.06 })
    expect(metric(second, 'evidence_sum')).toEqual({ mean_difference: -0.12 })
    expect(bench.lines).toContain('check compares with what was served before the 1 change since')
    expect(await request()).toMatchObject(HELD)
  })

  it('cost the episodes of the baseline, and none of the candidate again', async () => {
    const { bench, request } = await asking(HARMS)
    await request()
    bench.time.ms += 3_600_000
    bench.told.length = 0
    expect(await request()).toMatchObject({ metrics: { episodes_used: 3 * GATE.length, episodes_cached: 0 } })
    const played = (side: string): number => bench.told.filter((one) => one.side === side).length
    expect([played('candidate'), played('current'), played('baseline')]).toEqual([GATE.length, GATE.length, GATE.length])
    expect(bench.lines.filter((line) => line.startsWith('phase evaluating'))).toEqual(['phase evaluating of 6', 'phase evaluating of 9'])
  })

  it('leave room for a harmless request, and for one that takes a harm back', async () => {
    const { request } = await asking([[adds('a', 'Harm.')], [adds('b', 'Be kind.')], [rewrites('a', 'Be brief.')], [adds('c', 'Harm.')]])
    for (const _ of [1, 2, 3, 4]) expect(await request()).toMatchObject({ kind: 'publish' })
  })

  it('are measured against the entries as they were, however often they were rewritten', async () => {
    const { request } = await asking([
      [rewrites('base', 'Help.'), adds('a', 'Be kind.')],
      [rewrites('base', 'Help. Help.')],
      [rewrites('base', 'Harm.'), { op: 'remove', id: 'a' }],
      [rewrites('base', 'Help. Be open.')],
    ])
    await request()
    const second = await request()
    expect(metric(second, 'evidence_sum')).toEqual({ mean_difference: 0.12 })
    expect(await request()).toMatchObject({ kind: 'reject' })
    expect(metric(await request(), 'evidence_sum')).toEqual({ mean_difference: 0.06 })
  })

  it('tell the selection how often their sum failed', async () => {
    const { asked, request } = await asking([...HARMS, [adds('d', 'Be kind.')]])
    for (const _ of [1, 2, 3, 4]) await request()
    const failed = asked.flatMap(({ sum }) => sum?.failed ?? [])
    expect([...new Set(failed)]).toEqual([0, 1, 2])
  })

  it('are held when the budget ends before their sum is known', async () => {
    const { request } = await asking(HARMS, { settings: { max_episodes_per_step: 2 * GATE.length } })
    await request()
    expect(await request()).toMatchObject({ kind: 'hold', metrics: { episodes_used: 2 * GATE.length } })
  })
})

describe('the baseline', () => {
  it('is new once a person promotes what was held', async () => {
    const { bench, request } = await asking(HARMS)
    await request()
    const held = await request()
    bench.told.length = 0
    expect(await request(filesOf(held))).toMatchObject({ kind: 'publish' })
    expect(sidesPlayed(bench)).not.toContain('baseline')
  })

  it('is new after a gain from traffic', async () => {
    const { bench, request } = await asking([[adds('a', 'Harm.')], [adds('gain', 'Help.')], [adds('b', 'Harm. Be kind.')]])
    await request()
    expect(await bench.step()).toMatchObject({ kind: 'publish' })
    expect(await request()).toMatchObject({ kind: 'publish' })
    expect(sidesPlayed(bench)).not.toContain('baseline')
  })

  it('stays when a person goes back to one of the releases since', async () => {
    const { request } = await asking([[adds('a', 'Harm.')], [adds('b', 'Be kind.')], [adds('c', 'Harm. Be open.')]])
    const first = await request()
    await request()
    expect(await request(filesOf(first))).toMatchObject({ kind: 'hold' })
  })

  it('is what is served, where an earlier row kept something else in its place', async () => {
    const { request } = await asking(HARMS, { state: { baseline: { trees: 'x' } } })
    expect(await request()).toMatchObject({ kind: 'publish' })
    expect(await request()).toMatchObject(HELD)
  })

  it('is not played for a selection that does not ask for it', async () => {
    const { bench, request } = await asking(HARMS, { selection: ALWAYS })
    for (const _ of HARMS) expect(await request()).toMatchObject({ kind: 'publish' })
    expect(sidesPlayed(bench)).not.toContain('baseline')
  })

  it('is not played for a change that waits for a person anyway', async () => {
    const { bench, request } = await asking(HARMS, { settings: { publish: 'review' } })
    const first = await request()
    await request(filesOf(first))
    expect(sidesPlayed(bench)).not.toContain('baseline')
  })
})

const meanOf = (pairs: readonly Pair[], role: Task['role']): number => {
  const some = pairs.filter(({ task }) => task.role === role)
  return some.reduce((sum, { candidate, current }) => sum + (candidate ?? 0) - (current ?? 0), 0) / some.length
}

describe('small losses of gains on tasks of role regression', () => {
  const PROTECTED: readonly Task[] = [...GATE, { ...GATE[0], name: 'kept', prompt: 'kept', role: 'regression' }]
  /** A line "Trade." gains on the gate, and costs 0.06 of a point on the protected task. */
  const trading: Evaluator = {
    score: async ({ role }, { stdout }) =>
      0.5 + (role === 'regression' ? -0.06 : 0.1) * lines(stdout, 'Trade.') - 0.06 * lines(stdout, 'Harm.'),
  }
  const selection: Selection = {
    boundsSum: true,
    decide(pairs, { kind }) {
      const isHarmless = meanOf(pairs, 'regression') > -MARGIN
      return { selected: isHarmless && (kind === 'request' || meanOf(pairs, 'gate') > 0), reason: `at most ${MARGIN} worse` }
    },
  }
  const TRADES = [[adds('a', 'Trade.')], [adds('b', 'Trade. Be brief.')], [adds('c', 'Trade. Be kind.')]]
  const tools = { evaluator: trading, selection, tasks: PROTECTED }

  it('are published while they are within the margin together, then held for a person [trust.gains-together]', async () => {
    const { bench } = await asking(TRADES, tools)
    expect(await bench.step()).toMatchObject({ kind: 'publish' })
    expect(sidesPlayed(bench)).not.toContain('baseline')
    const held = 'it was shown to help, but together with the 1 change before it it was not shown to be'
    expect(await bench.step()).toMatchObject({ kind: 'hold', metrics: { held_because: expect.stringContaining(held) } })
  })

  it('count together with those of requests', async () => {
    const { bench, request } = await asking([[adds('a', 'Trade.')], [adds('b', 'Harm.')]], tools)
    expect(await bench.step()).toMatchObject({ kind: 'publish' })
    expect(await request()).toMatchObject(HELD)
  })

  it('are forgotten once a person promotes what was held', async () => {
    const { bench } = await asking(TRADES, tools)
    await bench.step()
    const held = await bench.step()
    bench.told.length = 0
    expect(await bench.step({ served: filesOf(held) })).toMatchObject({ kind: 'publish' })
    expect(sidesPlayed(bench)).not.toContain('baseline')
  })
})

it('a candidate that was played long before its baseline is played again beside it', async () => {
  let candidates = 0
  const { bench, request } = await asking([[adds('a', 'Be kind.')], [adds('slow', 'Be open.')]], {
    run: async (play, signal) => {
      const episode = await countsLines(play, signal)
      if (episode.stdout.includes('Be open.')) candidates += 1
      bench.time.ms += 1_000_000
      return episode
    },
  })
  await request()
  expect(await request()).toMatchObject({ kind: 'publish' })
  expect(candidates).toBeGreaterThan(GATE.length)
})
