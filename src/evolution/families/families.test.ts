/** Families that nobody named: by nearly the same text, and by moving together under earlier candidates. */
import { describe, expect, it } from 'vitest'
import { randomOf } from '../../../test/crash/random.ts'
import type { Mutation, Question, Selection, Task } from '../../contract/index.ts'
import { metric, taskNamed, testBench } from '../testing/bench.ts'
import { joined, joinedNames } from './join.ts'
import { movesWith, NO_MOVES, type Moves } from './moves.ts'

const CANDIDATES = 30
const GROUPS = 4
const GROUP_SIZE = 3
const TASKS = Array.from({ length: GROUPS * GROUP_SIZE }, (_, at) => taskNamed(`task-${at}`))
const groupAt = (at: number): number => Math.floor(at / GROUP_SIZE)

type Scored = (candidate: number, task: number) => readonly [candidate: number, current: number]

/** What the candidates left, each task played once. */
function movesOf(scored: Scored, candidates = CANDIDATES, tasks: readonly Task[] = TASKS): Moves {
  return Array.from({ length: candidates }, (_, n) => n).reduce((moves: Moves, n) => {
    const pairs = tasks.map((task, at) => {
      const [candidate, current] = scored(n, at)
      return { task, repeat: 0, candidate, current }
    })
    return movesWith(moves, tasks, `tree-${n}`, pairs)
  }, NO_MOVES)
}

/** Each unit is thrown again by every candidate; tasks of one unit always agree. */
function thrown(seed: string, unitOf: (task: number) => number): Scored {
  const chance = (key: string): number => randomOf(`${seed} ${key}`).fraction()
  const passes = (key: string): number => Number(chance(key) < 0.5)
  return (candidate, task) => [passes(`${candidate} ${unitOf(task)}`), passes(`served ${unitOf(task)}`)]
}

/** A pair or two may be joined by chance. */
const familyCount = (tasks: readonly Task[]): number => new Set(tasks.map(({ name, family = name }) => family)).size

const familiesIn = (tasks: readonly Task[]): readonly (string | undefined)[] => tasks.map(({ family }) => family)

describe('tasks that moved together under earlier candidates', () => {
  it('are one family, and tasks that did not are not', () => {
    const found = joined(TASKS, movesOf(thrown('a', groupAt)))
    expect(joinedNames(TASKS, found)).toEqual(
      Array.from({ length: GROUPS }, (_, group) => TASKS.filter((__, at) => groupAt(at) === group).map(({ name }) => name)),
    )
    for (const seed of ['b', 'c', 'd'])
      expect(familyCount(joined(TASKS, movesOf(thrown(seed, (at) => at))))).toBeGreaterThanOrEqual(TASKS.length - 2)
  })

  it('are not joined by few candidates, nor by the one that is decided on', () => {
    const scored = thrown('a', groupAt)
    expect(joined(TASKS, movesOf(scored, 6))).toEqual(TASKS)
    const many = movesOf(scored)
    const last = { ...many, rows: many.rows.slice(-10) }
    const [first] = last.rows
    expect(joined(TASKS, { ...last, rows: last.rows.slice(1) })).toEqual(joined(TASKS, last, first?.tree))
  })

  it('are not joined by changes that help or hurt all of them alike', () => {
    const noise = thrown('e', (at) => at)
    // Half of the candidates solve everything, or break everything.
    const scored: Scored = (candidate, task) => {
      const [luck, served] = noise(candidate, task)
      return [candidate % 2 === 0 ? luck : candidate % 4 === 1 ? 1 : 0, served]
    }
    expect(familyCount(joined(TASKS, movesOf(scored)))).toBeGreaterThanOrEqual(TASKS.length - 2)
  })

  it('join a family that is named, never split one, and never join two of them', () => {
    const named = TASKS.map((task, at) =>
      at === 0 || at === 3 ? { ...task, family: 'one' } : at === 4 ? { ...task, family: 'two' } : task,
    )
    const families = familiesIn(joined(named, movesOf(thrown('a', groupAt), CANDIDATES, named)))
    expect(families.slice(0, 4)).toEqual(['one', 'one', 'one', 'one'])
    expect(families[4]).toBe('two')
    expect(['one', 'two']).toContain(families[5])
    expect(new Set(families.slice(6)).size).toBe(2)
  })
})

const pair = (task: Task, candidate: number | null) => ({ task, repeat: 0, candidate, current: 0 })

describe('what is kept of earlier candidates', () => {
  it('has one row for each tree, forgets tasks that are gone, and is bounded', () => {
    const [one = taskNamed('one'), two = taskNamed('two')] = TASKS
    const first = movesWith(NO_MOVES, [one, two], 'a', [pair(one, 1), pair(one, 0), pair(two, null)])
    expect(first.rows).toEqual([{ tree: 'a', candidate: [50, -1], current: [0, -1] }])
    const again = movesWith(first, [two], 'a', [pair(two, 1)])
    expect(again).toEqual({ tasks: [two.name], rows: [{ tree: 'a', candidate: [100], current: [0] }] })
    const many = Array.from({ length: 2000 }, (_, at) => taskNamed(`of-many-${at}`))
    const moves = movesOf(() => [1, 0], 60, many)
    expect(moves.rows.at(-1)?.tree).toBe('tree-59')
    expect(JSON.stringify(moves.rows).length).toBeLessThan(70_000)
  })
})

const texts = (...tasks: readonly Partial<Task>[]): readonly (string | undefined)[] =>
  familiesIn(
    joined(
      tasks.map((task, at) => taskNamed(`t${at}`, task)),
      NO_MOVES,
    ),
  )

const files = (from: number) => ({ 'a.txt': Array.from({ length: 200 }, (_, n) => String((n + from) * 104_729)).join(' ') })

describe('tasks whose texts are nearly the same', () => {
  const long = Array.from({ length: 60 }, (_, n) => `sentence ${n * 7919} of the task`).join('. ')
  it('are one family from the first decision on', () => {
    expect(texts({ prompt: long }, { prompt: `${long}!` }, { prompt: `${long.slice(0, 400)} and so on` })).toEqual([
      'like t0',
      'like t0',
      undefined,
    ])
  })

  it('are none where the prompt is short, or asked about other files', () => {
    expect(texts({ prompt: 'Solve problem 17 of the set.' }, { prompt: 'Solve problem 18 of the set.' })).toEqual([undefined, undefined])
    expect(texts({ prompt: long, files: files(0) }, { prompt: long, files: files(500) })).toEqual([undefined, undefined])
    expect(texts({ prompt: long, files: files(0) }, { prompt: long, files: files(0) })).toEqual(['like t0', 'like t0'])
  })

  it('stay apart where a person gave them families', () => {
    expect(texts({ prompt: long, family: 'a' }, { prompt: long, family: 'b' })).toEqual(['a', 'b'])
  })
})

const rule = (n: number): Mutation => ({ op: 'create', id: `rule-${n}`, options: { name: 'rules', config: { text: `Rule ${n}.` } } })

it('steps learn families as they go, and tell the selection and the row', async () => {
  const asked: Question[] = []
  const selection: Selection = {
    decide(_, question) {
      asked.push(question)
      return { selected: false, reason: 'no' }
    },
  }
  const scored = thrown('a', groupAt)
  let offered = 0
  const bench = await testBench({
    tasks: TASKS,
    selection,
    settings: { screen_share: 0 },
    propose: () => ({ mutations: [rule((offered += 1))] }),
    run: async (play) => {
      const rules = JSON.stringify(play.files(play.model))
      const at = TASKS.findIndex(({ prompt }) => prompt === play.launch('/root').argv.at(-1))
      const candidate = Number(/Rule (\d+)/.exec(rules)?.[1] ?? -1)
      const [after, before] = scored(candidate, at)
      const episode = { exitCode: 0, stdout: String(candidate < 0 ? before : after), stderr: '', trajectory: [] }
      await play.inspect?.('/root/workspace', episode)
      return episode
    },
    evaluator: { score: async (_, { stdout }) => Number(stdout) },
  })
  const first = await bench.step()
  expect(metric(first, 'joined_tasks')).toBeUndefined()
  for (let step = 1; step < CANDIDATES; step += 1) await bench.step()
  expect(metric(await bench.step(), 'joined_tasks')).toContainEqual(['task-0', 'task-1', 'task-2'])
  expect(familiesIn(asked[0]?.tasks ?? [])).toEqual(TASKS.map(() => undefined))
  expect(new Set(familiesIn(asked.at(-1)?.tasks ?? [])).size).toBe(GROUPS)
}, 60_000)
