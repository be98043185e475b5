import { expect, it } from 'vitest'
import type { Entry, Mutation } from '../../../src/contract/index.ts'
import { ruleOf } from './testing.ts'
import { editWords, isSameIdea } from './words.ts'

const PAGE = Array.from({ length: 200 }, (_, index) => `Line ${index} speaks of subject${index}.`).join('\n')
const entries: readonly Entry[] = [{ id: 'page', name: 'rules', config: { text: PAGE } }]
const pageWith = (line: string): Mutation => ({ op: 'update', id: 'page', options: { config: { text: `${PAGE}\n${line}` } } })

const settingOf = (value: number): Mutation => ({
  op: 'create',
  id: 's',
  options: { name: 'config', config: { data: { retries: value } } },
})

const same = (one: Mutation, other: Mutation): boolean => isSameIdea(editWords([one], entries), editWords([other], entries))

it('knows an edit again under another id, in other case and with other marks', () => {
  expect(same(ruleOf('a', 'Sort numbers by value, not as text.'), ruleOf('b', 'SORT numbers by value -- not as text'))).toBe(true)
})

it('distinguishes edits with different texts', () => {
  expect(same(ruleOf('a', 'Sort numbers by value.'), ruleOf('a', 'Keep every duplicate of a list.'))).toBe(false)
})

it('looks at what changes of a long page, not at the page', () => {
  expect(same(pageWith('Sort numbers by value.'), pageWith('Keep every duplicate of a list.'))).toBe(false)
  expect(same(pageWith('Sort numbers by value.'), pageWith('Sort numbers, by value!'))).toBe(true)
})

it('distinguishes adding from removing', () => {
  expect(same({ op: 'remove', id: 'page' }, ruleOf('copy', PAGE))).toBe(false)
})

it('finds no word in an edit that changes nothing', () => {
  expect(editWords([{ op: 'update', id: 'page', options: { config: { text: PAGE } } }], entries).size).toBe(0)
})

it('sees settings that are no text', () => {
  expect(same(settingOf(1), settingOf(2))).toBe(false)
})
