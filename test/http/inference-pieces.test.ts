/** A body reaches the service in pieces cut anywhere. It is forwarded and kept as one, and nobody joins it on the way. */
import { connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { BytePieces } from '../../src/kit/index.ts'
import { sendJson } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld } from '../support/world.ts'

const here = sharedWorld()
afterEach(() => vi.restoreAllMocks())

/** Characters of two and four bytes, escapes and keys to be cut in. */
const bodyOf = (bytes: number): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'é🌍"\\\n\u0001'.repeat(Math.ceil(bytes / 14)) }], ключ: 'ж' })

const head = (framing: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-svc-scenario: pieces\r\nconnection: close\r\n${framing}\r\n\r\n`

/** Sends each piece by a write of its own, and answers what came back. */
async function sendPieces(framing: string, pieces: readonly Buffer[]): Promise<string> {
  const socket = connect(Number(new URL(here.address).port), '127.0.0.1').setNoDelay(true)
  const answer: Buffer[] = []
  socket.on('data', (chunk: Buffer) => answer.push(chunk))
  socket.write(head(framing))
  for (const piece of pieces) if (!socket.write(piece)) await once(socket, 'drain')
  await once(socket, 'end')
  socket.end()
  return Buffer.concat(answer).toString()
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

async function keptOf(answer: string): Promise<unknown> {
  const id = /x-svc-agent-record-id: (\S+)/i.exec(answer)?.[1] ?? 'none'
  return (await here.get(`/svc/scenarios/pieces/records/${id}`)).json['payload']
}

const answerShortly = (): void => here.upstream.answer((_received, response) => sendJson(response, 200, { id: 'x' }))
const chunked = (pieces: readonly Buffer[]): Buffer[] => [
  ...pieces.flatMap((piece) => [Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])]),
  Buffer.from('0\r\n\r\n'),
]

describe('a body in pieces', () => {
  it.each([
    ['of 400 KB, cut in characters and escapes', 400_000, 30_011],
    ['above a megabyte, which a thread scans', 1_300_000, 65_537],
    ['a byte at a time', 300, 1],
  ])('%s, is forwarded and kept byte for byte, and joined nowhere', async (_what, bytes, size) => {
    answerShortly()
    const joined = vi.spyOn(BytePieces.prototype, 'joined')
    const text = bodyOf(bytes)
    const answer = await sendPieces(`content-length: ${Buffer.byteLength(text)}`, cut(Buffer.from(text), size))
    expect(answer).toMatch(/^HTTP\/1.1 200/)
    expect(joined).not.toHaveBeenCalled()
    expect(here.upstream.received.at(-1)?.body.toString() === text).toBe(true)
    expect(await keptOf(answer)).toEqual({ ...JSON.parse(text), response: { id: 'x' } })
  })

  it.each([
    ['large', 200_000, 20_001],
    ['of one byte', 2000, 1],
  ])('in chunks that are %s, is forwarded whole, with its length', async (_what, bytes, size) => {
    answerShortly()
    const text = bodyOf(bytes)
    expect(await sendPieces('transfer-encoding: chunked', chunked(cut(Buffer.from(text), size)))).toMatch(/^HTTP\/1.1 200/)
    const received = here.upstream.received.at(-1)
    expect(received?.body.toString() === text).toBe(true)
    expect(received?.headers['content-length']).toBe(String(Buffer.byteLength(text)))
  })

  it('with half a character at a cut is refused, and with a fault the place is that of the whole', async () => {
    const text = Buffer.from(bodyOf(200_000))
    const broken = Buffer.concat([text.subarray(0, 100_001), Buffer.from([0xc3]), text.subarray(100_001)])
    expect(await sendPieces(`content-length: ${broken.length}`, cut(broken, 50_001))).toMatch(/^HTTP\/1.1 400[^]*not valid UTF-8/)
    const [unclosed, at] = [text.subarray(0, -1), text.length - 1]
    expect(await sendPieces(`content-length: ${at}`, cut(unclosed, 50_001))).toContain(`at position ${at}`)
  })

  it('that stops halfway reaches no upstream, and the service goes on', async () => {
    answerShortly()
    const before = here.upstream.received.length
    const socket = connect(Number(new URL(here.address).port), '127.0.0.1')
    socket.write(head('content-length: 400000'))
    socket.write(Buffer.alloc(200_000, ' '))
    await until(() => socket.bytesWritten > 200_000)
    socket.destroy()
    expect(await sendPieces('content-length: 2', [Buffer.from('{}')])).toMatch(/^HTTP\/1.1 200/)
    expect(here.upstream.received).toHaveLength(before + 1)
  })

  it('and an answer in many, which is passed on and kept byte for byte', async () => {
    const said = { id: 'x', text: 'é🌍"\\'.repeat(60_000) }
    here.upstream.answer((_received, response) => sendJson(response, 200, said))
    const joined = vi.spyOn(BytePieces.prototype, 'joined')
    const text = bodyOf(200_000)
    const answer = await sendPieces(`content-length: ${Buffer.byteLength(text)}`, [Buffer.from(text)])
    expect(answer.endsWith(JSON.stringify(said))).toBe(true)
    expect(joined).not.toHaveBeenCalled()
    expect(await keptOf(answer)).toEqual({ ...JSON.parse(text), response: said })
  })
})
