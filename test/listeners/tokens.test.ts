/** Tokens with several listener threads: in force in all of them when the answer comes, and the audit knows where a request came from. */
import { expect, it } from 'vitest'
import { sharedWorld } from '../support/world.ts'
import { bearer, named, rowsOf, textAt } from '../spec/support/helpers.ts'

const TOKEN = 'admin-token-of-the-test'
const ADMIN = bearer(TOKEN)
const REQUESTS = 24

const here = sharedWorld({ backend: 'sqlite', settings: { 'svc.token': TOKEN, 'svc.listeners': 3 } })

/** Each on a connection of its own, so that every thread answers some. */
async function statuses(token: string, scenario: string): Promise<ReadonlySet<number>> {
  const headers = { ...bearer(token), ...named(scenario) }
  const body = { model: 'm', messages: [] }
  const answers = Array.from({ length: REQUESTS }, () => here.post('/v1/chat/completions', body, headers))
  return new Set((await Promise.all(answers)).map(({ status }) => status))
}

it('a token opens every thread once it is made, its own scenarios alone, and none once it is revoked [access.tokens] [access.revoked]', async () => {
  await here.post('/svc/scenarios', { name: 'warm' }, ADMIN)
  expect(await statuses(TOKEN, 'warm')).toEqual(new Set([200]))
  const made = await here.post('/svc/tokens', { name: 'one', role: 'serve', scenarios: ['warm'] }, ADMIN)
  const token = textAt(made.json, 'token')
  expect(await statuses(token, 'warm')).toEqual(new Set([200]))
  expect(await statuses(token, 'cold')).toEqual(new Set([401]))
  const rotated = textAt((await here.post('/svc/tokens/one/rotate', {}, ADMIN)).json, 'token')
  expect(await statuses(token, 'warm')).toEqual(new Set([401]))
  expect(await statuses(rotated, 'warm')).toEqual(new Set([200]))
  await here.ask('DELETE', '/svc/tokens/one', { headers: ADMIN })
  expect(await statuses(rotated, 'warm')).toEqual(new Set([401]))
})

it('an entry of the audit has the address of the client, whatever the client says of it [access.audit]', async () => {
  await here.post('/svc/scenarios', { name: 'from' }, { ...ADMIN, 'x-svc-relayed-from': '203.0.113.7', 'x-forwarded-for': '203.0.113.8' })
  const entries = rowsOf(await here.get('/svc/audit?limit=100', ADMIN), 'audit')
  expect(entries.find(({ scenario }) => scenario === 'from')).toMatchObject({ from: '127.0.0.1', action: 'createScenario' })
})
