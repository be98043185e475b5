/** Processes with two listener threads: every answer is finished on a signal, and a port belongs to one of them. */
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openStream } from '../support/client.ts'
import { serveCommand, startCommand } from '../support/command.ts'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { makePlace } from '../support/place.ts'
import { beginFrames, chatFrames } from '../support/upstream.ts'
import { send } from '../support/world.ts'

const CHAT = '/v1/chat/completions'
const HEADERS = { 'x-svc-scenario': 'stopping' }
const BODY = { model: 'm', messages: [] }
const STREAMS = 16
const TWO = { 'svc.listeners': 2 }

describe('a service with two listeners', () => {
  it('finishes every answer on a signal, relayed ones too, and ends with code 0', async () => {
    const { upstream, args, damage } = await makePlace()
    const { command, address } = await serveCommand(args(TWO))
    await send(address, 'POST', CHAT, { headers: HEADERS, body: BODY })
    const gate = Promise.withResolvers<void>()
    upstream.answer(async (_, response) => {
      beginFrames(response, chatFrames.slice(0, 2))
      await gate.promise
      response.end(chatFrames.slice(2).join(''))
    })
    const open = (_: unknown, at: number) => {
      const chosen = at % 4 === 0 ? { 'x-svc-agent-record-id': `chosen-${at}` } : {}
      return openStream(address, CHAT, { ...BODY, stream: true }, { ...HEADERS, ...chosen })
    }
    const streams = await Promise.all(Array.from({ length: STREAMS }, open))
    await Promise.all(streams.map((stream) => stream.seen('data: ')))
    command.signal('SIGTERM')
    await command.said('stopping')
    gate.resolve()
    expect(new Set(await Promise.all(streams.map(({ over }) => over)))).toEqual(new Set(['ended']))
    expect(streams.every(({ text }) => text.includes('"svc.agent_record_id":"') && text.endsWith('data: [DONE]\n\n'))).toBe(true)
    expect(await command.ended).toMatchObject({ code: 0 })
    expect(await damage()).toEqual([])
  })

  it('says in one line that its port is in use', async () => {
    const other = createServer()
    const port = await listenOnLoopback(other)
    onTestFinished(() => closeServer(other))
    const { args } = await makePlace()
    const { code, err } = await startCommand(['serve', ...args({ ...TWO, 'svc.port': port })]).ended
    expect(code).not.toBe(0)
    expect(err.split('\n').filter((line) => line.includes('is in use'))).toEqual([
      `svc: port ${port} is in use: stop the other process or set svc.port`,
    ])
  })

  it('shares its port with no other installation, also when both start at once', async () => {
    const free = createServer()
    const port = await listenOnLoopback(free)
    await closeServer(free)
    const places = [await makePlace(), await makePlace()]
    const commands = places.map(({ args }) => startCommand(['serve', ...args({ ...TWO, 'svc.port': port })]))
    const outcomes = await Promise.all(
      commands.map((command) =>
        Promise.race([command.said('svc is ready at ').then(() => 'ready'), command.said('is in use').then(() => 'in use')]).catch(
          () => 'ended',
        ),
      ),
    )
    for (const command of commands) command.signal('SIGTERM')
    await Promise.all(commands.map(({ ended }) => ended))
    expect(outcomes.toSorted()).toEqual(['in use', 'ready'])
  })
})
