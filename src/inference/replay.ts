/** A stream that was recorded as text, read again by the reader of its format. */
import { isObject, type JsonObject } from '../contract/index.ts'
import { FrameSplitter } from '../kit/index.ts'
import { readObject } from './dialects/dialect.ts'
import { streamDialects, type StreamReader } from './dialects/index.ts'

interface Replayed {
  /** The answer in the shape it has when it is not streamed, as far as the frames told it. */
  readonly answer: JsonObject
  /** Whether its terminal event is there. */
  readonly isWhole: boolean
  /** What the provider said went wrong; null when nothing did. */
  readonly failure: string | null
}

/** Null for what is a stream of no format that is known here. */
export function replay(bytes: Uint8Array): Replayed | null {
  const splitter = new FrameSplitter()
  const frames = splitter.push(bytes)
  const all = splitter.restBytes === 0 ? frames : [...frames, splitter.rest]
  const reader = readerFor(all)
  if (reader === null) return null
  const isWhole = all.some((frame) => reader.take(frame))
  return { answer: reader.answer(), isWhole, failure: reader.failure }
}

/** Each format says in its first event which it is. */
function readerFor(frames: readonly Buffer[]): StreamReader | null {
  for (const frame of frames) {
    const event = readObject(frame)
    if (event === null) continue
    const dialect = dialectOf(event)
    if (dialect !== null) return streamDialects[dialect]?.open() ?? null
  }
  return null
}

function dialectOf({ type, choices, object, response }: JsonObject): 'chat' | 'messages' | 'responses' | null {
  if (Array.isArray(choices) || object === 'chat.completion.chunk') return 'chat'
  if (typeof type !== 'string') return null
  if (type.startsWith('response.') || isObject(response)) return 'responses'
  return /^(?:message|content_block)_/.test(type) ? 'messages' : null
}
