import { describe, expect, it } from 'vitest'
import type { Entry } from '../contract/index.ts'
import { powersIn, powersOf } from './powers.ts'
import { powerMetrics } from './review.ts'
import { entry, powersAdapter, set } from './testing/powers.ts'

const powers = (before: readonly Entry[], after: readonly Entry[]): readonly string[] => powersIn(powersOf(before, after, powersAdapter))

const ALL = ['orders', 'hidden', 'reads', 'runs', 'grants', 'reaches']

describe('the powers of a change', () => {
  it.each<[what: string, before: Entry[], after: Entry[], powers: string[]]>([
    ['nothing', [set({ theme: 'a' })], [set({ theme: 'a' })], []],
    ['a setting of words', [], [set({ theme: 'dark' })], ['words']],
    ['a setting that is not listed', [], [set({ other: 1 })], ALL],
    ['a setting below a listed one', [], [set({ permission: { bash: 'allow' } })], ['grants']],
    ['a setting that is taken back', [set({ permission: { bash: 'deny' } })], [], ['grants']],
    ['a setting by any name', [], [set({ tools: { web: true } })], ['reaches']],
    ['a setting whose name is listed beside any name', [], [set({ tools: { todo: true } })], ['words']],
    ['a setting with a dot in its name', [], [set({ 'tools.todo': true })], ALL],
    ['a prototype name', [], [set(JSON.parse('{"__proto__": {"theme": 1}}'))], ALL],
    ['a constructor', [], [set({ constructor: 1 })], ALL],
    ['a list below', [], [set({ servers: { x: { command: ['a', 'b'] } } })], ['runs']],
    [
      'the same entries in another order, where the last one counts',
      [set({ permission: 1 }, 'a'), set({ permission: 2 }, 'b')],
      [set({ permission: 2 }, 'b'), set({ permission: 1 }, 'a')],
      ['grants'],
    ],
    ['a disabled setting', [], [entry('set', 'config', { data: { permission: 1 } }, { disabled: true })], ['grants']],
    [
      'a setting that is enabled',
      [entry('set', 'config', { data: { permission: 1 } }, { disabled: true })],
      [set({ permission: 1 })],
      ['grants'],
    ],
    ['a kind that is not listed', [], [entry('x', 'native_graph', { name: 'x' })], ALL],
    ['a prototype name as kind', [], [entry('x', 'constructor', {})], ALL],
    ['code', [], [entry('x', 'skill', { name: 'x', code: '1' })], ['runs']],
    ['config without data', [], [entry('x', 'config', { target: 'primary' })], ALL],
    ['a rule', [], [entry('x', 'rules', { text: 'Answer with a number.' })], ['words']],
    ['a front matter field of words', [], [entry('x', 'skill', { name: 'x', text: '---\ndescription: sums\n---\nAdd.' })], ['words']],
    [
      'a front matter field that grants',
      [],
      [entry('x', 'skill', { name: 'x', text: '---\nallowed-tools: Edit\n---\nAdd.' })],
      ['orders', 'grants'],
    ],
    ['a front matter field that is not listed', [], [entry('x', 'skill', { name: 'x', text: '---\nhooks: 1\n---\nAdd.' })], ALL],
    ['front matter after a blank line', [], [entry('x', 'skill', { name: 'x', text: '\n---\ndescription: sums\n---\nAdd.' })], ALL],
    ['an import', [], [entry('x', 'rules', { text: 'See @notes' })], ['orders', 'reads']],
    [
      'an old import beside a new line',
      [entry('x', 'rules', { text: 'See @notes' })],
      [entry('x', 'rules', { text: 'See @notes\nAdd.' })],
      ['words'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(powers(before, after)).toEqual(expected)
  })

  it('an adapter without data knows nothing [trust.unknown]', () => {
    const { powers: _, ...unknown } = powersAdapter
    expect(powersIn(powersOf([], [entry('x', 'rules', { text: 'Add.' })], unknown))).toEqual(ALL)
  })
})

describe('a row', () => {
  it('lists reasons of every power, however many one has, and says how many there are and which are held', () => {
    const orders = Array.from({ length: 1000 }, (_, at) => ({ power: 'orders', entry: `e${at}`, why: 'w'.repeat(1000) }) as const)
    const metrics = powerMetrics([...orders, { power: 'runs', entry: 'x\u202e', why: 'it holds code' }], ['words', 'orders'])
    expect(metrics).toMatchObject({ powers: ['orders', 'runs'], held_powers: ['runs'], power_reason_counts: { orders: 1000, runs: 1 } })
    expect(metrics['power_reasons']).toContainEqual({ power: 'runs', entry: 'x[U+202E]', why: 'it holds code' })
    expect(JSON.stringify(metrics).length).toBeLessThan(8000)
  })
})
