/** A listener thread that ends takes its own connections with it, is replaced, and the operator is told. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { startService } from '../../src/main.ts'
import { openStream } from '../support/client.ts'
import { temporaryFolder } from '../support/folder.ts'
import { argumentsOf, dataPlaceIn, loadArguments, settingsOf } from '../support/settings.ts'
import { beginFrames, chatFrames, startUpstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { send } from '../support/world.ts'

const CHAT = '/v1/chat/completions'
const HEADERS = { 'x-svc-scenario': 'lived' }
const STREAMS = 24
const DYING = new URL('../fixtures/dying-listener.ts', import.meta.url)

it.each(['throw', 'exit'])('by %s: other streams go on, the thread is replaced, health, log and numbers say so', async (way) => {
  const folder = temporaryFolder()
  const file = join(folder, 'way')
  vi.stubEnv('DYING_LISTENER', file)
  onTestFinished(() => void vi.unstubAllEnvs())
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const log: JsonObject[] = []
  const settings = { ...settingsOf(dataPlaceIn(folder), upstream.url), 'svc.listeners': 2 }
  const service = await startService(await loadArguments(argumentsOf(settings)), {
    log: { write: (level, event, fields) => void log.push({ level, event, ...fields }), flush: () => undefined },
    listenerThread: DYING,
  })
  onTestFinished(() => service.close())
  const { address } = service
  const ask = () => send(address, 'POST', CHAT, { headers: HEADERS, body: { model: 'm', messages: [] } })
  expect((await ask()).status).toBe(200)

  const gate = Promise.withResolvers<void>()
  upstream.answer(async (_, response) => {
    beginFrames(response, chatFrames.slice(0, 2))
    await gate.promise
    response.end(chatFrames.slice(2).join(''))
  })
  const body = { model: 'm', messages: [], stream: true }
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(address, CHAT, body, HEADERS)))
  await Promise.all(streams.map((stream) => stream.seen('data: ')))
  writeFileSync(file, way)
  await until(() => log.some(({ event }) => event === 'listener_lost'))
  expect((await send(address, 'GET', '/healthz', {})).json).toEqual({ ok: true, listeners: { live: 1, wanted: 2 } })
  await until(() => log.some(({ event }) => event === 'listener_replaced'))
  gate.resolve()
  const ends = await Promise.all(streams.map(({ over }) => over))
  expect(new Set(ends)).toEqual(new Set(['cut', 'ended']))

  const { json, status } = await send(address, 'GET', '/healthz', {})
  expect([status, json]).toEqual([200, { ok: true }])
  const metrics = (await send(address, 'GET', '/metrics', {})).text
  expect(metrics).toContain('\nsvc_listeners_lost_total 1\n')
  expect(metrics).toContain('\nsvc_listeners 2\n')
  expect(metrics).toContain('\nsvc_requests_in_flight 1\n')
  upstream.answer((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}'))
  const answers = await Promise.all(Array.from({ length: 10 }, ask))
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
  const whole = streams
    .filter((_, at) => ends[at] === 'ended')
    .map(({ text }) => /"svc.agent_record_id":"([0-9a-f]{32})"/.exec(text)?.[1] ?? '')
  const read = await Promise.all(whole.map((id) => send(address, 'GET', `/svc/scenarios/lived/records/${id}`, {})))
  expect(new Set(read.map((answer) => answer.status))).toEqual(new Set([200]))
})

it('that cannot be replaced at once is replaced later, and the service goes on', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'way')
  vi.stubEnv('DYING_LISTENER', file)
  onTestFinished(() => void vi.unstubAllEnvs())
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const log: JsonObject[] = []
  const settings = { ...settingsOf(dataPlaceIn(folder), upstream.url), 'svc.listeners': 2 }
  const entry = new URL(DYING)
  const service = await startService(await loadArguments(argumentsOf(settings)), {
    log: { write: (level, event, fields) => void log.push({ level, event, ...fields }), flush: () => undefined },
    listenerThread: entry,
  })
  onTestFinished(() => service.close())
  // No thread can be started from here.
  entry.href = 'http://127.0.0.1/'
  writeFileSync(file, 'exit')
  await until(() => log.filter(({ event }) => event === 'listener_lost').length > 1)
  entry.href = DYING.href
  await until(() => log.some(({ event }) => event === 'listener_replaced'))
  const { address } = service
  expect((await send(address, 'GET', '/healthz', {})).json).toEqual({ ok: true })
  expect((await send(address, 'GET', '/metrics', {})).text).toContain('\nsvc_listeners_lost_total 1\n')
})
