/** Shutdown: pending requests are answered, nothing acknowledged is lost, and a second signal stops at once. */
import { request } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { serveCommand } from '../support/command.ts'
import { makePlace } from '../support/place.ts'
import { answerPlainly, chatFrames, type Upstream } from '../support/upstream.ts'
import { send } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'stopping' }
const chat = '/v1/chat/completions'
const streamed = { model: 'm', messages: [], stream: true }

/** The one record of the scenario, read after the service is gone. */
async function onlyRecord(records: string): Promise<JsonObject> {
  const store = await sqlite.plugin.make({ directory: records })
  try {
    const [row, ...others] = await store.scenario('stopping').records({ after: 0, limit: 10 })
    expect(others).toEqual([])
    const stored = await store.scenario('stopping').get(row?.agent_record_id ?? '')
    const payload: JsonObject = JSON.parse(Buffer.from(stored?.payload ?? '{}').toString())
    return { ...payload, agent_record_id: row?.agent_record_id ?? null }
  } finally {
    await store.close()
  }
}

/** Sends the request and resolves with its first bytes; `rest` resolves with all of it, or rejects when it was cut. */
function beginStream(address: string): Promise<{ readonly rest: Promise<string> }> {
  const { hostname, port } = new URL(address)
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly rest: Promise<string> }>()
  const whole = Promise.withResolvers<string>()
  whole.promise.catch(() => undefined)
  const asked = request({ hostname, port, method: 'POST', path: chat, headers: scenario, agent: false }, (response) => {
    let text = ''
    response.on('data', (part: Buffer) => {
      text += part.toString()
      resolve({ rest: whole.promise })
    })
    response.on('end', () => whole.resolve(text))
    response.on('error', (error) => whole.reject(error))
  })
  asked.on('error', reject)
  asked.end(JSON.stringify(streamed))
  return promise
}

/** Answers with the first frames and, once the gate opens, with the others. */
function streamThrough(upstream: Upstream): { open(): void } {
  const gate = Promise.withResolvers<void>()
  upstream.answer(async (_received, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chatFrames.slice(0, 2).join(''))
    await gate.promise
    response.end(chatFrames.slice(2).join(''))
  })
  return { open: () => gate.resolve() }
}

describe('a service asked to stop', () => {
  it('finishes a stream in flight, with its receipt, and ends with code 0 [decisions.streams-durable]', async () => {
    const { upstream, records, args } = await makePlace()
    const gate = streamThrough(upstream)
    const { command, address } = await serveCommand(args())
    const { rest } = await beginStream(address)
    command.signal('SIGTERM')
    await command.said('stopping')
    gate.open()
    const text = await rest
    const receipt = /"svc.agent_record_id":"([0-9a-f]{32})"/.exec(text)?.[1]
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await command.ended).toMatchObject({ code: 0 })
    expect(await onlyRecord(records)).toMatchObject({ agent_record_id: receipt, response: { complete: true } })
  })

  it('finishes a whole answer in flight, with its receipt, and takes no new connection', async () => {
    const { upstream, records, args } = await makePlace()
    const gate = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    upstream.answer(async (received, response) => {
      asked.resolve()
      await gate.promise
      answerPlainly(received, response)
    })
    const { command, address } = await serveCommand(args())
    const answer = send(address, 'POST', chat, { headers: scenario, body: { model: 'm', messages: [] } })
    await asked.promise
    command.signal('SIGTERM')
    await command.said('stopping')
    await expect
      .poll(() =>
        send(address, 'GET', '/healthz', {}).then(
          () => 'answered',
          () => 'refused',
        ),
      )
      .toBe('refused')
    gate.resolve()
    const { status, headers } = await answer
    expect(status).toBe(200)
    expect(await command.ended).toMatchObject({ code: 0 })
    expect(await onlyRecord(records)).toMatchObject({ agent_record_id: headers['x-svc-agent-record-id'] })
  })

  it('ends at once on a second signal', async () => {
    const { upstream, args } = await makePlace()
    streamThrough(upstream)
    const { command, address } = await serveCommand(args())
    const { rest } = await beginStream(address)
    command.signal('SIGTERM')
    await command.said('stopping')
    // Two signals at once count as one; a later one is the second.
    const again = setInterval(() => command.signal('SIGTERM'), 50)
    onTestFinished(() => clearInterval(again))
    expect(await command.ended).toMatchObject({ code: 143 })
    await expect(rest).rejects.toThrow()
  })

  it('cuts an endless stream after the grace, and keeps what came of it as incomplete [decisions.streams-broken]', async () => {
    const { upstream, records, start } = await makePlace()
    streamThrough(upstream)
    const service = await start({ graceSeconds: 0.05 })
    const { rest } = await beginStream(service.address)
    await service.close()
    await expect(rest).rejects.toThrow()
    const { response } = await onlyRecord(records)
    expect(response).toMatchObject({ stream: true, complete: false, choices: [{ message: { content: 'hello' } }] })
    await expect.poll(() => upstream.open).toBe(0)
  })
})
