import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { table } from './table.ts'

const COLUMNS = [{ title: 'NAME', least: 6 }, { title: 'N', isNumber: true }, { title: 'NOTHING' }, { title: 'TEXT', least: 8 }] as const
const ROWS = [
  ['short', '1', '', { text: 'good', tone: 'good' }],
  ['a name that is long', '1234', '', 'some words that say something'],
] as const
const wide = { width: Infinity, colours: false }

test('columns are aligned, and one that says nothing is left out', () => {
  expect(table(COLUMNS, ROWS, wide).split('\n')).toEqual([
    'NAME                    N  TEXT',
    'short                   1  good',
    'a name that is long  1234  some words that say something',
  ])
})

test.each([60, 50, 40, 30, 22, 14])('%d places are enough', (width) => {
  for (const line of table(COLUMNS, ROWS, { ...wide, width }).split('\n')) expect(line.length).toBeLessThanOrEqual(width)
})

test('what gives way ends in an ellipsis; after that the columns at the right go', () => {
  expect(table(COLUMNS, ROWS, { ...wide, width: 30 }).split('\n')[2]).toBe('a name tha…  1234  some words…')
  expect(table(COLUMNS, ROWS, { ...wide, width: 14 }).split('\n')[2]).toBe('a name …  1234')
})

test('a cell may be of any length', () => {
  const [, line = ''] = table([{ title: 'TEXT', least: 8 }, { title: 'N' }], [['x'.repeat(1_000_000), '1']], { ...wide, width: 40 }).split(
    '\n',
  )
  expect(line).toBe(`${'x'.repeat(36)}…  1`)
})

test('rows may be any number', () => {
  const rows = Array.from({ length: 200_000 }, (_, at) => [String(at)])
  expect(table([{ title: 'N', isNumber: true }], rows, wide).split('\n').length).toBe(200_001)
})

test('colours do not count, and are there only when they are wanted', () => {
  const painted = table(COLUMNS, ROWS, { ...wide, colours: true })
  expect(painted).toContain('\u001b[32mgood\u001b[0m')
  expect(stripVTControlCharacters(painted)).toBe(table(COLUMNS, ROWS, wide))
})
