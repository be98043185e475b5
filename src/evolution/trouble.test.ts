/** Failures in a step, and its budget: each ends with the true reason. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unavailable, type Draw, type Evaluator, type Executor, type Mutation, type Selection } from '../contract/index.ts'
import { ALWAYS, episodeOf, metric, REQUEST, RULE, stepOf, taskNamed, testBench } from './testing/bench.ts'

const OTHER_RULE: Mutation = { op: 'create', id: 'other', options: { name: 'rules', config: { text: 'Be kind.' } } }

const noSandbox = (): Promise<never> => Promise.reject(unavailable('no_sandbox', 'no namespaces here'))
const noRoom = (): Promise<never> => Promise.reject(unavailable('no_room', 'this machine ran out of space'))
const failingOnOne: Evaluator['score'] = async ({ name }, { stdout }) => {
  if (name === 'one') throw new Error('pytest is missing')
  return stdout === 'magic' ? 1 : 0
}
const failing = (words: string) => (): Promise<never> => Promise.reject(new Error(words))

describe('what goes wrong', () => {
  it('with the proposer fails the step and names the stage', async () => {
    const bench = await testBench({ propose: failing('no model') })
    expect(await bench.step()).toMatchObject({ kind: 'fail', error: 'no model', metrics: { failed_stage: 'proposing', steps: 1 } })
    expect(await bench.step({ request: REQUEST })).toMatchObject({ kind: 'fail' })
  })

  it.each([Number.NaN, Infinity])(
    'with a scorer that answers %s settles the step with the reason, and publishes nothing',
    async (score) => {
      const bench = await testBench({ evaluator: { score: async () => score } })
      const error = expect.stringContaining(String(score))
      expect(await bench.step()).toMatchObject({ kind: 'skip', reason: 'the evaluation failed', metrics: { error } })
      expect(await bench.step({ request: REQUEST })).toMatchObject({ kind: 'fail', metrics: { failed_stage: 'evaluating' } })
    },
  )

  it('with an episode counts as no score of its side', async () => {
    const result = await stepOf({ run: failing('cannot start') })
    expect(result).toMatchObject({ kind: 'reject', metrics: { episode_failures: 6 } })
    expect(metric(result, 'candidate_episodes')).toContainEqual({ task: 'one', score: null, failure: 'could not be run: cannot start' })
  })

  it('with the agent’s program is the machine’s: no proposer is called, and the step is tried again', async () => {
    let asked = 0
    const bench = await testBench({
      propose: () => ((asked += 1), { mutations: [RULE] }),
      program: () => Promise.reject(unavailable('no_program', 'agent 1.0.0 could not be installed')),
    })
    for (const request of [null, REQUEST])
      expect(await bench.step({ request })).toMatchObject({ kind: 'fail', retry: true, error: 'agent 1.0.0 could not be installed' })
    expect(asked).toBe(0)
  })

  it('with the sandbox or the disk, where nothing could be played, is the machine’s, and the step is tried again', async () => {
    const error = 'an episode could not be run: no namespaces here'
    expect(await stepOf({ run: noSandbox }, { request: REQUEST })).toMatchObject({ kind: 'fail', retry: true, error })
  })

  it('with a neighbour that filled the disk meanwhile repeats the episode, and scores none of it', async () => {
    let isFull = true
    const run: Executor['run'] = async (play) => {
      if (isFull) {
        isFull = false
        throw unavailable('no_room', 'this machine ran out of space')
      }
      const rules = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })['agent/RULES.md'] ?? ''
      return episodeOf(rules.includes('magic') ? 'magic' : '')
    }
    expect(await stepOf({ run })).toMatchObject({ kind: 'publish', metrics: { episode_failures: 0 } })
  })

  it('with the machine while an evaluator runs a command is not the evaluator’s', async () => {
    expect(await stepOf({ evaluator: { score: noRoom } })).toMatchObject({ kind: 'fail', retry: true })
  })

  it('with the machine costs no second answer of the proposer for the same batch, and one for the next', async () => {
    let [asked, isBroken] = [0, true]
    const bench = await testBench({
      propose: () => ((asked += 1), { mutations: [RULE], notes: { why: 'because' }, memory: { round: asked } }),
      run: async (play) => {
        if (isBroken) return noSandbox()
        const rules = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })['agent/RULES.md'] ?? ''
        return episodeOf(rules.includes('magic') ? 'magic' : '')
      },
    })
    for (const id of ['a', 'a', 'b', 'b', 'b']) expect(await bench.step({ id })).toMatchObject({ kind: 'fail', retry: true })
    expect(asked).toBe(2)
    isBroken = false
    const metrics = { mutation: RULE, proposal_notes: { why: 'because' } }
    expect(await bench.step({ id: 'b' })).toMatchObject({ kind: 'publish', metrics })
    expect(asked).toBe(2)
    await bench.step({ id: 'b' })
    expect(asked).toBe(3)
  })

  it('with the machine counts as no try of a proposal, however often it comes', async () => {
    let isBroken = true
    const bench = await testBench({
      propose: () => null,
      run: async () => (isBroken ? noSandbox() : episodeOf('magic')),
      selection: ALWAYS,
    })
    await bench.inbox.offer({ mutations: [RULE], reason: 'because', session: 's', release_id: 'r' }, 'r')
    for (const id of ['a', 'a', 'a', 'a', 'a']) expect(await bench.step({ id })).toMatchObject({ kind: 'fail', retry: true })
    isBroken = false
    expect(await bench.step({ id: 'a' })).toMatchObject({ kind: 'publish', metrics: { proposal: { session: 's' } } })
  })

  it('with the machine is no verdict where the scores of what is served are known from before', async () => {
    let isBroken = false
    const bench = await testBench({
      propose: ({ rejected }) => ({ mutations: [rejected.length === 0 ? RULE : OTHER_RULE] }),
      run: async () => (isBroken ? noSandbox() : episodeOf('')),
    })
    expect(await bench.step()).toMatchObject({ kind: 'reject', metrics: { episodes_used: 6 } })
    isBroken = true
    expect(await bench.step()).toMatchObject({ kind: 'fail', retry: true, error: expect.stringContaining('no namespaces here') })
  })

  it('with an evaluator that fails on every episode is its failure, and no side scores 0', async () => {
    const bench = await testBench({ evaluator: { score: failing('pytest is missing') } })
    const error = 'no episode has a score; the first could not be scored: pytest is missing'
    expect(await bench.step()).toMatchObject({ kind: 'skip', reason: 'the evaluation failed', metrics: { error } })
    expect(await bench.step({ request: REQUEST })).toMatchObject({ kind: 'hold' })
  })

  it('with the evaluator of one task leaves the others', async () => {
    const result = await stepOf({ evaluator: { score: failingOnOne } })
    expect(result).toMatchObject({ kind: 'publish', metrics: { episode_failures: 2, candidate_score: 2 } })
    expect(metric(result, 'candidate_episodes')).toContainEqual(
      expect.objectContaining({ task: 'one', score: null, failure: 'could not be scored: pytest is missing' }),
    )
  })

  it('with one score ends the round, and nothing is played after its step', async () => {
    const tasks = Array.from({ length: 12 }, (_, n) => taskNamed(`task-${n}`))
    let [running, scored] = [0, 0]
    const bench = await testBench({
      tasks,
      settings: { episode_workers: 3 },
      run: async (play) => {
        running += 1
        const episode = episodeOf('')
        for (let turns = 0; turns < 20; turns += 1) await Promise.resolve()
        await play.inspect?.('/root/workspace', episode).finally(() => (running -= 1))
        return episode
      },
      evaluator: { score: async () => ((scored += 1) === 2 ? Number.NaN : 1) },
    })
    expect(await bench.step()).toMatchObject({ kind: 'skip', reason: 'the evaluation failed' })
    expect(running).toBe(0)
    expect(scored).toBeLessThan(2 * tasks.length)
  })

  it('with a current side that never started leaves nothing that a candidate could win against', async () => {
    const bench = await testBench({
      evaluator: { compares: true, score: async () => 1 },
      run: async (play) => {
        const files = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })
        const isCandidate = files['agent/RULES.md']?.includes('magic') === true
        return isCandidate ? episodeOf('x') : { ...episodeOf('x'), exitCode: 127, ended: 'start' }
      },
      selection: {
        decide: (pairs) => ({ selected: false, reason: pairs.map(({ current, candidate }) => `${current} ${candidate}`).join(', ') }),
      },
    })
    expect(metric(await bench.step(), 'selection')).toMatchObject({ reason: 'null 1, null 1, null 1' })
  })

  it('in an agent is reported without the key that the agent was given', async () => {
    const refused = { ...episodeOf(''), exitCode: 1, stderr: 'refused: Bearer evaluation-token' }
    const row = JSON.stringify(await stepOf({ run: async () => refused }))
    expect(row).toContain('exit code 1: refused: Bearer')
    expect(row).not.toContain('token-of-the-bench')
  })

  it('with a selection that never decides ends the step', async () => {
    const forever = {
      next: (): readonly Draw[] => Array.from({ length: 1000 }, (_, draw) => ({ task: 'one', repeat: draw % 2 })),
      decide: () => ({ selected: true, reason: 'x' }),
    }
    expect(await stepOf({ selection: forever })).toMatchObject({ kind: 'fail', error: expect.stringContaining('without deciding') })
  })

  it('by an abort leaves no answer', async () => {
    const aborting = new AbortController()
    const bench = await testBench({
      propose: () => {
        aborting.abort(new Error('stopped'))
        return { mutations: [RULE] }
      },
    })
    await expect(bench.step({}, aborting.signal)).rejects.toThrow('stopped')
  })
})

describe('the budget of episodes', () => {
  it('ends the evaluation, trials included, and the selection decides on what there is', async () => {
    const result = await stepOf({
      settings: { max_episodes_per_step: 4 },
      propose: async (brief) => {
        expect(await brief.trial([RULE], taskNamed('own'))).toMatchObject({ score: 1, failure: null })
        return { mutations: [RULE] }
      },
    })
    expect(result).toMatchObject({ kind: 'publish', metrics: { episodes_used: 4, candidate_score: 1, current_score: 0 } })
  })

  it('is that of the step, however often it is killed: what an earlier attempt played is counted once, and not played again', async () => {
    const aborting = new AbortController()
    let asked = 0
    const evaluator: Evaluator = {
      score: async (_task, { stdout }) => {
        asked += 1
        if (asked === 4) aborting.abort(new Error('killed'))
        return stdout === 'magic' ? 1 : 0
      },
    }
    const tasks = Array.from({ length: 8 }, (_, n) => taskNamed(`task-${n}`))
    const bench = await testBench({ evaluator, tasks, settings: { max_episodes_per_step: 10 } })
    await expect(bench.step({}, aborting.signal)).rejects.toThrow('killed')
    expect(await bench.step()).toMatchObject({ kind: 'publish', metrics: { episodes_used: 10, episodes_cached: 0 } })
    // The fourth was under way, and is lost.
    expect(bench.played.length).toBeLessThanOrEqual(11)
  })

  it('that a proposer spends is over for it', async () => {
    const result = await stepOf({
      settings: { max_episodes_per_step: 1 },
      propose: async (brief) => {
        for (let played = 0; played < 2; played += 1) await brief.trial([], taskNamed('own'))
        return null
      },
    })
    expect(result).toMatchObject({ kind: 'fail', error: expect.stringContaining('max_episodes_per_step') })
  })
})

describe('what an evaluator says', () => {
  it('stands in the row in one line and whole in the record, without credentials', async () => {
    const key = `sk-${'a'.repeat(24)}`
    const bench = await testBench({
      evaluator: {
        async score(_task, { stdout }, scene) {
          scene.note?.('exit code 1: the sum is 41', { exit_code: 1, stderr: `the sum is 41, and ${key} and token-of-the-bench` })
          return stdout === 'magic' ? 1 : 0
        },
      },
    })
    const result = await bench.step()
    expect(metric(result, 'candidate_episodes')).toContainEqual({ task: 'one', score: 1, evaluation: 'exit code 1: the sum is 41' })
    const file = join(bench.folder, 'steps/scenario/1/episodes/current-0/episode.json')
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      score: 0,
      evaluation: { words: 'exit code 1: the sum is 41', exit_code: 1, stderr: 'the sum is 41, and [redacted] and [redacted]' },
    })
  })

  it('is asked to be looked at where neither side has a point in a task', async () => {
    const bench = await testBench({
      evaluator: { score: async ({ name }, { stdout }) => (name !== 'two' && stdout === 'magic' ? 1 : 0) },
    })
    expect(await bench.step()).toMatchObject({ kind: 'publish', metrics: { unsolved_tasks: ['two'] } })
    expect(bench.lines).toContain("check! both sides score 0 in two; see the evaluator's notes")
  })
})

const tasksUpTo = (count: number) => Array.from({ length: count }, (_, n) => taskNamed(`task-${n}`))
const drawingUpTo = (most: number): Selection => ({
  next: ({ pairs, tasks: all }) =>
    pairs.length >= most ? [] : [{ task: all[pairs.length % all.length]?.name ?? '', repeat: Math.floor(pairs.length / all.length) }],
  decide: () => ({ selected: true, reason: 'x', metrics: { margin: 0 } }),
})
const NOTHING = { score: async () => 0 }

describe('where neither side has a point', () => {
  it.each([
    [30, 30],
    [8, 20],
  ])('a step with %d tasks ends after %d pairs, and says so', async (count, pairs) => {
    const result = await stepOf({ tasks: tasksUpTo(count), selection: drawingUpTo(200), evaluator: NOTHING })
    const reason = `both sides score 0 in all of ${pairs} pairs, so nothing can be compared; check the evaluator, or add tasks that can be solved`
    expect(result).toMatchObject({
      kind: 'reject',
      metrics: { episodes_used: 2 * pairs, margin: 0, selection: { outcome: 'reject', reason } },
    })
  })

  it('a step goes on where one pair shows something, and for a request', async () => {
    let scored = 0
    const once = { score: async () => ((scored += 1) === 3 ? 1 : 0) }
    for (const [evaluator, request] of [
      [once, null],
      [NOTHING, REQUEST],
    ] as const)
      expect(await stepOf({ tasks: tasksUpTo(8), selection: drawingUpTo(40), evaluator }, { request })).toMatchObject({
        metrics: { episodes_used: 80, selection: { outcome: 'select' } },
      })
  })
})
