/** Whole runs against a service and an agent that are told what to do: stopped at every event, they end as if they had not been. */
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import native from '../../plugins/adapters/native/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { testServer } from '../../test/support/server.ts'
import type { Entry, Files, Task, TaskRole } from '../contract/index.ts'
import { contentOf } from '../harness/index.ts'
import type { ImproveEvent } from './events.ts'
import { improve, readResult, type ImproveOrder } from './run.ts'
import { openState } from './state.ts'

const adapter = native.plugin
const SPENT = { calls: 1, inputTokens: 10, cachedTokens: 5, outputTokens: 1, cost: 0.25, unpricedCalls: 0 }
const rules = (words: string): Entry => ({ id: 'rules', name: 'rules', config: { text: words } })
const START = [rules('Be kind.')]
const BETTER = [rules('Be kind. Be short.')]

const tasksOf = (role: TaskRole, count: number): readonly Task[] =>
  Array.from({ length: count }, (_, at) => ({ name: `${role}-${at}`, prompt: `Do ${role} ${at}.`, role }))
const TASKS = [...tasksOf('train', 2), ...tasksOf('gate', 2), ...tasksOf('sealed', 1)]

interface World {
  readonly played: string[]
  readonly reports: Map<string, unknown>
  readonly order: (over?: Partial<ImproveOrder>) => Promise<ImproveOrder>
}

/** The service publishes with the round of that number, and not at all with 0. An agent with the better rules solves everything. */
async function makeWorld(publishes: number | 'always', failure: string | null = null, troubles: readonly string[] = []): Promise<World> {
  const played: string[] = []
  const reports = new Map<string, unknown>()
  const used: number[] = []
  const waiting = [...troubles]
  let looks = 0
  const rounds = (): readonly string[] => [...new Set([...reports.keys()].map((id) => id.split('-')[1] ?? ''))]
  const rowsNow = (): readonly object[] =>
    failure === null
      ? rounds().map((_, at) => ({
          step: at + 1,
          operation: 'train',
          result: publishes === 'always' || at + 1 === publishes ? 'published' : 'rejected',
          metrics: { episodes_used: used[at] ?? 8, proposer_calls: 1, selection: { reason: `round ${at + 1}` } },
        }))
      : Array.from({ length: looks }, (_, at) => ({ step: at + 1, operation: 'train', result: 'failed', metrics: { error: failure } }))
  const served = (): readonly Entry[] => {
    if (publishes === 'always') return [rules(`Be kind.${' Be short.'.repeat(rounds().length)}`)]
    return publishes > 0 && rounds().length >= publishes ? BETTER : START
  }
  const url = await testServer(async (request, response) => {
    const body = await text(request)
    const path = request.url ?? ''
    if (path.includes('/commits')) looks += 1
    if (path === '/svc/report') {
      const report: { readonly agent_record_id: string } = JSON.parse(body)
      const known = reports.get(report.agent_record_id)
      if (known !== undefined) expect(known).toEqual(report)
      reports.set(report.agent_record_id, report)
    }
    const answer = path.endsWith('/releases')
      ? { releases: rowsNow() }
      : path.includes('/commits')
        ? { commits: failure === null && waiting.length === 0 ? [{ step: rounds().length }] : [] }
        : path === '/svc/status'
          ? { error: waiting.shift() ?? null }
          : path === '/svc/harness'
            ? { files: contentOf(adapter, served()) }
            : {}
    response.end(JSON.stringify(answer))
  })
  const [repository, data] = [temporaryFolder(), temporaryFolder()]
  const order = async (over: Partial<ImproveOrder> = {}): Promise<ImproveOrder> => {
    const state = await openState(repository, { XDG_DATA_HOME: data })
    onTestFinished(() => state.close())
    return {
      state,
      adapter,
      entries: START,
      player: {
        tasks: TASKS,
        problem: () => Promise.resolve(null),
        shortage: () => null,
        play: ({ entries, task, signal }) => {
          signal.throwIfAborted()
          const isGood = JSON.stringify(entries).includes('Be short.')
          played.push(`${isGood ? 'after' : 'before'} ${task.name}`)
          return Promise.resolve({
            score: isGood ? 1 : 0,
            failure: null,
            note: 'wrong',
            printed: '',
            answer: 'no',
            spent: SPENT,
            answered: 1,
          })
        },
      },
      budget: 100,
      workers: 1,
      signal: new AbortController().signal,
      open: (step) => {
        if (publishes === 'always' && step !== null) used.push(Math.ceil(step.episodesMax / 2))
        return Promise.resolve({
          url,
          token: 't',
          model: { model: 'm', api: 'openai' },
          played: () => Promise.resolve(0),
          close: () => Promise.resolve(),
        })
      },
      emit: () => undefined,
      agree: () => Promise.resolve(true),
      ...over,
    }
  }
  return { played, reports, order }
}

const filesOf = (entries: readonly Entry[]): Files => contentOf(adapter, entries)

describe('a run', () => {
  it('ends with the better tree and what every task scored, sealed ones played once with each', async () => {
    const { order, played, reports } = await makeWorld(2)
    const end = await improve(await order())
    if (end.kind !== 'ended') throw new Error('it was agreed to')
    expect(end.files).toEqual(filesOf(BETTER))
    expect(end.result).toMatchObject({ improved: true, rounds: [{ result: 'rejected' }, { result: 'published', reason: 'round 2' }] })
    expect(end.result.tasks).toEqual(TASKS.map(({ name, role }) => ({ name, role, before: 0, after: 1 })))
    expect(played.toSorted()).toEqual(
      [...TASKS.map(({ name }) => `after ${name}`), ...TASKS.map(({ name }) => `before ${name}`)].toSorted(),
    )
    expect([...reports.keys()]).toEqual([1, 2].flatMap((round) => [0, 1].map((at) => `improve-${round}-train-${at}`)))
    expect(end.result.episodes).toBe(4 + 16 + 6)
  })

  it('in which nothing proves better ends after three rounds, and no sealed task was played', async () => {
    const { order, played } = await makeWorld(0)
    const end = await improve(await order())
    expect(end).toMatchObject({ kind: 'ended', result: { improved: false, rounds: [{}, {}, {}] }, files: filesOf(START) })
    expect(played.filter((each) => each.includes('sealed'))).toEqual([])
  })

  it('without a yes stops after the baseline; the next goes on from there without playing it again', async () => {
    const { order, played, reports } = await makeWorld(1)
    const first = await order({ agree: () => Promise.resolve(false) })
    expect(await improve(first)).toEqual({ kind: 'declined' })
    first.state.close()
    expect([played.length, reports.size]).toEqual([4, 0])
    let cost: object = {}
    await improve(await order({ agree: (said) => Promise.resolve(Boolean((cost = said))) }))
    expect(played.length).toBe(TASKS.length * 2)
    expect(cost).toMatchObject({ episodes: 96, model_calls: 96, input_tokens: 960, output_tokens: 96, cost: 24 })
  })

  it('stays within its budget, and says what one must be', async () => {
    const { order, played } = await makeWorld(0)
    const short = await order({ budget: 23 })
    await expect(improve(short)).rejects.toThrow('--budget leaves 13 episodes for changes beside the baseline; make it 24 or more')
    short.state.close()
    expect(played).toEqual([])
    const end = await improve(await order({ budget: 24 }))
    expect(end).toMatchObject({ result: { rounds: [{ round: 1 }] } })
  })

  it('plays no more episodes than its budget however often it publishes, and counts them all', async () => {
    for (let budget = 24; budget < 80; budget += 5) {
      const { order, played } = await makeWorld('always')
      const given = await order({ budget })
      // Tasks that fail with the better rules too are learnt from again.
      const play: ImproveOrder['player']['play'] = async (parts) => {
        const end = await given.player.play(parts)
        return parts.task.role === 'train' ? { ...end, score: 0 } : end
      }
      const end = await improve({ ...given, player: { ...given.player, play } })
      if (end.kind !== 'ended') throw new Error('it was agreed to')
      const inRounds = end.result.rounds.reduce((sum, { episodes }) => sum + episodes, 0)
      expect(end.result.rounds.length).toBeGreaterThan(budget < 40 ? 0 : 1)
      expect([budget, end.result.episodes]).toEqual([budget, played.length + inRounds])
      expect(end.result.episodes).toBeLessThanOrEqual(budget)
      given.state.close()
    }
  })

  it('counts an episode that had no score beside the one that was played in its place', async () => {
    const { order, played } = await makeWorld('always')
    const given = await order({ budget: 60 })
    const play: ImproveOrder['player']['play'] = async (parts) => {
      const end = await given.player.play(parts)
      const isFirst = played.filter((each) => each === played.at(-1)).length === 1
      return parts.task.role === 'train' && played.at(-1)?.startsWith('after') === true ? { ...end, score: isFirst ? null : 1 } : end
    }
    const end = await improve({ ...given, player: { ...given.player, play } })
    if (end.kind !== 'ended') throw new Error('it was agreed to')
    const inRounds = end.result.rounds.reduce((sum, { episodes }) => sum + episodes, 0)
    expect(played.length).toBeGreaterThan(new Set(played).size)
    expect(end.result.episodes).toBe(played.length + inRounds)
  })

  it('with a smaller budget than before keeps every round that has begun', async () => {
    const { order } = await makeWorld('always')
    const endOf = async (budget: number) => {
      const given = await order({ budget })
      const play: ImproveOrder['player']['play'] = async (parts) => {
        const end = await given.player.play(parts)
        return parts.task.role === 'train' ? { ...end, score: 0 } : end
      }
      const end = await improve({ ...given, player: { ...given.player, play } })
      given.state.close()
      if (end.kind !== 'ended') throw new Error('it was agreed to')
      return end
    }
    const first = await endOf(60)
    expect(first.result.rounds.length).toBeGreaterThan(1)
    expect(await endOf(30)).toEqual(first)
  })

  it('asks again for a larger budget than was agreed to, and for no other', async () => {
    const { order } = await makeWorld(0)
    const asked: number[] = []
    for (const [budget, says] of [
      [40, true],
      [41, false],
      [40, true],
    ] as const) {
      const given = await order({ budget, agree: () => Promise.resolve(asked.push(budget) > 0 && says) })
      await improve(given)
      given.state.close()
    }
    expect(asked).toEqual([40, 41])
  })

  it('whose tasks cannot teach or cannot decide says so before anything is played', async () => {
    const { order, played } = await makeWorld(0)
    const given = await order()
    const player = { ...given.player, tasks: tasksOf('gate', 3) }
    await expect(improve({ ...given, player })).rejects.toThrow('of 3 tasks 0 have the role train and 3 the role gate')
    const few = { ...given.player, shortage: () => ({ decisions: 0, reason: 'this decision needs 5; add 2' }) }
    await expect(improve({ ...given, player: few })).rejects.toThrow(
      'no change could be published: this decision needs 5; add 2; begin with --fresh and --tasks-dir FOLDER, or with --tasks N for more of them, of other test files',
    )
    expect(played).toEqual([])
  })

  it('whose tasks are enough for some decisions alone says so before it asks', async () => {
    const { order } = await makeWorld(1)
    const said: string[] = []
    const shortage = { decisions: 2, reason: 'add 3' }
    const given = await order({
      emit: (event) => void said.push(JSON.stringify(event)),
      agree: () => Promise.resolve(said.push('asked') < 0),
    })
    const player = { ...given.player, shortage: (decisions: number) => (decisions > 2 ? shortage : null) }
    expect(await improve({ ...given, player })).toEqual({ kind: 'declined' })
    expect(JSON.parse(said.at(-2) ?? '')).toMatchObject({ event: 'estimate', shortage })
    expect(said.at(-1)).toBe('asked')
  })

  it('in which no episode has a score fails with the first reason, and plays them again the next time', async () => {
    const { order, played } = await makeWorld(1)
    const given = await order()
    const player = { ...given.player, play: () => Promise.reject(new Error('no network')) }
    await expect(improve({ ...given, player })).rejects.toThrow('no episode of the baseline has a score; the first: no network')
    expect(await improve(given)).toMatchObject({ kind: 'ended' })
    expect(played.filter((each) => each.startsWith('before')).length).toBe(TASKS.length)
  })

  it('whose step cannot begin says why, once for each reason, and goes on', async () => {
    const { order } = await makeWorld(1, null, ['the cap of the day', 'the cap of the day', 'no sandbox'])
    const told: ImproveEvent[] = []
    expect(await improve(await order({ emit: (event) => told.push(event) }))).toMatchObject({ kind: 'ended' })
    expect(told.filter(({ event }) => event === 'waiting')).toEqual(
      ['the cap of the day', 'no sandbox'].map((reason) => ({ event: 'waiting', round: 1, reason })),
    )
  })

  it('whose step fails again and again ends with the reason, and goes on with the same reports', async () => {
    const { order, reports } = await makeWorld(1, 'the model could not be reached')
    const given = await order()
    await expect(improve(given)).rejects.toThrow('the step failed 3 times: the model could not be reached')
    expect(reports.size).toBe(2)
    await expect(improve(given)).rejects.toThrow('the step failed 3 times')
    expect(reports.size).toBe(2)
  })

  it('stopped at any event goes on where it was: the same end, no episode twice, no report changed', async () => {
    const whole = await makeWorld(2)
    const events: ImproveEvent[] = []
    const expected = await improve(await whole.order({ emit: (event) => events.push(event) }))
    for (let at = 0; at < events.length; at += 1) {
      const { order, played } = await makeWorld(2)
      const stopping = new AbortController()
      let seen = 0
      const first = await order({
        signal: stopping.signal,
        emit: () => {
          if (seen === at) {
            stopping.abort()
            throw new Error('stopped')
          }
          seen += 1
        },
      })
      await expect(improve(first)).rejects.toThrow('stopped')
      first.state.close()
      const second = await order()
      const kept = await readResult(second.state)
      const end = kept === null ? await improve(second) : { kind: 'ended', ...kept }
      expect(end).toEqual(expected)
      expect([at, new Set(played).size]).toEqual([at, played.length])
      second.state.close()
    }
    expect(events.length).toBeGreaterThan(15)
  })
})
