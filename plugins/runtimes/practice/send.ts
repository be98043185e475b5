/** Bytes of an answer: all at once, or one event after the other as the reader takes them. */
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import type { JsonObject, RuntimeCall, StreamedAnswer, WholeAnswer } from '../../../src/contract/index.ts'
import { upstream } from '../../../src/contract/index.ts'
import { dialects, type DialectSpec } from '../../../src/dialects/index.ts'

/** Every so many events the event loop gets its turn, so that an abort is heard while a long answer is written. */
const EVENTS_PER_TURN = 16

export const whole = (dialect: DialectSpec, status: number, body: JsonObject, requestId: string): WholeAnswer => ({
  kind: 'whole',
  status,
  headers: { 'content-type': 'application/json', [dialect.requestIdHeader]: requestId },
  body: Buffer.from(JSON.stringify(body)),
})

export const streamed = (call: RuntimeCall, frames: Iterable<Uint8Array>, delayMs: number, requestId: string): StreamedAnswer => ({
  kind: 'stream',
  status: 200,
  headers: {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    [dialects[call.dialect].requestIdHeader]: requestId,
  },
  chunks: paced(frames, delayMs, call.signal),
})

async function* paced(frames: Iterable<Uint8Array>, delayMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let events = 0
  try {
    for (const frame of frames) {
      signal.throwIfAborted()
      yield frame
      events += 1
      if (delayMs > 0) await wait(delayMs, undefined, { signal })
      else if (events % EVENTS_PER_TURN === 0) await turn(undefined, { signal })
    }
  } catch (cause) {
    throw upstream('call_aborted', 'the call was given up before the answer ended', { cause })
  }
}
