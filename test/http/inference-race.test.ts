/** Calls that lose against weight updates are retried for a while, then refused. */
import { beforeEach, describe, expect, it } from 'vitest'
import { races } from '../fixtures/racing-runtime.ts'
import { sendAndListen } from '../support/client.ts'
import { recordsOf } from '../support/kept.ts'
import { until } from '../support/wait.ts'
import { sharedWorld, type World } from '../support/world.ts'

const here = sharedWorld({ settings: { 'inference.runtime': './test/fixtures/racing-runtime.ts', 'inference.retry_timeout_s': 0.5 } })
beforeEach(() => {
  races.attempts = 0
})

const ask = (): ReturnType<World['post']> => here.post('/v1/chat/completions', {}, { 'x-svc-scenario': 'race' })

describe('a call that loses to a weight update', () => {
  it('is tried again until it is answered, and recorded once [decisions.inference-race]', async () => {
    races.losses = 2
    expect((await ask()).status).toBe(200)
    expect(races.attempts).toBe(3)
    expect(await recordsOf(here, 'race')).toHaveLength(1)
  })

  it('until its deadline ends with 503 and no record [inference.rule-8] [errors.503-race] [decisions.inference-race]', async () => {
    races.losses = Number.POSITIVE_INFINITY
    const stored = (await recordsOf(here, 'race')).length
    const refused = { status: 503, headers: { 'retry-after': '1' }, json: { error: { code: 'weight_update_race' } } }
    expect(await ask()).toMatchObject(refused)
    expect(races.attempts).toBeGreaterThan(1)
    expect(await recordsOf(here, 'race')).toHaveLength(stored)
  })

  it('is not tried again once its client has left, which is no failure of the service', async () => {
    await here.restart({ 'inference.retry_timeout_s': 600, 'svc.max_loaded_scenarios': 1 })
    races.losses = Number.POSITIVE_INFINITY
    const sent = sendAndListen(here.address, '/v1/chat/completions', {}, { 'x-svc-scenario': 'left' })
    await until(() => races.attempts > 0)
    sent.drop()
    // The only slot for a loaded scenario is free again when no request uses it.
    await until(async () => (await here.post('/svc/scenarios', { name: 'next' })).status < 300)
    expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
    expect(here.log.find(({ scenario }) => scenario === 'left')).toMatchObject({ status: 499 })
  })
})
