import { expect, it } from 'vitest'
import { changesBetween, summaryOf } from './tree.ts'

it('lists what was added, removed and changed, in the order of the paths', () => {
  const changes = changesBetween({ 'a.md': 'one', 'b.md': 'same', 'c.md': 'gone' }, { 'a.md': 'two', 'b.md': 'same', 'd.md': '' })
  expect(changes).toEqual([
    { path: 'a.md', kind: 'changed', before: 'one', after: 'two' },
    { path: 'c.md', kind: 'removed', before: 'gone', after: '' },
    { path: 'd.md', kind: 'added', before: '', after: '' },
  ])
  expect(summaryOf(changes)).toBe('1 file changed, 1 file added, 1 file removed')
})

it('knows files that are called like something every object has', () => {
  expect(changesBetween({}, { constructor: 'x', toString: 'y' }).map(({ kind }) => kind)).toEqual(['added', 'added'])
})

it('says that nothing differs', () => {
  expect(summaryOf(changesBetween({ a: 'x' }, { a: 'x' }))).toBe('no file differs')
})
