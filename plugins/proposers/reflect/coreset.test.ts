import { expect, it } from 'vitest'
import type { Sample, Task } from '../../../src/contract/index.ts'
import { plain } from '../../../src/harness/testing/adapters.ts'
import { treeId, type ReflectArchive, type EditCandidate, type TaskPast } from './archive.ts'
import { chooseTasks } from './coreset.ts'
import { briefOf, taskOf } from './testing.ts'

const tasks: readonly Task[] = Array.from({ length: 20 }, (_, index) => taskOf(`t${index}`))
const sampleOf = (id: string, given: Partial<Sample> = {}): Sample => ({
  record_ids: [id],
  exchanges: [],
  score: null,
  feedback: null,
  ...given,
})

const archiveOf = (past: readonly TaskPast[], candidates: readonly EditCandidate[] = []): ReflectArchive => ({
  round: 1,
  base: treeId([]),
  tasks: past,
  candidates,
})

const names = (past: readonly TaskPast[], size: number, samples: readonly Sample[] = []): readonly string[] =>
  chooseTasks(briefOf(plain, { tasks, samples }), archiveOf(past), size).map(({ name }) => name)

it('alternates between tasks that were lost or vary and tasks never played', () => {
  const lost = ['t1', 't2', 't3', 't4', 't5', 't6'].map((task) => ({ task, recent: task === 't1' ? [1, 0, 1] : [0] }))
  const won = ['t7', 't8', 't9'].map((task) => ({ task, recent: [1, 1] }))
  const [first = '', , third = ''] = names([...lost, ...won], 4)
  expect(lost.some(({ task }) => task === first)).toBe(true)
  expect([...lost, ...won].some(({ task }) => task === third)).toBe(false)
})

it('prefers tasks on which no edit has failed yet', () => {
  const past = ['t1', 't2'].map((task) => ({ task, recent: [0] }))
  const vain: EditCandidate = {
    id: 'c',
    mutations: [],
    design: '',
    reflection: '',
    requires: [],
    parents: [],
    round: 1,
    base: treeId([]),
    outcome: 'shelved',
    scores: [{ task: 't1', score: 0, current: 0 }],
  }
  for (const id of ['one', 'two', 'three', 'four', 'five']) {
    const [first] = chooseTasks(briefOf(plain, { tasks, samples: [sampleOf(id)] }), archiveOf(past, [vain]), 4)
    expect(first?.name).toBe('t2')
  }
})

it('takes the tasks that bad reports name', () => {
  expect(names([], 1, [sampleOf('r', { score: 0, task: { name: 't17' } })])).toEqual(['t17'])
})

it('takes tasks unlike each other, each with the one most like it', () => {
  const sums = Array.from({ length: 10 }, (_, index) => taskOf(`sum-${index}`, `Add the numbers of list ${index}.`))
  const letters = ['summer', 'winter'].map((season) => taskOf(`letter-${season}`, `Write a letter to grandmother about ${season}.`))
  const chosen = chooseTasks(briefOf(plain, { tasks: [...sums, ...letters] }), archiveOf([]), 4)
  expect(chosen.filter(({ name }) => name.startsWith('sum-'))).toHaveLength(2)
  expect(chosen).toEqual(expect.arrayContaining(letters))
})

it('takes the same for the same evidence, and in time every one', () => {
  expect(names([], 3, [sampleOf('one')])).toEqual(names([], 3, [sampleOf('one')]))
  const seen = new Set(Array.from({ length: 60 }, (_, index) => names([], 3, [sampleOf(`r${index}`)])).flat())
  expect(seen.size).toBe(tasks.length)
})

it('takes all there are when there are few, none twice', () => {
  const few = tasks.slice(0, 3)
  const past = few.map(({ name }) => ({ task: name, recent: [1] }))
  expect(
    chooseTasks(briefOf(plain, { tasks: few }), archiveOf(past), 10)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['t0', 't1', 't2'])
})
