/** Removing a scenario under those who still use it. */
import { expect, it } from 'vitest'
import { makePlace } from '../support/place.ts'
import { answerPlainly } from '../support/upstream.ts'
import { send } from '../support/world.ts'

it.each([false, true])(
  'an answer in flight (stream: %s) when its scenario is removed goes into no later one of that name [delete.name-free]',
  async (stream) => {
    const place = await makePlace()
    const { address } = await place.start()
    const headers = { 'x-svc-scenario': 'again' }
    const exchange = () => send(address, 'POST', '/v1/chat/completions', { headers, body: { model: 'm', messages: [], stream } })
    await exchange()
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    place.upstream.answer(async (received, response) => {
      asked.resolve()
      await gate.promise
      answerPlainly(received, response)
    })
    const late = exchange().then(
      ({ status }) => status,
      () => 'cut',
    )
    await asked.promise
    expect((await send(address, 'DELETE', '/svc/scenarios/again', {})).status).toBe(200)
    expect((await send(address, 'POST', '/svc/scenarios', { body: { name: 'again' } })).status).toBe(201)
    gate.resolve()
    expect(await late).toBe(stream ? 'cut' : 404)
    expect((await send(address, 'GET', '/svc/scenarios/again/records', {})).json['records']).toEqual([])
  },
)
