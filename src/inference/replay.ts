/** A stream that was recorded as text, read again by the reader of its format. */
import { dialectOfEvent, parseExactly, readObject, type StreamReader } from '../dialects/index.ts'
import { FrameSplitter } from '../kit/index.ts'

/** Null for what is a stream of no known format. It is whole where its terminal event is there. */
export function replay(bytes: Uint8Array) {
  const splitter = new FrameSplitter()
  const frames = splitter.push(bytes)
  const all = splitter.restBytes === 0 ? frames : [...frames, splitter.rest]
  const reader = readerFor(all)
  if (reader === null) return null
  const isWhole = all.some((frame) => reader.take(frame))
  return { answer: reader.answer(), isWhole, failure: reader.failure }
}

function readerFor(frames: readonly Buffer[]): StreamReader | null {
  for (const frame of frames) {
    const event = readObject(frame, parseExactly)
    const dialect = event === null ? null : dialectOfEvent(event)
    if (dialect !== null) return dialect.openStream?.() ?? null
  }
  return null
}
