import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allKeys } from './keys.ts'
import { configJsonSchema, configReference } from './reference.ts'

test('docs/configuration.md is up to date (else: npm run docs)', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  expect(page === configReference(), 'docs/configuration.md is stale; run: npm run docs').toBe(true)
})

test('every key has a line that describes it', () => {
  expect(allKeys().filter(({ description }) => description === '')).toEqual([])
})

test('the page names every key', () => {
  const page = configReference()
  expect(allKeys().filter(({ key }) => !page.includes(`| \`${key}\` |`))).toEqual([])
})

test('the JSON schema requires nothing and refuses what it does not know [config.schema]', () => {
  expect(configJsonSchema()).toMatchObject({ type: 'object', additionalProperties: false, properties: { svc: { type: 'object' } } })
  expect(configJsonSchema()).not.toHaveProperty('required')
})
