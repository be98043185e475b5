import { createParser } from 'eventsource-parser'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameSplitter, readEvent, writeEvent, type ServerSentEvent } from './sse.ts'

const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
/** Text without line ends of its own. A byte order mark is left to its own test. */
const word = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll(/[\r\n\ufeff]/g, ''))
const line = fc.oneof(
  word.map((text) => `data: ${text}`),
  word.map((text) => `data:${text}`),
  word.map((text) => `event: ${text}`),
  word.map((text) => `: ${text}`),
  fc.constantFrom('id: 7', 'retry: 10', 'dat', ''),
)
const stream = fc.array(fc.tuple(line, lineEnd), { maxLength: 30 }).map((lines) => lines.flat().join(''))

interface Split {
  readonly frames: readonly Buffer[]
  readonly rest: Buffer
  readonly restBytes: number
}

function split(chunks: readonly Uint8Array[]): Split {
  const splitter = new FrameSplitter()
  const frames = chunks.flatMap((chunk) => splitter.push(chunk))
  return { frames, rest: splitter.rest, restBytes: splitter.restBytes }
}

/** The number of frames without an event depends on the chunks. */
const withEvents = ({ frames, rest }: Split) => ({ rest, frames: frames.filter((frame) => readEvent(frame) !== null) })

const byteByByte = (bytes: Buffer): Buffer[] => Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))

function chunked(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  let at = 0
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return [...chunks, bytes.subarray(at)]
}

/** What an independent reader finds. */
function eventsFound(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = []
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event: event ?? null, data }) })
  parser.feed(text)
  return events
}

describe('frames', () => {
  it('and the rest, put together, are exactly the bytes that came, in chunks of any size [decisions.streams-bytes]', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(20)), (raw, sizes) => {
        const bytes = Buffer.from(raw)
        const { frames, rest, restBytes } = split(chunked(bytes, sizes))
        expect(Buffer.concat([...frames, rest])).toEqual(bytes)
        expect(restBytes).toBe(rest.length)
      }),
    )
  })

  it('are the same whether the stream comes at once, byte by byte, or cut anywhere [decisions.streams-frames]', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(20)), (text, sizes) => {
        const bytes = Buffer.from(text)
        const atOnce = withEvents(split([bytes]))
        expect(withEvents(split(byteByByte(bytes)))).toEqual(atOnce)
        expect(withEvents(split(chunked(bytes, sizes)))).toEqual(atOnce)
      }),
    )
  })

  it('hold the events that any other reader finds, for LF, CRLF and CR mixed [decisions.streams-frames]', () => {
    fc.assert(
      fc.property(stream, (text) => {
        // A stream that goes on: what stands after the last blank line is in no event yet.
        const bytes = Buffer.from(`${text}\n\n\n`)
        const { frames } = split([bytes])
        const found = frames
          .flatMap((frame) => readEvent(frame) ?? [])
          .map(({ event, data }) => ({ event: event === '' ? null : event, data }))
        expect(found).toEqual(eventsFound(bytes.toString()))
      }),
      { numRuns: 500 },
    )
  })

  it('are found at once: a blank line is enough, whatever follows it', () => {
    expect(split([Buffer.from('data: a\n\n')]).frames.map(String)).toEqual(['data: a\n\n'])
    expect(split([Buffer.from('data: a\r\n\r\n')]).frames.map(String)).toEqual(['data: a\r\n\r\n'])
    expect(split([Buffer.from('data: a\r\rx')]).frames.map(String)).toEqual(['data: a\r\r'])
  })

  it.each(['\n', '\r\n', '\r', ':\n\n', ': keep-alive\r\n\r\n', 'event: ping\n\n', 'id\n\n', 'dat\n\n'])(
    'without data that come together are one, however many there are: %j',
    (empty) => {
      const many = Buffer.from(empty.repeat(10_000))
      expect(split([many, Buffer.from('\n')]).frames.length).toBeLessThanOrEqual(2)
      const { frames } = split([Buffer.concat([many, Buffer.from('data: a\n\n'), many, Buffer.from('\n')])])
      expect(frames.map((frame) => readEvent(frame)?.data)).toEqual([undefined, 'a', undefined])
      const cut = split(chunked(many, [7, 10_000, 1]))
      expect(cut.frames.length).toBeLessThanOrEqual(4)
      expect(Buffer.concat([...cut.frames, cut.rest])).toEqual(many)
    },
  )

  it('are not cut inside a CRLF that two chunks share', () => {
    const { frames, rest } = split(['data: a\r', '\n\r', '\ndata: b\r\n\r\n'].map((text) => Buffer.from(text)))
    expect(frames.map(String)).toEqual(['data: a\r\n\r\n', 'data: b\r\n\r\n'])
    expect(rest).toHaveLength(0)
  })
})

describe('an event', () => {
  it('reads back as it was written', () => {
    fc.assert(
      fc.property(fc.option(fc.stringMatching(/^[a-z._]{1,20}$/)), fc.jsonValue(), (event, value) => {
        const written = writeEvent(event, JSON.stringify(value))
        expect(split([written]).frames).toEqual([written])
        expect(readEvent(written)).toEqual({ event, data: JSON.stringify(value) })
      }),
    )
  })

  it('of several data lines is one text of several lines', () => {
    expect(readEvent(Buffer.from('data: a\r\ndata:b\ndata:  c\n\n'))).toEqual({ event: null, data: 'a\nb\n c' })
  })

  it('at the beginning of a stream may have a byte order mark before it', () => {
    expect(readEvent(Buffer.from('\ufeffdata: a\n\n'))).toEqual({ event: null, data: 'a' })
    expect(readEvent(Buffer.from('\ufeffevent: b\r\ndata: a\r\n\r\n'))).toEqual({ event: 'b', data: 'a' })
    expect(readEvent(Buffer.from('data: \ufeff\n\n'))).toEqual({ event: null, data: '\ufeff' })
  })

  it.each([': a comment\n\n', '\n', 'id: 3\n\n', 'event: ping\n\n'])('is not in a frame without data: %j', (frame) => {
    expect(readEvent(Buffer.from(frame))).toBeNull()
  })
})
