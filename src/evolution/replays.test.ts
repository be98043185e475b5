/** Episodes that the model or the evaluator failed: they are no 0, are played again, and nobody gains by causing them. */
import { describe, expect, it } from 'vitest'
import type { Episode, Executor, Play, Selection } from '../contract/index.ts'
import { GATE, REQUEST, episodeOf, metric, stepOf, taskNamed, testBench } from './testing/bench.ts'
import { Troubles } from './troubles.ts'

const isCandidate = (play: Play): boolean =>
  play.files({ url: '', model: 'm', api: 'openai', apiKey: null })['agent/RULES.md']?.includes('magic') === true

/** The magic word for the candidate, and whatever `fail` says instead, by the number of its episode. */
function playing(fail: (isCandidates: boolean, number: number) => Partial<Episode> | null) {
  const played: string[] = []
  const run: Executor['run'] = async (play) => {
    const side = isCandidate(play) ? 'candidate' : 'current'
    played.push(side)
    const failed = fail(side === 'candidate', played.filter((one) => one === side).length)
    const episode = { ...episodeOf(side === 'candidate' ? 'magic' : ''), ...failed }
    await play.inspect?.('/root/workspace', episode)
    return episode
  }
  return { run, played }
}

const OUTAGE = { modelFailure: 'it answered with status 503', exitCode: 1 }
const showing: Selection = {
  decide: (pairs) => ({ selected: false, reason: pairs.map(({ candidate, current }) => `${candidate} ${current}`).join(', ') }),
}
const scores = (result: Awaited<ReturnType<typeof stepOf>>): unknown => metric(result, 'selection')

describe('an episode that the model failed', () => {
  it('is played again on its side alone, and the tries count', async () => {
    const { run, played } = playing((isCandidates, number) => (isCandidates && number === 2 ? OUTAGE : null))
    const result = await stepOf({ run })
    expect(result).toMatchObject({ kind: 'publish', metrics: { episode_failures: 0, episodes_used: 7, episodes_repeated: 1 } })
    expect(played.filter((side) => side === 'current')).toHaveLength(3)
  })

  it('has no score after two more tries, whatever the agent left, and no evaluator is asked', async () => {
    let asked = 0
    const { run } = playing((isCandidates, number) => (!isCandidates && number <= 3 ? OUTAGE : null))
    const evaluator = { score: async () => ((asked += 1), 1) }
    const result = await stepOf({ run, evaluator, selection: showing })
    expect(scores(result)).toMatchObject({ reason: '1 null, 1 1, 1 1' })
    expect([asked, metric(result, 'episodes_used')]).toEqual([5, 8])
  })

  it('on both sides ends the step, which is tried again later and decides nothing', async () => {
    const { run, played } = playing(() => OUTAGE)
    for (const request of [null, REQUEST])
      expect(await stepOf({ run }, { request })).toMatchObject({
        kind: 'fail',
        retry: true,
        error: 'both sides of one had no score: the model failed: it answered with status 503',
      })
    expect(played).toHaveLength(12)
  })

  it('is not played again without a budget', async () => {
    const { run } = playing((isCandidates) => (isCandidates ? OUTAGE : null))
    const result = await stepOf({ run, selection: showing, settings: { max_episodes_per_step: 2 } })
    expect(metric(result, 'episodes_used')).toBe(2)
  })

  it('is no score to keep: the next step plays it', async () => {
    const { run, played } = playing((isCandidates, number) => (!isCandidates && number <= 3 ? OUTAGE : null))
    const bench = await testBench({ run, selection: showing, tasks: GATE.slice(0, 1) })
    await bench.step()
    played.length = 0
    await bench.step({ request: REQUEST })
    expect(played).toContain('current')
  })
})

describe('an episode that the evaluator failed', () => {
  it('is scored once more as it is, so that no side has another try', async () => {
    let calls = 0
    const result = await stepOf({
      evaluator: {
        async score(_task, { stdout }) {
          calls += 1
          if (calls % 2 === 1) throw new Error('no answer')
          return stdout === 'magic' ? 1 : 0
        },
      },
    })
    expect(result).toMatchObject({ kind: 'publish', metrics: { episode_failures: 0, episodes_used: 6 } })
  })

  it('is played again where it fails again, also where it only answers null', async () => {
    let calls = 0
    const result = await stepOf({
      evaluator: { score: async (_task, { stdout }) => ((calls += 1) <= 2 ? null : Number(stdout === 'magic')) },
    })
    expect(result).toMatchObject({ kind: 'publish', metrics: { episode_failures: 0, episodes_used: 7, episodes_repeated: 1 } })
  })

  it('is not played again where it compares: the words of the candidate may be why', async () => {
    const result = await stepOf({ evaluator: { compares: true, score: async () => null }, selection: showing })
    expect(scores(result)).toMatchObject({ reason: 'null 0.5, null 0.5, null 0.5' })
    expect(metric(result, 'episodes_used')).toBe(6)
  })
})

const MANY = Array.from({ length: 24 }, (_, n) => taskNamed(`task-${n}`))

describe('a candidate gains nothing', () => {
  it('by failing the calls of its own episodes where it would lose: what happens to it alone counts as 0', async () => {
    const { run, played } = playing((isCandidates) => (isCandidates ? OUTAGE : null))
    const result = await stepOf({ run, selection: showing, tasks: MANY, evaluator: { score: async () => 1 } })
    const { reason } = Object(scores(result))
    expect(String(reason).split(', ').slice(-16)).toEqual(Array.from({ length: 16 }, () => '0 1'))
    // It has another try a few times, and then none.
    expect(played.filter((side) => side === 'candidate').length).toBeLessThan(MANY.length + 16)
    expect(JSON.stringify(metric(result, 'candidate_episodes'))).toContain('the candidate alone, so it counts as 0')
  })

  it('by failing the episodes of the served side: nothing is decided then', async () => {
    const { run } = playing((isCandidates) => (isCandidates ? null : OUTAGE))
    const result = await stepOf({ run, tasks: MANY })
    const error = expect.stringContaining('of the served side), so nothing can be compared')
    expect(result).toMatchObject({ kind: 'skip', reason: 'the evaluation failed', metrics: { error } })
    expect(await stepOf({ run, tasks: MANY }, { request: REQUEST })).toMatchObject({ kind: 'fail', error })
  })

  it.each(['time', 'memory', 'output'] as const)(
    'by exceeding the limit of %s where it would lose: that is a 0, played once',
    async (ended) => {
      const { run, played } = playing((isCandidates) => (isCandidates ? { ended, exitCode: 137 } : null))
      const evaluator = { score: async (_task: unknown, episode: Episode) => (episode.ended === undefined ? 1 : 0) }
      const result = await stepOf({ run, selection: showing, evaluator })
      expect(scores(result)).toMatchObject({ reason: '0 1, 0 1, 0 1' })
      expect(played).toHaveLength(6)
    },
  )
})

const troubles = (candidate: readonly [number, number], current: readonly [number, number]): Troubles => {
  const counted = new Troubles()
  for (const [side, [played, failed]] of [
    ['candidate', candidate],
    ['current', current],
  ] as const)
    for (let n = 0; n < played; n += 1) counted.add(side, n < failed)
  return counted
}

describe('trouble is one side’s own', () => {
  it.each([
    [[40, 12], [40, 0], true],
    [[40, 6], [40, 3], false],
    [[10, 10], [10, 10], false],
    [[20, 8], [20, 0], true],
    [[3, 3], [0, 0], false],
    [[0, 0], [0, 0], false],
  ] as const)('with %j tries and failures of the candidate and %j of the served side: %s', (candidate, current, isOwn) => {
    expect(troubles(candidate, current).isOwnOf('candidate')).toBe(isOwn)
    expect(troubles(current, candidate).isOwnOf('current')).toBe(isOwn)
  })
})
