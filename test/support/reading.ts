/** Plays frames to a dialect's reader, as the request line does. */
import type { JsonObject } from '../../src/contract/index.ts'
import type { DialectSpec, StreamReader } from '../../src/dialects/index.ts'
import { FrameSplitter, readEvent } from '../../src/kit/index.ts'

export interface Read {
  readonly reader: StreamReader
  /** The frame the stream ended with; null when it just stopped. */
  readonly terminal: Buffer | null
}

/** Bytes of a stream, up to its terminal frame. */
export function read({ openStream }: Pick<DialectSpec, 'openStream'>, bytes: Uint8Array): Read {
  const reader = openStream?.()
  if (reader === undefined) throw new Error('it is never streamed')
  const splitter = new FrameSplitter()
  for (const frame of splitter.push(bytes)) if (reader.take(frame)) return { reader, terminal: frame }
  const { rest } = splitter
  return { reader, terminal: rest.length > 0 && reader.take(rest) ? rest : null }
}

export const bytesOf = (frames: readonly string[]): Buffer => Buffer.from(frames.join(''))

/** The events of a stretch of stream: name and data, parsed when it is JSON. */
export function eventsOf(bytes: Uint8Array): readonly { readonly event: string | null; readonly data: JsonObject | string }[] {
  const splitter = new FrameSplitter()
  return splitter.push(bytes).flatMap((frame) => {
    const event = readEvent(frame)
    if (event === null) return []
    const parsed: JsonObject | string = event.data.startsWith('{') ? JSON.parse(event.data) : event.data
    return [{ event: event.event, data: parsed }]
  })
}
