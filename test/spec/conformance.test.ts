/** Every rule has a test, every tag names a rule, and the page that says so is up to date. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CONFORMANCE_PAGE, conformancePage, findHolders } from './conformance.ts'
import { rules } from './rules.ts'

const holders = findHolders()

it('every rule is held by a test that names it in its title', () => {
  const bare = rules.filter(({ id }) => !holders.has(id)).map(({ id, rule }) => `${id}: ${rule}`)
  expect(bare).toEqual([])
})

it('every tag names a rule of the table', () => {
  const known = new Set(rules.map(({ id }) => id))
  const stray = [...holders].filter(([id]) => !known.has(id)).map(([id, tests]) => `${id} in ${tests[0]?.file}`)
  expect(stray).toEqual([])
})

it('an id stands for one rule', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
})

it(`${CONFORMANCE_PAGE} is up to date (else: npm run docs)`, () => {
  expect(readFileSync(CONFORMANCE_PAGE, 'utf8')).toBe(conformancePage())
})
