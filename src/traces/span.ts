/** One span, printed as OTLP's JSON: ids in hex, times and integers as text, kinds and codes as numbers. */
import { newId } from '../kit/index.ts'
import { shortened, type Attributes } from './attributes.ts'
import type { TraceContext } from './context.ts'

export interface TraceSpan {
  readonly context: TraceContext
  readonly id: string
  readonly parentId: string | null
  readonly name: string
  readonly kind: keyof typeof KIND
  /** In milliseconds, as `performance.now` counts them. */
  readonly begun: number
  readonly ended: number
  readonly attributes: Attributes
  /** Why it failed; null when it did not. */
  readonly failure: string | null
}

/** Takes spans. `make` is called only where there is room for them. */
export interface SpanSink {
  write(count: number, make: () => readonly TraceSpan[]): void
  readonly isWithContent: boolean
  readonly scheme: 'http' | 'https'
  /** What tokens of a model of these names cost; null where no price is known. */
  costOf(names: readonly string[], tokens: { readonly input: number; readonly output: number }): number | null
}

const ID_DIGITS = 16

/** The random end of an id. Never all zeros, which OTLP reads as no id. */
export const newSpanId = (): string => newId().slice(-ID_DIGITS)

const KIND = { internal: 1, server: 2, client: 3 } as const
const STATUS_ERROR = 2

/** `origin`: when `performance.now` was zero, in milliseconds since the epoch. */
export function printSpan({ context, id, parentId, name, kind, begun, ended, attributes, failure }: TraceSpan, origin: number): string {
  return JSON.stringify({
    traceId: context.traceId,
    spanId: id,
    ...(context.state !== null && { traceState: context.state }),
    ...(parentId !== null && { parentSpanId: parentId }),
    name: shortened(name),
    kind: KIND[kind],
    startTimeUnixNano: unixNanos(origin + begun),
    endTimeUnixNano: unixNanos(origin + Math.max(begun, ended)),
    attributes: attributes.list,
    status: failure === null ? {} : { code: STATUS_ERROR, message: shortened(failure) },
  })
}

function unixNanos(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1e6)))
}
