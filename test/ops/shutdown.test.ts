/** Shutdown: pending requests are answered, nothing acknowledged is lost, and a second signal stops at once. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { openStream, type Open } from '../support/client.ts'
import { serveCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { makePlace } from '../support/place.ts'
import { answerPlainly, beginFrames, chatFrames, type Upstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { send } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'stopping' }
const chat = '/v1/chat/completions'

/** The one record of the scenario, read after the service is gone. */
async function onlyRecord(records: string): Promise<JsonObject> {
  const store = await sqlite.plugin.make({ directory: records })
  onTestFinished(() => store.close())
  const [row, ...others] = await store.scenario('stopping').records({ after: 0, limit: 10 })
  expect(others).toEqual([])
  const stored = await store.scenario('stopping').get(row?.agent_record_id ?? '')
  const payload: JsonObject = JSON.parse(Buffer.from(stored?.payload ?? '{}').toString())
  return { ...payload, agent_record_id: row?.agent_record_id ?? null }
}

/** A stream whose first bytes have come. */
async function beginStream(address: string): Promise<Open> {
  const stream = await openStream(address, chat, { model: 'm', messages: [], stream: true }, scenario)
  await stream.seen('data: ')
  return stream
}

/** Answers with the first frames and, once the gate opens, with the others. */
function streamThrough(upstream: Upstream): () => void {
  const gate = Promise.withResolvers<void>()
  upstream.answer(async (_received, response) => {
    beginFrames(response, chatFrames.slice(0, 2))
    await gate.promise
    response.end(chatFrames.slice(2).join(''))
  })
  return gate.resolve
}

it('a hangup reads the configuration again, and a stream goes on', async () => {
  const { upstream, args } = await makePlace()
  const finish = streamThrough(upstream)
  const { command, address } = await serveCommand(args())
  const stream = await beginStream(address)
  command.signal('SIGHUP')
  await command.said('"event":"reloaded"')
  finish()
  expect(await stream.over).toBe('ended')
  expect(stream.text.endsWith('data: [DONE]\n\n')).toBe(true)
  command.signal('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 0 })
})

it('hangups with a broken file in the middle of a stream change nothing, and the next good file is taken over', async () => {
  const { upstream, args } = await makePlace()
  const finish = streamThrough(upstream)
  const file = join(temporaryFolder(), 'svc.yaml')
  const good = (mode: string): void => writeFileSync(file, `recording: { mode: ${mode} }\n`)
  good('full')
  const { command, address } = await serveCommand(['-c', file, ...args()])
  const stream = await beginStream(address)
  const failures = (): number => command.err.split('"event":"reload_failed"').length - 1
  const broken = ['recording: { mode: [', 'recording: { mode: loud }\n', '\u0000\uFFFD{{{', 'recordings: {}\n', '']
  for (const [at, text] of broken.slice(0, -1).entries()) {
    writeFileSync(file, text)
    command.signal('SIGHUP')
    await until(() => failures() === at + 1)
  }
  rmSync(file)
  command.signal('SIGHUP')
  await until(() => failures() === broken.length)
  expect((await send(address, 'GET', '/healthz', {})).status).toBe(200)
  good('metadata')
  // Several at once, of which each may find the file as it is.
  for (const _ of [1, 2, 3]) command.signal('SIGHUP')
  await command.said('"applied":["recording.mode"]')
  finish()
  expect(await stream.over).toBe('ended')
  expect(stream.text.endsWith('data: [DONE]\n\n')).toBe(true)
  upstream.answer(answerPlainly)
  const next = await send(address, 'POST', chat, { headers: scenario, body: { model: 'm', messages: [] } })
  expect([next.status, next.headers['x-svc-recording']]).toEqual([200, 'metadata'])
  command.signal('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 0 })
})

describe('a service asked to stop', () => {
  it('finishes a stream in flight, with its receipt, and ends with code 0 [decisions.streams-durable]', async () => {
    const { upstream, records, args } = await makePlace()
    const finish = streamThrough(upstream)
    const { command, address } = await serveCommand(args())
    const stream = await beginStream(address)
    command.signal('SIGTERM')
    await command.said('stopping')
    finish()
    expect(await stream.over).toBe('ended')
    const receipt = /"svc.agent_record_id":"([0-9a-f]{32})"/.exec(stream.text)?.[1]
    expect(stream.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await command.ended).toMatchObject({ code: 0 })
    expect(await onlyRecord(records)).toMatchObject({ agent_record_id: receipt, response: { complete: true } })
  })

  it('finishes a whole answer in flight, with its receipt, and takes no new connection', async () => {
    const { upstream, records, args } = await makePlace()
    const release = upstream.hold()
    const { command, address } = await serveCommand(args())
    const answer = send(address, 'POST', chat, { headers: scenario, body: { model: 'm', messages: [] } })
    await until(() => upstream.open === 1)
    command.signal('SIGTERM')
    await command.said('stopping')
    await until(async () => (await send(address, 'GET', '/healthz', {}).catch(() => null)) === null)
    release()
    const { status, headers } = await answer
    expect(status).toBe(200)
    expect(await command.ended).toMatchObject({ code: 0 })
    expect(await onlyRecord(records)).toMatchObject({ agent_record_id: headers['x-svc-agent-record-id'] })
  })

  it('ends at once on a second signal', async () => {
    const { upstream, args } = await makePlace()
    streamThrough(upstream)
    const { command, address } = await serveCommand(args())
    const stream = await beginStream(address)
    command.signal('SIGTERM')
    await command.said('stopping')
    // Two signals at once count as one; a later one is the second.
    const again = setInterval(() => command.signal('SIGTERM'), 50)
    onTestFinished(() => clearInterval(again))
    expect(await command.ended).toMatchObject({ code: 143 })
    expect(await stream.over).toBe('cut')
  })

  it('cuts an endless stream after the grace, and keeps what came of it as incomplete [decisions.streams-broken]', async () => {
    const place = await makePlace()
    const { upstream, records } = place
    streamThrough(upstream)
    const service = await place.start({ graceSeconds: 0.05 })
    const stream = await beginStream(service.address)
    await service.close()
    expect(await stream.over).toBe('cut')
    const { response } = await onlyRecord(records)
    expect(response).toMatchObject({ stream: true, complete: false, choices: [{ message: { content: 'hello' } }] })
    await expect.poll(() => upstream.open).toBe(0)
  })
})
