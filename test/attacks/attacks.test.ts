/** The count of attacks: no file is forgotten, nothing that did not run counts as held, and the page says what the lists say. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CLASSES } from './classes.ts'
import { countAttacks, readResults, type AttackCount } from './count.ts'
import { HOLES } from './holes.ts'
import { LIMITS } from './limits.ts'
import { SECURITY_PAGE, securityPage } from './page.ts'
import { countForPage, countForTerminal } from './table.ts'
import type { AttackClass, KnownLimit } from './types.ts'

const root = join(import.meta.dirname, '../..')
const NAMED_SO = /attack|hostile|escape|injection/
const HERE = 'test/attacks/'

describe('the lists', () => {
  const listed = new Set(CLASSES.flatMap(({ files }) => files.map(({ file }) => file)))

  it('hold every test file whose name says that it attacks', () => {
    const files = globSync('{src,plugins,client/src,agent/src,native/src,console/src,test,scripts,learn}/**/*.test.ts', { cwd: root })
    const named = files.filter((file) => NAMED_SO.test(file.split('/').at(-1) ?? '') && !file.startsWith(HERE))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((file) => !listed.has(file))).toEqual([])
  })

  it('name files that are there', () => {
    const shown = LIMITS.flatMap(({ shownBy }) => (shownBy === undefined ? [] : [shownBy.file]))
    expect([...listed, ...shown].filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('hold limits of known classes, and a test for every hole', () => {
    const names = new Set(CLASSES.map(({ name }) => name))
    expect(LIMITS.filter(({ of }) => !names.has(of))).toEqual([])
    expect(HOLES.filter(({ tests }) => tests.length === 0)).toEqual([])
  })
})

/** A row of the table of what was tried; the classes are named in others too. */
const COUNTED = /(?:\| \d+ ){4}\|$/

describe('the page', () => {
  const page = readFileSync(join(root, SECURITY_PAGE), 'utf8')

  it('holds the limits and the holes as they are listed: npm run docs', () => {
    expect(page).toBe(securityPage())
  })

  it('counts every class, and at least what it must have: npm run test:attacks -- --page', () => {
    const rows = CLASSES.map(({ name, least }) => {
      const line = page.split('\n').find((each) => each.startsWith(`| ${name} |`) && COUNTED.test(each)) ?? ''
      const [, , , tried = '', held = ''] = line.split('|').map((cell) => cell.trim())
      return { name, isCounted: Number(tried) >= least && held === tried }
    })
    expect(rows.filter(({ isCounted }) => !isCounted)).toEqual([])
  })
})

const FILE = 'test/a.test.ts'
const attacks: AttackClass = { name: 'a', tries: 'something', least: 1, files: [{ file: FILE, titles: /^bad/, except: /good$/ }] }

type Row = readonly [title: string, status: string]

function counted(
  rows: readonly Row[],
  { whole = 'passed', limits = [] as readonly KnownLimit[], least = 1, leftOut = new Map<string, string>() } = {},
): AttackCount {
  const assertionResults = rows.map(([title, status]) => ({ ancestorTitles: ['bad'], title, status }))
  const report = JSON.stringify({ testResults: [{ name: join(root, FILE), status: whole, assertionResults }] })
  const results = rows.length === 0 && whole === 'passed' ? new Map() : readResults(root, [report])
  return countAttacks(results, { classes: [attacks], limits, least, leftOut })
}

const limit: KnownLimit = { of: 'a', what: 'w', why: 'y', defence: 'd', shownBy: { file: FILE, titles: /one/ } }

describe('a count', () => {
  it('holds what passed, and leaves out ordinary cases', () => {
    const count = counted([
      ['one', 'passed'],
      ['good', 'passed'],
    ])
    expect(count).toMatchObject({ tried: 1, held: 1, problems: [] })
    expect(countForTerminal(count)).toContain('a                   1     1')
    expect(countForPage(count, [attacks])).toContain('| a | something | 1 | 1 | 0 | 0 |')
  })

  it.each<[string, readonly Row[], RegExp]>([
    [
      'an attack that was not held',
      [
        ['one', 'passed'],
        ['two', 'failed'],
      ],
      /not held: test\/a\.test\.ts: bad > two/,
    ],
    [
      'an attack that is still running',
      [
        ['one', 'passed'],
        ['two', 'pending'],
      ],
      /not held/,
    ],
    [
      'an attack that nobody wrote',
      [
        ['one', 'passed'],
        ['two', 'todo'],
      ],
      /not held/,
    ],
    ['a filter that matches nothing', [['good', 'passed']], /no such attack/],
    ['a file that did not run', [], /no such attack/],
    ['too few that ran', [['one', 'skipped']], /0 attacks ran, and there must be 1/],
  ])('fails for %s', (_title, rows, problem) => {
    expect(counted(rows).problems.join('\n')).toMatch(problem)
  })

  it('fails for attacks that a failed file skipped, since its preparation failed', () => {
    expect(counted([['one', 'skipped']], { whole: 'failed' })).toMatchObject({ tried: 1, held: 0 })
  })

  it('fails for fewer attacks than all classes must have together', () => {
    expect(counted([['one', 'passed']], { least: 2 }).problems).toEqual(['1 attacks ran, and there must be 2'])
  })

  it('never counts as held what needs something else than this machine has', () => {
    const count = counted([
      ['one', 'passed'],
      ['needs root', 'skipped'],
    ])
    expect(count).toMatchObject({ tried: 1, held: 1, problems: [] })
    expect(countForTerminal(count)).toContain('  test/a.test.ts: bad > needs root')
    expect(countForPage(count, [attacks])).toContain('- test/a.test.ts: bad > needs root')
  })

  it('says which files a short form left out', () => {
    const { classes, problems } = counted([], { leftOut: new Map([[FILE, 'long']]) })
    expect(classes[0]).toMatchObject({ tried: 0, notRun: [`${FILE}: long`] })
    expect(problems).not.toContainEqual(expect.stringContaining('no such attack'))
  })

  it('fails for a known limit that is no longer shown, or is of no class', () => {
    expect(counted([['one', 'passed']], { limits: [limit] })).toMatchObject({ classes: [{ limits: 1 }], problems: [] })
    expect(counted([['two', 'passed']], { limits: [limit] }).problems).toEqual([expect.stringContaining('not shown any more')])
    expect(counted([['one', 'passed']], { limits: [{ ...limit, of: 'b' }] }).problems).toEqual([expect.stringContaining('of no class')])
  })
})
