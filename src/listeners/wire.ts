/** What the main thread and a listener thread say to each other. */
import type { MessagePort } from 'node:worker_threads'
import type { LoadedConfig } from '../config/index.ts'
import type { JsonObject, StoredToken } from '../contract/index.ts'
import type { Counted, HeldBytes, LogLevel, TlsPair } from '../http/index.ts'
import type { LimitPlace } from '../limits/index.ts'
import type { ScenarioView } from '../scenarios/index.ts'

export interface ListenerSettings {
  readonly loaded: LoadedConfig
  readonly at: { readonly host: string; readonly port: number }
  /** The socket on which the main thread answers what is relayed. */
  readonly relayPath: string
  readonly graceSeconds: number | undefined
  /** Null where the port speaks plain HTTP. */
  readonly tls: TlsPair | null
  readonly secrets: readonly string[]
  readonly tokens: readonly StoredToken[]
  /** How much the bodies of every thread take. */
  readonly bodies: HeldBytes
  /** Where it counts what is limited; null where nothing is. */
  readonly limits: LimitPlace
  /** The same for every thread of the service. */
  readonly group: string
  /** Leads to the store of the main thread. */
  readonly store: MessagePort
}

/** Resolves once a changed configuration is in force in every thread that accepts connections. */
export type Reconfigure = (loaded: LoadedConfig, tls: TlsPair | null, limits: LimitPlace) => Promise<void>

export type ToListener =
  /** The answer to `ask`, or a change; null while the scenario is not loaded. */
  | { readonly tell: 'view'; readonly name: string; readonly view: ScenarioView | null }
  | { readonly tell: 'archived'; readonly name: string }
  | { readonly tell: 'secret'; readonly secret: string }
  | {
      readonly tell: 'configuration'
      readonly loaded: LoadedConfig
      readonly tls: TlsPair | null
      readonly secrets: readonly string[]
      /** The main thread's place. */
      readonly limits: LimitPlace
    }
  | { readonly tell: 'tokens'; readonly tokens: readonly StoredToken[] }
  /** Answered with `synced`, after everything that was said before. */
  | { readonly tell: 'sync'; readonly id: number }
  | { readonly tell: 'close' }

export type FromListener =
  | { readonly said: 'listening' }
  | { readonly said: 'failed'; readonly code: string | null; readonly message: string }
  | { readonly said: 'ask'; readonly name: string }
  | { readonly said: 'news'; readonly lines: readonly LogEntry[]; readonly counted: Counted; readonly spans: SpanCounted }
  | { readonly said: 'synced'; readonly id: number }
  | { readonly said: 'closed' }

export interface LogEntry {
  readonly level: LogLevel
  readonly event: string
  readonly fields: JsonObject
  readonly at: number
}
export interface SpanCounted {
  readonly exported: number
  readonly dropped: number
}
