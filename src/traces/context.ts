/** Reads and writes the headers of W3C Trace Context: which trace a request belongs to, and whether it is sampled. */
import type { IncomingHttpHeaders } from 'node:http'
import { newId } from '../kit/index.ts'

export interface TraceContext {
  readonly traceId: string
  /** The caller's span; null where the trace begins here. */
  readonly parentSpanId: string | null
  readonly isSampled: boolean
  /** State of other tracing systems, passed on unchanged. */
  readonly state: string | null
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const STATE = /^[\x20-\x7e]{1,512}$/
const NO_ID = /^0+$/

/** The caller of a trace decides about sampling. An invalid header begins a new trace. */
export function continuedContext({ traceparent, tracestate }: IncomingHttpHeaders, ratio: number): TraceContext {
  const [, version, traceId, parentSpanId, flags = '0', more] = PARENT.exec(String(traceparent ?? '')) ?? []
  if (traceId === undefined || parentSpanId === undefined || NO_ID.test(traceId) || NO_ID.test(parentSpanId)) return begunContext(ratio)
  // Later versions may add fields after the flags; version 00 may not.
  if (version === 'ff' || (version === '00' && more !== undefined)) return begunContext(ratio)
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, parentSpanId, isSampled, state: typeof tracestate === 'string' && STATE.test(tracestate) ? tracestate : null }
}

export function begunContext(ratio: number): TraceContext {
  const traceId = newId()
  return { traceId, parentSpanId: null, isSampled: isKept(traceId, ratio), state: null }
}

/** Decides by the trace id, so that every sampler of the trace decides alike. */
function isKept(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 >= 1 - ratio
}

/** The headers that pass the trace on to the next service. */
export function traceHeaders({ traceId, isSampled, state }: TraceContext, spanId: string): Readonly<Record<string, string>> {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  return state === null ? { traceparent } : { traceparent, tracestate: state }
}
