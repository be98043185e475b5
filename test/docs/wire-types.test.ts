import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { WIRE_TYPES, wireTypes } from '../../scripts/wire-types.ts'

it("the client's wire types are those of the contract's schemas", () => {
  const printed = readFileSync(join(import.meta.dirname, '..', '..', WIRE_TYPES), 'utf8')
  expect(printed === wireTypes(), `${WIRE_TYPES} is stale; run: npm run docs`).toBe(true)
})
