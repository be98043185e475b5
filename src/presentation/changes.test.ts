/** The changes of a step, and the files that differ between two releases. */
import { describe, expect, it } from 'vitest'
import { changesOf, filesBetween, filesSummary } from './changes.ts'
import { timeFor } from './diff.ts'
import type { UnknownRecord } from './read.ts'

const shown = (metrics: UnknownRecord) => changesOf(metrics, null, { timeLeft: timeFor(60_000) }).changes
const after = (text: string) =>
  changesOf(
    { mutation: { op: 'update', id: 'a', options: { config: { text } } } },
    [{ id: 'a', name: 'rules', config: { text: 'a\nb\n' } }],
    {
      timeLeft: timeFor(60_000),
    },
  ).changes[0]?.blocks

describe('mutations', () => {
  const mutation = { op: 'create', id: 'tone', options: { name: 'rules', config: { text: 'Be brief.' } } }

  it('are one or a list', () => {
    const blocks = [{ kind: 'text', text: 'Be brief.' }]
    expect(shown({ mutation })).toEqual([{ op: 'create', tone: 'good', id: 'tone', entryKind: 'rules', lacksBefore: false, blocks }])
    expect(shown({ mutations: [mutation, { op: 'remove', id: 'old' }] })).toHaveLength(2)
  })

  it('show the text of an entry as text, and the rest of it as JSON', () => {
    const options = { name: 'skill', config: { code: 'go()', timeout: 3 }, disabled: true }
    expect(shown({ mutation: { op: 'update', id: 'x', options } })).toMatchObject([
      {
        lacksBefore: true,
        blocks: [
          { kind: 'code', text: 'go()' },
          { kind: 'settings', text: '{\n  "timeout": 3,\n  "disabled": true\n}' },
        ],
      },
    ])
  })

  it.each([{}, { mutation: 'text' }, { mutations: { op: 'create' } }, { mutations: [null, 7] }])('are none in %j', (metrics) => {
    expect(shown(metrics)).toEqual([])
  })

  it('that lack everything are shown as far as they go', () => {
    expect(shown({ mutation: { options: 7 } })).toMatchObject([{ op: 'unknown', id: 'unnamed', entryKind: '', blocks: [] }])
  })

  it('of a known entry are compared with it; line endings alone are said to differ', () => {
    expect(after('a\nc\n')).toMatchObject([{ kind: 'diff', of: 'text', diff: { added: 1, removed: 1 } }])
    expect(after('a\r\nb')).toEqual([{ kind: 'note', text: 'Only the line endings differ.' }])
    expect(after('a\nb\n')).toEqual([{ kind: 'note', text: 'Unchanged.' }])
  })
})

describe('the files of two releases', () => {
  it('are listed as added, removed and changed, in the order of their paths', () => {
    const changes = filesBetween({ 'a.md': 'one', 'b.md': 'same', 'c.md': 'gone' }, { 'a.md': 'two', 'b.md': 'same', 'd.md': '' })
    expect(changes).toEqual([
      { path: 'a.md', kind: 'changed', before: 'one', after: 'two' },
      { path: 'c.md', kind: 'removed', before: 'gone', after: '' },
      { path: 'd.md', kind: 'added', before: '', after: '' },
    ])
    expect(filesSummary(changes)).toBe('1 file changed, 1 file added, 1 file removed')
  })

  it('may be called like a member that every object has', () => {
    expect(filesBetween({}, { constructor: 'x', toString: 'y' }).map(({ kind }) => kind)).toEqual(['added', 'added'])
  })

  it('that are the same are said to be', () => {
    expect(filesSummary(filesBetween({ a: 'x' }, { a: 'x' }))).toBe('no file differs')
  })
})
