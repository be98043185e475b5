/** The log line of a stream that broke off says why, and under which receipt its beginning was kept. */
import { expect, it } from 'vitest'
import { chatFrames } from '../support/upstream.ts'
import { textAt } from '../spec/support/helpers.ts'
import { ownWorld } from '../support/world.ts'

it('a stream that the upstream cuts is logged with its cause and its receipt', async () => {
  const here = await ownWorld()
  here.upstream.answer((_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chatFrames[0])
    response.write(chatFrames[1], () => response.destroy())
  })
  const body = { model: 'm', messages: [], stream: true }
  await here.post('/v1/chat/completions', body, { 'x-svc-scenario': 'broken' }).catch(() => undefined)
  await expect.poll(() => here.log.filter(({ event }) => event === 'request').length).toBe(1)
  const line = here.log.find(({ event }) => event === 'request') ?? {}
  expect(line).toMatchObject({ scenario: 'broken', cause: expect.stringContaining('broke off') })
  const kept = await here.get(`/svc/scenarios/broken/records/${textAt(line, 'receipt')}`)
  expect(kept.json['payload']).toMatchObject({ response: { complete: false } })
})
