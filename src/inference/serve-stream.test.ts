/** The request line over frames, without sockets: however the bytes arrive and wherever they stop, one record and a true end. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chatStreams } from '../../test/support/chat-streams.ts'
import { messageStreams } from '../../test/support/message-streams.ts'
import { bytesOf, eventsOf } from '../../test/support/reading.ts'
import { responseStreams } from '../../test/support/response-streams.ts'
import { STREAM_FRAME_BYTES_MAX, type Dialect, type JsonObject } from '../contract/index.ts'
import { dialects } from '../dialects/index.ts'
import { serveStream, type Outlet } from './serve-stream.ts'
import type { ServedStream } from './serve.ts'
import { callOf, releaseOf, servingOf } from './testing/scenario.ts'

const release = releaseOf('r1')

async function play(dialect: Dialect, chunks: readonly Uint8Array[], failure?: Error, keepRaw = false) {
  const records: JsonObject[] = []
  const sink = new Sink()
  const keep = (record: JsonObject): Promise<unknown> => Promise.resolve(records.push(record))
  const end = await serveStream(served(dialect, arriving(chunks, failure), keep), sink, keepRaw)
  return { end, written: Buffer.concat(sink.written), isCut: sink.isCut, records }
}

class Sink implements Outlet {
  readonly written: Buffer[] = []
  isCut = false
  readonly write = (bytes: Buffer): void => void this.written.push(bytes)
  readonly end = this.write
  readonly cut = (): void => void (this.isCut = true)
}

function served(dialect: Dialect, chunks: AsyncIterable<Uint8Array>, keep: (record: JsonObject) => Promise<unknown>): ServedStream {
  const reader = dialects[dialect].openStream?.()
  if (reader === undefined) throw new Error(`${dialect} is not streamed`)
  const call = callOf({ dialect, path: '/' })
  const { scenario } = servingOf(undefined, { keep: ({ payload }) => keep(JSON.parse(Buffer.from(payload).toString())) })
  return {
    kind: 'stream',
    reader,
    training: null,
    answer: { kind: 'stream', status: 200, headers: {}, chunks },
    exchange: { release, letGo: () => undefined, request: call.request, scenario, model: scenario.model, call },
  }
}

async function* arriving(chunks: readonly Uint8Array[], failure?: Error): AsyncGenerator<Uint8Array> {
  yield* chunks
  if (failure !== undefined) throw failure
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [0, ...new Set(places.map((place) => place % bytes.length)), bytes.length].sort((a, b) => a - b)
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
}

/** The first stream of each format is tried at every byte, the others at every so many. */
const STREAMS = (
  [
    ['chat', chatStreams],
    ['responses', responseStreams],
    ['messages', messageStreams],
  ] as const
).flatMap(([dialect, streams]) => streams.map((stream, index) => ({ ...stream, dialect, step: index === 0 ? 1 : 13 })))

describe.each(STREAMS)('a $dialect stream of $name', ({ dialect, frames, whole, step }) => {
  const bytes = bytesOf(frames)
  const terminalAt = bytesOf(dialect === 'responses' ? frames.filter((frame) => frame.startsWith('event:')) : frames).length

  it('is relayed and kept alike however it is cut into chunks [decisions.streams-frames]', async () => {
    const { written: expected } = await play(dialect, [bytes])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat()), async (places) => {
        const { end, written, records } = await play(dialect, cutAt(bytes, places))
        expect(written).toEqual(expected)
        expect(records).toEqual([{ response: { ...whole, stream: true, complete: true } }])
        expect(end).toMatchObject({ receipt: 'receipt-1', cause: null })
      }),
      { numRuns: 20 },
    )
  })

  it('cut off at any byte leaves exactly one record that says whether it is whole [decisions.streams-broken]', async () => {
    for (let length = 0; length < bytes.length; length += step) {
      const { end, written, isCut, records } = await play(dialect, [bytes.subarray(0, length)], new Error('reset by peer'))
      const isWhole = length >= terminalAt
      expect(records).toHaveLength(1)
      expect(records[0]?.['response']).toMatchObject({ stream: true, complete: isWhole, ...(!isWhole && { cause: 'reset by peer' }) })
      expect(end.cause).toBe(isWhole ? null : 'reset by peer')
      expect(isCut).toBe(!isWhole)
      if (!isWhole) expect(bytes.subarray(0, length).subarray(0, written.length)).toEqual(written)
    }
  })

  it('that ends at any byte is relayed to its end, with a receipt only where its last event came [decisions.streams-broken]', async () => {
    for (let length = 0; length < bytes.length; length += step * 5) {
      const { end, written, isCut, records } = await play(dialect, [bytes.subarray(0, length)])
      const hasReceipt = eventsOf(written).some(({ data }) => typeof data === 'object' && data['svc.agent_record_id'] === 'receipt-1')
      expect(records).toHaveLength(1)
      expect(records[0]?.['response']).toMatchObject({ complete: end.cause === null })
      expect(hasReceipt).toBe(end.cause === null)
      expect(isCut).toBe(false)
      if (!hasReceipt) expect(written).toEqual(bytes.subarray(0, length))
    }
  })

  it('keeps its raw frames where that is set, up to its last event [decisions.streams-raw]', async () => {
    const { records } = await play(dialect, [bytes], undefined, true)
    expect(records[0]?.['response']).toMatchObject({ raw: bytes.subarray(0, terminalAt).toString() })
  })
})

describe('a stream', () => {
  it('whose last frame lacks its blank line is whole all the same', async () => {
    const { end, written } = await play('chat', [Buffer.from('data: {"id":"x","choices":[]}\n\ndata: [DONE]')])
    expect(end.cause).toBeNull()
    expect(written.toString().endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it.each(['\n', '\r\n', '\r'])('is understood with %j as its line ends [decisions.streams-frames]', async (lineEnd) => {
    for (const { dialect, frames, whole } of STREAMS) {
      const { records, end } = await play(dialect, [Buffer.from(frames.join('').replaceAll('\n', lineEnd))])
      expect(end.cause).toBeNull()
      expect(records).toEqual([{ response: { ...whole, stream: true, complete: true } }])
    }
  })

  it('whose record cannot be stored is cut off before its last event [decisions.streams-durable]', async () => {
    for (const { dialect, frames } of STREAMS) {
      const sink = new Sink()
      const failing = served(dialect, arriving([bytesOf(frames)]), () => Promise.reject(new Error('the disk is full')))
      await expect(serveStream(failing, sink, false)).rejects.toThrow('the disk is full')
      expect(sink.isCut).toBe(true)
      expect(Buffer.concat(sink.written).toString()).not.toContain('agent_record_id')
    }
  })

  it('with one event longer than the service holds is broken off', async () => {
    const half = Buffer.alloc(STREAM_FRAME_BYTES_MAX / 2 + 1, 'x')
    const { end, isCut } = await play('chat', [Buffer.from('data: '), half, half])
    expect(end.cause).toBe('the upstream sent an event longer than this service holds')
    expect(isCut).toBe(true)
  })

  it('with a million empty lines behind what may be its end is whole', async () => {
    const last = 'data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}\n\n'
    const lines = Buffer.alloc(1024 * 1024, '\n')
    const { end, written } = await play('gemini', [Buffer.from(last), lines, Buffer.from(last)])
    expect(end.cause).toBeNull()
    expect(written.subarray(0, last.length + lines.length)).toEqual(Buffer.concat([Buffer.from(last), lines]))
  })

  it.each(['chat', 'responses', 'messages'] as const)('of any bytes at all is relayed as it is and kept once: %s', async (dialect) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 })), async (chunks) => {
        const { written, records } = await play(dialect, chunks)
        expect(written).toEqual(Buffer.concat(chunks))
        expect(records).toHaveLength(1)
      }),
    )
  })
})
