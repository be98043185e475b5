/** Names of the product and of what lies on disk stand in one file, so that a rename is one commit. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const NAMES = 'src/contract/names.ts'
/** A header or folder of ours, spelt inside a string literal. Routes are spelt where they are listed. */
const SPELT = /['"`][^'"`\n]*(?:x-svc-[a-z]|refs\/(?:svc|reef)|\.reef-|\.reef\/)/

it(`header and on-disk names are spelt in ${NAMES} alone [decisions.names]`, () => {
  const files = globSync(['src/**/*.ts', 'plugins/**/*.ts']).filter((file) => !file.endsWith('.test.ts') && file !== NAMES)
  expect(files.length).toBeGreaterThan(50)
  const spelling = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => (SPELT.test(line) && !/^\s*(\/\/|\*|\/\*\*)/.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  )
  expect(spelling).toEqual([])
})
