import { expect, it } from 'vitest'
import { mutationsOf } from './mutations.ts'

it('reads one mutation or a list of them', () => {
  const mutation = { op: 'create', id: 'tone', options: { name: 'rules', config: { text: 'Be brief.' } } }
  expect(mutationsOf({ mutation })).toEqual([{ op: 'create', id: 'tone', kind: 'rules', text: 'Be brief.', isCode: false, rest: null }])
  expect(mutationsOf({ mutations: [mutation, { op: 'remove', id: 'old' }] })).toHaveLength(2)
})

it('shows the text of an entry as text, and the rest of it as JSON', () => {
  const options = { name: 'skill', config: { code: 'go()', timeout: 3 }, disabled: true }
  expect(mutationsOf({ mutation: { op: 'update', id: 'x', options } })).toEqual([
    { op: 'update', id: 'x', kind: 'skill', text: 'go()', isCode: true, rest: '{\n  "timeout": 3,\n  "disabled": true\n}' },
  ])
})

it.each([{}, { mutation: 'text' }, { mutations: { op: 'create' } }, { mutations: [null, 7] }])('finds none in %j', (metrics) => {
  expect(mutationsOf(metrics)).toEqual([])
})

it('says what it can of a mutation that lacks everything', () => {
  expect(mutationsOf({ mutation: { options: 7 } })).toEqual([
    { op: 'unknown', id: 'unnamed', kind: null, text: null, isCode: false, rest: null },
  ])
})
