import { expect, test } from 'vitest'
import { createTokenBodySchema } from '../../src/contract/wire/index.ts'
import { tokenName } from './machine-token.ts'

test.each([
  ['laptop.example.com', 'pi', 'laptop-pi-0a1b2c3d'],
  ['', 'pi', 'machine-pi-0a1b2c3d'],
  ['"; rm -rf ~ #', 'pi', 'rm-rf-pi-0a1b2c3d'],
  ['two\nlines\u0000', "it's", 'two-lines-it-s-0a1b2c3d'],
  ['–Бук–', '…', 'machine-agent-0a1b2c3d'],
  ['_-_a', 'b', 'a-b-0a1b2c3d'],
  ['h'.repeat(300), 'a'.repeat(300), `${'h'.repeat(24)}-${'a'.repeat(24)}-0a1b2c3d`],
])('the token of the machine %j with the agent %j has a name that the service takes', (host, adapter, name) => {
  expect(tokenName(host, adapter, '0a1b2c3d')).toBe(name)
  expect(createTokenBodySchema.parse({ name, role: 'agent', scenarios: ['s'] }).name).toBe(name)
})
