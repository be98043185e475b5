/** What the handlers at the door need of the house. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Adapter, ModelAddress, Runtime, Store } from '../contract/index.ts'
import type { CallTrace } from '../inference/index.ts'
import type { Registry } from '../scenarios/index.ts'
import type { Bodies, BodyHold } from './bodies/index.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Keys, Visitor } from './pass.ts'

export interface Door {
  readonly registry: Registry
  readonly store: Store
  readonly keys: Keys
  readonly origins: ReadonlySet<string>
  /** Names the operator said the service goes by: those of listed origins, and of its own address. */
  readonly hosts: ReadonlySet<string>
  /** Of the address that the operator said is the service's; null where nobody said. */
  readonly servedOrigin: string | null
  readonly metrics: Metrics
  readonly log: Log
  readonly bodies: Bodies
  readonly clock: () => number
  readonly newId: () => string
  readonly retryTimeoutSeconds: number
  readonly keepRawStreams: boolean
  readonly answerBytesMax: number
  /** Whether reef's own clients are answered too, under its names. */
  readonly speaksReef: boolean
  /** The deployment's own, for calls that belong to no scenario. */
  readonly runtime: Runtime
  readonly model: ModelAddress
  /** Every agent that can be named here: those that come with the service, and those of the configured recipes. */
  adapters(): Promise<ReadonlyMap<string, Adapter>>
  /** Absent where nobody traces. */
  readonly traces?: Traces | undefined
}

interface Traces {
  /** A request has come. */
  request(headers: IncomingHttpHeaders): RequestTrace
  readonly spans: { readonly exported: number; readonly dropped: number }
}
interface RequestTrace extends CallTrace {
  /** Its answer is over. The route is null where none was found, the status where the client left before there was one. */
  end(
    seen: Pick<Visit, 'id' | 'path' | 'note'> & { readonly method: string; readonly route: string | null; readonly status: number | null },
  ): void
}

/** One request on its way through: everything the log line and the handlers need to know of it. */
export interface Visit {
  /** The request's id, on every answer and in the log. The receipt is another one: nobody may hear it before the record is durable. */
  readonly id: string
  readonly request: IncomingMessage
  /** The pattern of the route that let it in. */
  readonly route: string
  readonly path: string
  readonly query: string
  readonly params: Readonly<Record<string, string>>
  readonly visitor: Visitor
  /** What its body takes of the room there is for all of them. */
  readonly hold: BodyHold
  /** Headers every answer of this request carries, refusals included; a handler adds what it learns. */
  readonly headers: Record<string, string>
  /** For the log line; filled in as they become known. */
  readonly note: {
    scenario?: string
    receipt?: string
    upstream_id?: string
    upstream_status?: number
    code?: string
    cause?: string
  }
  readonly trace?: RequestTrace | undefined
}
