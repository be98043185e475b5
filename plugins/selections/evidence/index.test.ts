import { describe, expect, it } from 'vitest'
import { playSelection, selectionConformance, type SimulatedGate } from '../../../conformance/index.ts'
import type { Decision, Json, Pair, Question, Task, TaskRole } from '../../../src/contract/index.ts'
import evidence from './index.ts'

const tasksOf = (role: TaskRole, count: number): readonly Task[] =>
  Array.from({ length: count }, (_, n) => ({ name: `${role}-${n}`, prompt: 'do it', role }))
const asked = (tasks: readonly Task[], changes: Partial<Question> = {}): Question => {
  const history = { decided: 0, selected: 0 }
  return { kind: 'traffic', tasks, pairs: [], repeats: 1, episodesLeft: null, seed: 'step-1', history, ...changes }
}
const better: SimulatedGate = (_, side) => (side === 'candidate' ? 1 : 0)
const same: SimulatedGate = () => 1
const evidenceIn = ({ metrics }: Decision): Json | undefined => metrics?.['evidence']
/** What the candidate alone can do, of tasks by their number. */
const solves =
  (can: (number: number) => boolean): SimulatedGate =>
  ({ name }, side) =>
    side === 'candidate' && can(Number(name.replace(/\D+/, ''))) ? 1 : 0
/** What the candidate alone cannot do any more. */
const breaks =
  (cannot: (number: number) => boolean): SimulatedGate =>
  ({ name }, side) =>
    side === 'candidate' && cannot(Number(name.replace(/\D+/, ''))) ? 0 : 1
/** Better at the gate, and something else on what is protected. */
const byRole =
  (onRegression: SimulatedGate): SimulatedGate =>
  (task, side, repeat) =>
    (task.role === 'gate' ? better : onRegression)(task, side, repeat)
/** Changes from play to play by a task's place alone. */
const byPlace =
  (tasks: readonly Task[]): SimulatedGate =>
  (task, side, repeat) =>
    (tasks.findIndex(({ name }) => name === task.name) * 5 + repeat * (side === 'candidate' ? 3 : 2)) % 3 === 0 ? 1 : 0

const alike = (families: number, each: number): readonly Task[] =>
  tasksOf('gate', families * each).map((task, n) => ({ ...task, family: `family-${Math.floor(n / each)}` }))

/** Better on twelve tasks of the gate, and lost on some of eight plays of three protected tasks. */
const wonAtGate = (isLost: (place: number) => boolean): readonly Pair[] => [
  ...tasksOf('gate', 12).map((task) => ({ task, repeat: 0, candidate: 1, current: 0 })),
  ...Array.from({ length: 8 }, (_, repeat) => tasksOf('regression', 3).map((task) => ({ task, repeat })))
    .flat()
    .map((pair, place) => ({ ...pair, candidate: isLost(place) ? 0 : 1, current: 1 })),
]

const skewed: SimulatedGate = ({ name }, side) => (side === 'current' ? 0.9 : Number(name.replace(/\D+/, '')) < 6 ? 0.1 : 1)
const gained: SimulatedGate = (_, side) => (side === 'current' ? 0.4 : 0.7)

describe('evidence', async () => {
  const selection = await evidence.plugin.make({})
  selectionConformance({ describe, it, selection })
  const play = (gate: SimulatedGate, tasks: readonly Task[], changes: Partial<Question> = {}) =>
    playSelection(selection, asked(tasks, changes), gate)

  const decideOn = (tasks: readonly Task[], pairs: readonly Pair[], episodesLeft: number) =>
    selection.decide(pairs, asked(tasks, { pairs, episodesLeft }))

  it('leaves a case open that only the budget makes hopeless, and none that is hopeless anyway', () => {
    const tasks = tasksOf('gate', 20)
    const pairs = (candidate: number) => tasks.map((task) => ({ task, repeat: 0, candidate, current: 1 }))
    const decide = (candidate: number, episodesLeft: number) =>
      selection.decide(pairs(candidate), asked(tasks, { pairs: pairs(candidate), episodesLeft }))
    for (const episodesLeft of [0, 10]) expect(decide(1, episodesLeft)).toMatchObject({ selected: false, isOpen: true })
    expect(decide(0, 10)).toMatchObject({ selected: false, isOpen: false })
  })

  it('counts a task without a family as a part of one where tasks may be alike', async () => {
    const careful = await evidence.plugin.make({ tasks_alike: 5 })
    const decided = (gate: SimulatedGate, tasks: readonly Task[]) => playSelection(careful, asked(tasks), gate).decision
    const [tasks, few] = [tasksOf('gate', 60), solves((number) => number < 12)]
    expect(play(few, tasks).decision.selected).toBe(true)
    expect(decided(few, tasks).selected).toBe(false)
    expect(decided(better, tasks).selected).toBe(true)
    expect(decided(better, tasksOf('gate', 24))).toMatchObject({
      selected: false,
      reason: expect.stringContaining('(evolution.tasks_alike); give tasks that are alike a family, and add 1 task of other families'),
    })
    // A family that is named counts whole.
    expect(decided(better, alike(5, 5))).toEqual(play(better, alike(5, 5)).decision)
    for (const wrong of [0, 1.5, 101, 'many']) expect(() => evidence.plugin.make({ tasks_alike: wrong })).toThrow('evolution.tasks_alike')
  })

  it('says in numbers what it rests on', () => {
    const { decision, pairs } = play(
      solves((number) => number < 9),
      tasksOf('gate', 12),
    )
    expect(pairs).toHaveLength(12)
    expect(decision).toEqual({
      selected: true,
      reason: expect.stringMatching(
        /^better on 9 of 12 tasks, worse on none: the evidence is strong enough \(1 in \d+ by luck, 1 in 48 needed\)$/,
      ),
      metrics: {
        evidence: {
          test: 'superiority',
          e_value: expect.any(Number),
          e_value_tasks: expect.any(Number),
          threshold: expect.closeTo(47.8, 0),
          threshold_tasks: expect.closeTo(23.9, 0),
          alpha_spent: expect.closeTo(0.0209, 6),
          decided_before: 0,
          selected_before: 0,
          mean_difference: 0.75,
          interval: [expect.any(Number), expect.any(Number)],
          differences: expect.toSatisfy((all: readonly number[]) => all.length === 12 && all.filter((one) => one === 1).length === 9),
          pairs: 12,
          tasks: 12,
          episodes_cap: 800,
          stopped: 'success',
        },
        wins: 9,
        losses: 0,
        ties: 3,
      },
      isOpen: false,
      episodesMax: 800,
    })
  })

  it('asks for a harder proof the more was decided, and for a less hard one the more of it was published', () => {
    const tasks = tasksOf('gate', 40)
    const levels = [
      asked(tasks),
      asked(tasks, { history: { decided: 30, selected: 0 } }),
      asked(tasks, { history: { decided: 30, selected: 10 } }),
    ]
    const thresholds = levels.map((question) => /1 in (\d+) needed/.exec(playSelection(selection, question, better).decision.reason)?.[1])
    const [fresh, tried, trusted] = thresholds.map(Number)
    expect(tried).toBeGreaterThan(Number(trusted))
    expect(trusted).toBeGreaterThan(Number(fresh))
  })

  it('says how many tasks it needs where there are too few to tell a gain from luck, and plays none', () => {
    const { decision, pairs } = play(better, tasksOf('gate', 3))
    expect(pairs).toEqual([])
    expect(decision).toMatchObject({ selected: false, reason: expect.stringMatching(/has 3 tasks, and this decision needs 5 at least/) })
  })

  describe('tasks of one family', () => {
    it('count once: what fixes many tasks of a few families may be luck', () => {
      const fixed = solves((number) => number < 15)
      expect(play(fixed, tasksOf('gate', 60)).decision.selected).toBe(true)
      const { decision } = play(fixed, alike(12, 5))
      expect(decision).toMatchObject({ selected: false, reason: expect.stringMatching(/^better on 3 of 12 families, worse on none/) })
      expect(evidenceIn(decision)).toMatchObject({ tasks: 60, families: 12 })
    })

    it('show a gain where enough families gain', () => {
      expect(play(better, alike(12, 5)).decision).toMatchObject({
        selected: true,
        reason: expect.stringMatching(/better on 12 of 12 families/),
      })
    })

    it('may be too few, and it says how many more families it takes', () => {
      const { decision, pairs } = play(better, alike(3, 20))
      expect(pairs).toEqual([])
      expect(decision.reason).toMatch(/has 60 tasks in 3 families, and this decision needs 5 families at least .*; add tasks of 2 more$/)
    })
  })

  it('judges scores other than 0 and 1 by their mean: many small gains do not hide a few large losses', () => {
    expect(play(skewed, tasksOf('gate', 60)).decision.selected).toBe(false)
    expect(play(gained, tasksOf('gate', 60)).decision.selected).toBe(true)
  })

  it('never bets more than it has on a pair that was drawn with another chance', () => {
    const tasks = tasksOf('gate', 12)
    const pairs = tasks.map((task) => ({ task, repeat: 0, candidate: 0, current: 1, weight: 2 }))
    expect(evidenceIn(selection.decide(pairs, asked(tasks, { pairs })))).toMatchObject({ e_value: expect.closeTo(0, 1) })
  })

  it('says that the gate is empty', () => {
    expect(play(better, []).decision.reason).toMatch(/no task of role gate/)
  })

  it('says how far it got when the budget ended, and what it would still take', () => {
    const { decision, pairs } = play(
      solves((number) => number % 2 === 0),
      tasksOf('gate', 12),
      { episodesLeft: 12 },
    )
    expect(pairs).toHaveLength(6)
    expect(decision.selected).toBe(false)
    expect(decision.reason).toMatch(/budget ended after 12 episodes; (at this rate it would take about \d+ more episodes|what was seen)/)
  })

  it('never lets a candidate win by keeping the current side from being scored', () => {
    const { decision } = playSelection(selection, asked(tasksOf('gate', 20)), (_, side) => (side === 'candidate' ? 1 : null))
    expect(decision).toMatchObject({ selected: false, metrics: { wins: 0, losses: 0 } })
  })

  it('counts scores from 0 to 1, whatever an evaluator says', () => {
    expect(playSelection(selection, asked(tasksOf('gate', 20)), (_, side) => (side === 'current' ? 1 : 1e9)).decision.selected).toBe(false)
  })

  it('draws the same for the same step, and the names of tasks change nothing', () => {
    const tasks = tasksOf('gate', 15)
    const renamed = tasks.map((task, n) => ({ ...task, name: `other ${(n * 7) % 15}` }))
    const one = play(byPlace(tasks), tasks)
    const two = play(byPlace(renamed), renamed)
    expect(two.decision).toEqual(one.decision)
    expect(two.pairs.map(({ task }) => renamed.indexOf(task))).toEqual(one.pairs.map(({ task }) => tasks.indexOf(task)))
  })

  it('plays every task of the gate once before it plays one again', () => {
    const { pairs } = play(
      solves((number) => number > 20),
      tasksOf('gate', 30),
    )
    expect(new Set(pairs.slice(0, 30).map(({ task }) => task.name)).size).toBe(30)
  })

  describe('health tasks', () => {
    const tasks = [...tasksOf('gate', 12), ...tasksOf('health', 2)]

    it('are played by the candidate alone, once, before anything else', () => {
      const { pairs, decision } = play(better, tasks)
      expect(pairs.slice(0, 2).map(({ task, current, repeat }) => [task.name, current, repeat])).toEqual([
        ['health-0', null, 0],
        ['health-1', null, 0],
      ])
      expect(decision.selected).toBe(true)
    })

    it.each(['traffic', 'request'] as const)('end a %s at once when one fails', (kind) => {
      const { pairs, decision } = playSelection(selection, asked(tasks, { kind }), ({ name }) => (name === 'health-1' ? 0.9 : 1))
      expect(pairs).toHaveLength(2)
      const metrics = { evidence: { stopped: 'health' } }
      expect(decision).toMatchObject({ selected: false, reason: '1 of 2 health tasks failed', metrics })
    })

    it('wait for more episodes where the budget ended before them', () => {
      const passed = tasks.slice(12, 13).map((task) => ({ task, repeat: 0, candidate: 1, current: null }))
      expect(decideOn(tasks, passed, 0)).toMatchObject({ selected: false, isOpen: true, reason: expect.stringContaining('1 not played') })
      const failed = passed.map((pair) => ({ ...pair, candidate: 0 }))
      expect(decideOn(tasks, failed, 0)).toMatchObject({ selected: false, isOpen: false })
    })

    it('fail when they could not be scored', () => {
      expect(playSelection(selection, asked(tasks), () => null).decision.selected).toBe(false)
    })
  })

  describe('a change that was asked for', () => {
    it('is selected where nothing got worse, without having to be better', () => {
      const tasks = [...tasksOf('gate', 12), ...tasksOf('regression', 4)]
      const { pairs, decision } = play(same, tasks, { kind: 'request' })
      expect(pairs.every(({ task }) => task.role === 'regression')).toBe(true)
      expect(decision).toMatchObject({
        selected: true,
        reason: expect.stringMatching(/^at most 0.1 worse in the mean score of the 4 protected tasks/),
      })
      expect(evidenceIn(decision)).toMatchObject({ test: 'non_inferiority', mean_difference: 0, stopped: 'success' })
    })

    it("is held against the gate's tasks where none are protected by themselves", () => {
      const { decision } = play(
        breaks((number) => number < 4),
        tasksOf('gate', 12),
        { kind: 'request' },
      )
      expect(decision.selected).toBe(false)
      expect(evidenceIn(decision)).toMatchObject({ stopped: 'futility' })
    })

    it('is selected where nothing is protected, and says so', () => {
      const { decision } = play(same, [], { kind: 'request' })
      expect(decision).toEqual({ selected: true, reason: expect.stringMatching(/there is no task of role regression or gate/) })
    })

    it.each<[string, SimulatedGate]>([
      ['neither side has', () => null],
      ['only the candidate has', (_, side) => (side === 'candidate' ? 1 : null)],
    ])('is not harmless where there was nothing to compare with: %s a score', (_, gate) => {
      const { decision, pairs } = play(gate, tasksOf('gate', 12), { kind: 'request' })
      const reason = expect.stringMatching(/the served side had no score, so they do not count$/)
      expect(decision).toMatchObject({ selected: false, reason })
      expect(evidenceIn(decision)).toMatchObject({ stopped: 'uncompared', uncompared: 12 })
      expect(pairs).toHaveLength(12)
    })

    it('may be harmless although a few episodes of what is served had no score', () => {
      const { decision } = play(({ name }, side) => (side === 'current' && name === 'gate-3' ? null : 1), tasksOf('gate', 12), {
        kind: 'request',
      })
      expect(decision.selected).toBe(true)
    })

    it.each([
      [0, 33.3],
      [1, 133.3],
    ])('needs more evidence together with requests before it, of which %i failed so', (failed, threshold) => {
      const { decision } = play(same, tasksOf('gate', 12), { kind: 'request', sum: { failed } })
      expect(decision.selected).toBe(true)
      expect(evidenceIn(decision)).toMatchObject({ threshold: expect.closeTo(threshold, 1) })
    })

    it('is not selected on a budget that cannot show it', () => {
      const { decision } = play(same, tasksOf('regression', 4), { kind: 'request', episodesLeft: 20 })
      expect(decision).toMatchObject({ selected: false, reason: expect.stringMatching(/budget ended/) })
    })
  })

  describe('a candidate from traffic with protected tasks', () => {
    const tasks = [...tasksOf('gate', 12), ...tasksOf('regression', 3)]

    it('must also not be worse on them, which is looked at once it is better', () => {
      const { pairs, decision } = play(byRole(same), tasks)
      expect(pairs.findIndex(({ task }) => task.role === 'regression')).toBe(12)
      expect(decision).toMatchObject({ selected: true, metrics: { evidence_regression: { test: 'non_inferiority', stopped: 'success' } } })
      expect(decision.reason).toMatch(/better on 12 of 12 tasks.*at most 0.1 worse in the mean score of the 3 protected tasks/)
    })

    it('is rejected when it breaks one of them', () => {
      const { decision } = playSelection(selection, asked(tasks), byRole(breaks((number) => number === 0)))
      expect(decision).toMatchObject({ selected: false, metrics: { evidence: { stopped: 'success' } } })
    })

    it('waits for more episodes where only the budget keeps it from being shown harmless', () => {
      const few = wonAtGate(() => false).slice(0, 15)
      expect(decideOn(tasks, few, 0)).toMatchObject({ selected: false, isOpen: true, reason: expect.stringMatching(/budget ended/) })
      const some = wonAtGate((place) => place % 12 === 0)
      expect(decideOn(tasks, some, 6)).toMatchObject({
        selected: false,
        isOpen: true,
        reason: expect.stringMatching(/those left are not expected/),
      })
      expect(decideOn(tasks, some, 6).episodesMax).toBeGreaterThan(2 * some.length)
      expect(
        decideOn(
          tasks,
          wonAtGate(() => true),
          6,
        ),
      ).toMatchObject({ selected: false, isOpen: false })
    })

    it('keeps enough of the budget to look at them', () => {
      const { decision } = play(byRole(same), tasks, { episodesLeft: 110 })
      expect(decision.selected).toBe(true)
    })
  })

  const unusable = [{ alpha: 0 }, { alpha: 0.6 }, { alpha: 'low' }, { margin: 0 }, { margin: 2 }, { margin: 1e-9 }]
  it.each(unusable)('refuses settings it cannot use: %o', async (config) => {
    await expect(async () => evidence.plugin.make(config)).rejects.toMatchObject({ code: 'bad_setting' })
  })
})
