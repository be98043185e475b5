/** Conformance suite for selections, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { Decision, Draw, Pair, Question, Selection, Side, Task } from '../src/contract/index.ts'
import { assertPlain, assertUntouched, type Runner } from './support.ts'

export interface SelectionSuite extends Runner {
  readonly selection: Selection
  /** Whether it compares the candidate with the served release. */
  readonly compares?: boolean
}

const TASKS = 20
const ROUNDS_MAX = 2000
const EPISODES = 120

export function selectionConformance({ it, selection, compares = true }: SelectionSuite): void {
  it('a candidate that is better at every task is selected', async () => {
    for (const kind of ['traffic', 'request'] as const) assert.equal(decide(selection, pairsOf(0, 1), kind).selected, true)
  })
  if (compares)
    it('a candidate that is worse at every task is not, nor one from traffic that does not differ', async () => {
      for (const kind of ['traffic', 'request'] as const) assert.equal(decide(selection, pairsOf(1, 0), kind).selected, false)
      for (const score of [0, 1]) assert.equal(decide(selection, pairsOf(score, score), 'traffic').selected, false)
    })
  it('a candidate that nothing speaks for is not selected: no pair, no score', async () => {
    for (const pairs of [[], pairsOf(null, null), pairsOf(1, null)]) assert.equal(decide(selection, pairs, 'traffic').selected, false)
  })
  it('the same pairs are decided the same, and are afterwards what they were', async () => {
    for (const pairs of [[...pairsOf(0, 1), ...pairsOf(1, 0)], [...pairsOf(0, null), ...pairsOf(null, 1)], pairsOf(0, 1)])
      await assertUntouched(questionOf(pairs, 'traffic'), (question) => {
        assert.deepEqual(selection.decide(question.pairs, question), selection.decide(question.pairs, question))
        assert.deepEqual(selection.next?.(question), selection.next?.(question))
      })
  })
  it('it asks for tasks that are there, comes to an end, and decides', async () => {
    for (const episodesLeft of [null, EPISODES])
      for (const gate of GATES) {
        const { decision } = playSelection(selection, { ...questionOf([], 'traffic'), episodesLeft }, gate)
        assertDecision(decision)
      }
  })
  it('it ends on a budget of nothing, and on no tasks at all', async () => {
    const question = questionOf([], 'traffic')
    for (const bare of [
      { ...question, episodesLeft: 0 },
      { ...question, tasks: [] },
    ])
      assert.equal(playSelection(selection, bare, () => 1).decision.selected, false)
  })
}

/** The score of one side on a task; null: no score. */
export type SimulatedGate = (task: Task, side: Side, repeat: number) => number | null

const GATES: readonly SimulatedGate[] = [
  (_, side) => (side === 'candidate' ? 1 : 0),
  (_, side) => (side === 'candidate' ? 0 : 1),
  () => 1,
  () => null,
  ({ name }, side, repeat) => (name.length * 7 + repeat * 3 + side.length) % 2,
]

export interface PlayedSelection {
  readonly pairs: readonly Pair[]
  readonly decision: Decision
}

/** Plays what the selection draws, as a step would, until it draws nothing or the budget is spent. */
export function playSelection(selection: Selection, question: Question, gate: SimulatedGate): PlayedSelection {
  let asked = question
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const played = playRound(selection, asked, gate)
    if (played.pairs.length === asked.pairs.length) return { pairs: asked.pairs, decision: selection.decide(asked.pairs, asked) }
    asked = played
  }
  throw new assert.AssertionError({ message: `it asked for more in each of ${ROUNDS_MAX} rounds` })
}

function playRound(selection: Selection, question: Question, gate: SimulatedGate): Question {
  const tasks = new Map(question.tasks.map((task) => [task.name, task]))
  return drawsOf(selection, question).reduce((asked, draw) => {
    const task = tasks.get(draw.task)
    assert.ok(task, 'it asked for a task that is not there')
    assertNew(draw, asked.pairs)
    const sides = draw.sides ?? ['candidate', 'current']
    if (asked.episodesLeft !== null && asked.episodesLeft < sides.length) return asked
    const score = (side: Side): number | null => (sides.includes(side) ? gate(task, side, draw.repeat) : null)
    const weight = draw.weight === undefined ? {} : { weight: draw.weight }
    const pair = { task, repeat: draw.repeat, candidate: score('candidate'), current: score('current'), ...weight }
    const episodesLeft = asked.episodesLeft === null ? null : asked.episodesLeft - sides.length
    return { ...asked, pairs: [...asked.pairs, pair], episodesLeft }
  }, question)
}

function drawsOf(selection: Selection, question: Question): readonly Draw[] {
  if (selection.next) return selection.next(question)
  if (question.pairs.length > 0) return []
  return question.tasks.flatMap(({ name }) => Array.from({ length: question.repeats }, (_, repeat) => ({ task: name, repeat })))
}

function assertNew({ task, repeat, sides, weight }: Draw, pairs: readonly Pair[]): void {
  assert.ok(Number.isSafeInteger(repeat) && repeat >= 0, 'a repeat is counted from 0')
  assert.ok(!pairs.some((pair) => pair.task.name === task && pair.repeat === repeat), 'it asked for the same repeat of a task twice')
  assert.ok(sides === undefined || sides.length > 0, 'it asked for a pair of no side')
  assert.ok(weight === undefined || (Number.isFinite(weight) && weight > 0), 'a weight is a number above 0')
}

function decide(selection: Selection, pairs: readonly Pair[], kind: Question['kind']): Decision {
  const decision = selection.decide(pairs, questionOf(pairs, kind))
  assertDecision(decision)
  return decision
}

function assertDecision({ selected, reason, metrics = {} }: Decision): void {
  assert.equal(typeof selected, 'boolean')
  assert.ok(typeof reason === 'string' && reason.trim() !== '', 'it decided without a word')
  assertPlain(metrics, 'what it rests on')
}

const TASKS_OF_GATE: readonly Task[] = Array.from({ length: TASKS }, (_, n) => ({ name: `task-${n}`, prompt: 'do it', role: 'gate' }))

/** Repeated pairs with these scores; null is a missing score. */
function pairsOf(current: number | null, candidate: number | null): readonly Pair[] {
  return [0, 1, 2].flatMap((repeat) => TASKS_OF_GATE.map((task) => ({ task, repeat, current, candidate })))
}

function questionOf(pairs: readonly Pair[], kind: Question['kind']): Question {
  const history = { decided: 0, selected: 0 }
  return { kind, tasks: TASKS_OF_GATE, pairs, repeats: 1, episodesLeft: null, seed: 'a step', history }
}
