/** Steps from a proposal to the row: every way a step can end. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import native from '../../plugins/adapters/native/index.ts'
import { isObject, POWERS, type Json, type JsonObject, type Mutation, type Question, type Selection } from '../contract/index.ts'
import type { EvolutionContext } from './run.ts'
import { ALWAYS, GATE, metric, REQUEST, RULE, stepOf, taskNamed, testBench, WORSE } from './testing/bench.ts'

const candidateAlone: Selection['next'] = ({ pairs }) =>
  pairs.length === 0 ? GATE.map(({ name }) => ({ task: name, repeat: 0, sides: ['candidate'] })) : []

const recorded = (task: number) => ({
  candidate_episode: `scenario/1/episodes/candidate-${task}`,
  current_episode: `scenario/1/episodes/current-${task}`,
})

describe('a step', () => {
  it('publishes a better change, with all fields of its row', async () => {
    const bench = await testBench()
    const result = await bench.step()
    expect(result).toMatchObject({
      kind: 'publish',
      metrics: {
        steps: 1,
        traces: 1,
        mutation: RULE,
        candidate_score: 3,
        current_score: 0,
        candidate_mean_score: 1,
        current_mean_score: 0,
        task_scores: ['one', 'two', 'three'].map((task) => ({ task, pairs: 1, candidate: 1, current: 0 })),
        evaluation_task_count: 3,
        episode_failures: 0,
        episodes_used: 6,
        evaluation_context: { model: 'm', adapter: 'plain', adapter_version: '1.0.0' },
        selected: true,
        selection: { policy: 'test', outcome: 'select', reason: 'a margin of 3' },
        margin: 3,
        step_record: 'scenario/1',
        proposer_calls: 0,
      },
    })
    expect(bench.lines).toEqual(expect.arrayContaining(['phase proposing', 'phase evaluating of 6', 'check admitted: create hint']))
  })

  it('reports means over the pairs that both sides played, with 0 for an episode that failed, and where both can be read', async () => {
    const draws = [
      { task: 'healthy', repeat: 0, sides: ['candidate'] as const },
      { task: 'one', repeat: 0 },
      { task: 'one', repeat: 1 },
      { task: 'two', repeat: 0 },
      { task: 'three', repeat: 0 },
    ]
    const { metrics } = await stepOf({
      tasks: [...GATE, taskNamed('healthy', { role: 'health' })],
      evaluator: { score: async ({ name }, { stdout }) => (name === 'two' ? null : name === 'three' || stdout === 'magic' ? 1 : 0) },
      selection: { ...ALWAYS, next: ({ pairs }) => (pairs.length === 0 ? draws : []) },
    })
    expect(metrics).toMatchObject({ candidate_score: 4, current_score: 1, candidate_mean_score: 0.75, current_mean_score: 0.25 })
    expect(metrics?.['task_scores']).toEqual([
      { task: 'healthy', pairs: 1, candidate: 1, candidate_episode: 'scenario/1/episodes/candidate-3' },
      { task: 'one', pairs: 2, candidate: 1, current: 0, ...recorded(0) },
      { task: 'two', pairs: 1, candidate: 0, current: 0, ...recorded(1) },
      { task: 'three', pairs: 1, candidate: 1, current: 1, ...recorded(2) },
    ])
  })

  it('reports the mean of the candidate alone where nothing was compared', async () => {
    const { metrics = {} } = await stepOf({ selection: { ...ALWAYS, next: candidateAlone } })
    expect(metrics).toMatchObject({ candidate_mean_score: 1 })
    expect(metrics).not.toHaveProperty('current_mean_score')
  })

  it('plays the two sides of a pair by turns', async () => {
    const bench = await testBench()
    await bench.step()
    expect(bench.played.map((name) => name.split(' ')[0])).toEqual(['candidate', 'current', 'current', 'candidate', 'candidate', 'current'])
  })

  it('drops the oldest rejected changes beyond the size that a row may hold', async () => {
    const options = { name: 'rules', config: { text: 'x'.repeat(60_000) } }
    const large = Array.from({ length: 6 }, (_, n): Mutation => ({ op: 'create', id: `large-${n}`, options }))
    const bench = await testBench({ settings: { max_rejected_history: 25 }, propose: () => ({ mutations: large }) })
    for (let step = 1; step <= 4; step += 1) await bench.step()
    const { state } = await bench.step()
    expect(JSON.stringify(state).length).toBeLessThan(1_100_000)
    expect(state?.['rejected']).toMatchObject([{ step: 4 }, { step: 5 }])
  })

  it.each<[string, Partial<EvolutionContext['settings']>]>([
    ['another time limit', { episode_timeout_s: 20 }],
    ['another module that scores', { evaluator_module: './other.ts' }],
    ['another program', { binary: '/opt/agent' }],
  ])('takes no score that was made with %s', async (_what, settings) => {
    const before = await testBench()
    await before.step()
    expect(await stepOf({ settings, cacheFrom: before })).toMatchObject({ metrics: { episodes_used: 6, episodes_cached: 0 } })
    const same = await testBench({ cacheFrom: before })
    await same.step()
    expect(same.played).toEqual([])
  })

  it('takes no score that was made beside another content of another component', async () => {
    const bench = await testBench({ propose: () => ({ mutations: [WORSE] }) })
    const request = REQUEST
    await bench.step({ request, components: { harness: 'h1', weights: 'w1' } })
    expect(await bench.step({ request, components: { harness: 'h2', weights: 'w1' } })).toMatchObject({ metrics: { episodes_used: 0 } })
    expect(await bench.step({ request, components: { harness: 'h2', weights: 'w2' } })).toMatchObject({ metrics: { episodes_used: 6 } })
  })

  it('rejects what does not, and shows it to the proposer the next time', async () => {
    const seen: number[] = []
    const bench = await testBench({
      propose: ({ rejected }) => {
        seen.push(rejected.length)
        return { mutations: [{ op: 'create', id: 'worse', options: { name: 'rules', config: { text: `Say ${seen.length}.` } } }] }
      },
    })
    for (let step = 1; step <= 5; step += 1) expect(await bench.step()).toMatchObject({ kind: 'reject' })
    expect(seen).toEqual([0, 1, 2, 3, 3])
  })

  it('counts what came from traffic for the gate, and nothing that a person asked for', async () => {
    const asked: Question['history'][] = []
    const selection = {
      decide: (_: unknown, { history }: Question) => {
        asked.push(history)
        return { selected: history.decided !== 1, reason: 'x' }
      },
    }
    const bench = await testBench({
      selection,
      propose: ({ entries }) => ({ mutations: [{ ...RULE, id: `hint-${entries.length}-${asked.length}` }] }),
    })
    await bench.step()
    await bench.step()
    await bench.step({ request: REQUEST })
    await bench.step()
    // What is published is decided twice where it rests on known scores.
    expect(asked.filter((history, n) => !isDeepStrictEqual(history, asked[n - 1]))).toEqual([
      { decided: 0, selected: 0, recent: 0 },
      { decided: 1, selected: 1, recent: 1 },
      { decided: 2, selected: 1, recent: 1 },
    ])
  })

  it('that has no proposal is skipped with that reason, and keeps the notes of the proposer', async () => {
    expect(await stepOf({ propose: () => null })).toMatchObject({ kind: 'skip', reason: 'no proposal' })
    const notes = { failure: 'no usable reply' }
    expect(await stepOf({ propose: () => ({ mutations: [], notes }) })).toMatchObject({ kind: 'skip', metrics: { proposal_notes: notes } })
  })

  it.each<[string, Mutation, RegExp]>([
    ['an entry that is not there', { op: 'remove', id: 'missing' }, /there is no entry missing/],
    ['a reserved entry', { op: 'remove', id: 'svc-requests' }, /reserved for the service/],
    ['nothing', { op: 'update', id: 'base', options: {} }, /nothing would change/],
  ])('whose proposal touches %s is skipped with the rule', async (_what, mutation, reason) => {
    const result = await stepOf({ propose: () => ({ mutations: [mutation] }) })
    expect(result).toMatchObject({ kind: 'skip', reason: expect.stringMatching(reason), metrics: { mutation } })
  })

  it('keeps the memory of the proposer, whatever the outcome of its proposal', async () => {
    const bench = await testBench({
      propose: ({ memory }) => ({ mutations: [WORSE], memory: { times: Number(memory['times'] ?? 0) + 1 } }),
    })
    await bench.step()
    expect(await bench.step()).toMatchObject({ state: { memory: { times: 2 } } })
  })
})

const both = (mutation: Mutation) => ({ propose: () => ({ mutations: [RULE, mutation] }) })
const newEntry = (id: string, name: string, config: JsonObject): Mutation => ({
  op: 'create',
  id,
  options: { name, config: { name: id, ...config } },
})
const command = (text: string): Mutation => newEntry('go', 'agent_command', { text })

describe('review', () => {
  const extension = newEntry('ext', 'code_extension', { code: 'export default 1' })

  it('holds every release where the configuration says so', async () => {
    expect(await stepOf({ settings: { publish: 'review' } })).toMatchObject({ kind: 'hold' })
  })

  it('holds what touches a reviewed kind, and a command that runs programs when it is called', async () => {
    expect(await stepOf(both(extension))).toMatchObject({ kind: 'hold' })
    expect(await stepOf(both(command('Look at !`git log`.')))).toMatchObject({ kind: 'hold' })
    expect(await stepOf(both(command('Look at each number twice.')))).toMatchObject({ kind: 'publish' })
  })

  it.each<[string, JsonObject, string]>([
    ['native_tool', { description: 'x', code: 'export default () => 1' }, 'hold'],
    ['native_hook', { event: 'pre_step', code: 'export default () => 1' }, 'hold'],
    ['native_agent', { prompt: 'Be brief.' }, 'publish'],
  ])('holds what the adapter makes a program of: a change of %s %j ends as %s', async (name, config, kind) => {
    const publish_powers = [...POWERS]
    const tools = { ...both(newEntry('new', name, config)), adapter: native.plugin, settings: { publish_powers } }
    const held = { metrics: { held_because: expect.stringContaining(`of kind ${name}`) } }
    expect(await stepOf(tools)).toMatchObject({ kind, ...(kind === 'hold' && held) })
    expect(await stepOf({ ...tools, settings: { publish_powers, review_kinds: [] } })).toMatchObject({ kind: 'publish' })
  })

  it('goes by the trees and not by the mutations: an id that is removed may come back as code', async () => {
    const again: readonly Mutation[] = [RULE, { op: 'remove', id: 'base' }, { ...extension, id: 'base' }]
    const later: readonly Mutation[] = [
      RULE,
      command('Look at the log.'),
      { op: 'update', id: 'go', options: { config: { name: 'go', text: 'Look at !`git log`.' } } },
    ]
    for (const mutations of [again, later]) {
      expect(await stepOf({ propose: () => ({ mutations }) })).toMatchObject({ kind: 'hold' })
      const unsafe = await testBench({ propose: () => ({ mutations }), codeProblem: 'no sandbox' })
      expect(await unsafe.step()).toMatchObject({ kind: 'skip', reason: expect.stringMatching(/code written by a model is not run here/) })
      expect(unsafe.played).toEqual([])
    }
  })

  it('never sees code where nothing keeps code apart', async () => {
    const bench = await testBench({ ...both(extension), codeProblem: 'no sandbox' })
    const reason = expect.stringMatching(/ext: code written by a model is not run here: no sandbox/)
    expect(await bench.step()).toMatchObject({ kind: 'skip', reason })
    expect(bench.played).toEqual([])
  })
})

describe('the record of a step', () => {
  it('holds what was asked, what was proposed and what was played', async () => {
    const bench = await testBench()
    await bench.step()
    const record = join(bench.folder, 'steps', 'scenario', '1')
    expect(JSON.parse(await readFile(join(record, 'proposer.json'), 'utf8'))).toEqual([])
    expect(JSON.parse(await readFile(join(record, 'mutations.json'), 'utf8'))).toEqual([RULE])
    const episode: Json = JSON.parse(await readFile(join(record, 'episodes', 'candidate-0', 'episode.json'), 'utf8'))
    expect(isObject(episode) && episode).toMatchObject({ side: 'candidate', task: 'one', score: 1, exit_code: 0, stdout: 'magic' })
    expect(existsSync(join(record, 'episodes', 'current-2', 'trajectory.jsonl'))).toBe(true)
  })

  it('is not there where recording is off, and the step is the same', async () => {
    const result = await stepOf({ settings: { step_record_dir: null } })
    expect(result.kind).toBe('publish')
    expect(metric(result, 'step_record')).toBeUndefined()
  })
})
