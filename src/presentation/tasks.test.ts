import { expect, it } from 'vitest'
import { tasksSummary, taskView } from './tasks.ts'

const TASK = { name: 'a', role: 'gate', status: 'proposed', check: null, problem: null } as const
const CHECK = { passed: false, problems: ['an empty workspace passes', 'repeats differ'] }

it('says whether a task is used, what the check found, and what may be decided', () => {
  const decided = { mayAccept: true, mayDrop: true, mayChangeRole: true }
  expect(taskView(TASK)).toEqual({
    status: { word: 'proposed', tone: 'warn' },
    role: 'gate',
    check: 'not checked',
    isBad: false,
    ...decided,
  })
  expect(taskView({ ...TASK, check: CHECK })).toMatchObject({ check: 'an empty workspace passes; repeats differ', isBad: true })
  expect(taskView({ ...TASK, status: 'accepted', check: { passed: true, problems: [] } })).toMatchObject({
    check: 'holds',
    mayAccept: false,
  })
  expect(taskView({ ...TASK, status: 'dropped' })).toMatchObject({ mayDrop: false, mayAccept: true })
})

it('offers no decision on a task written by hand but its role, and none on one that cannot be read', () => {
  expect(taskView({ ...TASK, status: null })).toMatchObject({
    status: { word: 'by hand' },
    mayAccept: false,
    mayDrop: false,
    mayChangeRole: true,
  })
  const broken = taskView({ ...TASK, role: null, status: null, problem: 'it does not parse' })
  expect(broken).toMatchObject({ status: { word: 'broken', tone: 'bad' }, role: '', check: 'it does not parse', mayChangeRole: false })
})

it('counts those that are used, and the others', () => {
  expect(tasksSummary([TASK, { ...TASK, status: 'accepted' }, { ...TASK, status: null }])).toBe('3 tasks: 2 used, 1 proposed')
  expect(tasksSummary([])).toBe('0 tasks: 0 used')
})
