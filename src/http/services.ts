/** The services and options that handlers use. */
import type { IncomingHttpHeaders } from 'node:http'
import type {
  Adapter,
  Commit,
  Configuration,
  DeploymentStore,
  ForgetBody,
  ForgottenPerson,
  ModelAddress,
  Runtime,
  ServedProvisional,
  Store,
} from '../contract/index.ts'
import type { Actor, TokenBook } from '../access/index.ts'
import type { CallTrace, Serving } from '../inference/index.ts'
import type { EpisodeQueue } from '../fleet/index.ts'
import type { Limits } from '../limits/index.ts'
import type { InsideAddresses } from '../kit/index.ts'
import type { DeploymentSigner } from '../keys/index.ts'
import type { Recorder } from '../recording/index.ts'
import type { Registry } from '../scenarios/index.ts'
import type { GroupAccess, SignInProvider } from '../sign-in/index.ts'
import type { Authenticator } from './credentials/auth.ts'
import type { Bodies } from './bodies/index.ts'
import type { Log } from './log/log.ts'
import type { ListenerCounts, Metrics, WebhookCounts } from './metrics.ts'
import type { WrongTokens } from './credentials/wrong-tokens.ts'

/** What the inference routes use. A listener thread has these, and relays every other route. */
export interface TrafficServices {
  readonly registry: TrafficRegistry
  readonly auth: Authenticator
  readonly origins: ReadonlySet<string>
  /** Host names of the listed origins and of the service's own address. */
  readonly hosts: ReadonlySet<string>
  /** The origin of the configured address of the service; null when none is configured. */
  readonly servedOrigin: string | null
  /** What the port of the service speaks; a proxy before it may speak another. */
  readonly scheme: 'http' | 'https'
  /** How people sign in; null where tokens alone count. */
  readonly signIn: OfferedSignIn | null
  readonly metrics: Metrics
  readonly log: Log
  readonly bodies: Bodies
  readonly clock: () => number
  readonly newId: () => string
  readonly retryTimeoutSeconds: number
  readonly keepRawStreams: boolean
  readonly answerBytesMax: number
  readonly recorder: Recorder
  readonly speaksReef: boolean
  /** Whether a client's own key of a provider is passed on, and so is no token of this service. */
  readonly passesClientKeys: boolean
  readonly wrongTokens: WrongTokens
  /** Absent from a listener thread, which makes no scenario. */
  readonly addAudit?: DeploymentStore['addAudit'] | undefined
  readonly limits: Limits
  /** Absent when tracing is off. */
  readonly traces?: RequestTraces | undefined
}

interface OfferedSignIn {
  /** The words after "Sign in with". */
  readonly name: string
  /** What people open the service at. */
  readonly origin: string
}

/** What the inference routes need of the registry, which fits by shape. */
export interface TrafficRegistry {
  /** `made` is called with the row of a scenario that this call made, before the work. */
  useOrCreate<T>(
    name: string,
    release: string | null,
    work: (scenario: TrafficScenario) => Promise<T>,
    made: (row: Commit) => Promise<void>,
  ): Promise<T>
}
export interface TrafficScenario extends Serving {
  /** The release that clients pull now. */
  readonly pulledId: string
  /** Null where every client is served the head. */
  readonly provisional: ServedProvisional | null
  /** Runs one task per chosen receipt at a time, and none once a record has it. */
  claim<T>(id: string, task: () => Promise<T>): Promise<T>
}

export interface HttpServices extends TrafficServices {
  readonly registry: Registry
  readonly store: Store
  readonly tokens: TokenBook
  /** Null where nobody can sign in. */
  readonly desk: SignInDesk | null
  readonly signer: DeploymentSigner
  /** The deployment's own, for calls that belong to no scenario. */
  readonly runtime: Runtime
  readonly model: ModelAddress
  /** In seconds; null where the port speaks plain HTTP. */
  readonly certificateExpiresAt: number | null
  readonly inside: InsideAddresses
  /** The built-in adapters, and those of the configured recipes, by name. */
  adapters(): Promise<ReadonlyMap<string, Adapter>>
  /** Until when no body is removed for its age, because of the clock; null while none waits. */
  readonly retention: { readonly heldUntil: number | null }
  /** Removes a person's records by their tag, with what was made of them. */
  forget(body: ForgetBody, actor: Actor): Promise<ForgottenPerson>
  /** Episodes that wait for workers on other machines. */
  readonly fleet: EpisodeQueue
  /** Absent where no target is configured. */
  readonly webhooks?: WebhookTargets | undefined
  /** What is in force, without secrets. */
  readonly configuration: ShownConfiguration
  /** Absent where this thread accepts the connections itself. */
  readonly listeners?: ListenerThreads | undefined
}
interface WebhookTargets {
  counts(): readonly WebhookCounts[]
  states(): Promise<readonly (WebhookCounts & { readonly isDelivering: boolean })[]>
  sendAgain(): Promise<number>
}
export interface SignInDesk {
  readonly provider: Pick<SignInProvider, 'begin' | 'finish'>
  /** By the exact name of the group. */
  readonly groups: ReadonlyMap<string, GroupAccess>
  readonly lifeSeconds: number
}
interface ShownConfiguration {
  readonly keys: readonly { readonly key: string; readonly value: unknown; readonly origin: string }[]
  readonly upstream: Configuration['upstream']
  /** Names, the default one first. */
  readonly recipes: readonly string[]
}
interface ListenerThreads {
  counts(): ListenerCounts
  spans(): RequestTraces['spans']
  /** Resolves once every thread has said what it counted, or after a second. */
  report(): Promise<void>
}

interface RequestTraces {
  request(headers: IncomingHttpHeaders): HttpTrace
  readonly spans: { readonly exported: number; readonly dropped: number }
}
export interface HttpTrace extends CallTrace {
  /** The request reported a score of these receipts. */
  reported(score: number | null, receipts: readonly string[]): void
  end(seen: {
    readonly id: string
    readonly method: string
    readonly path: string
    /** Null when no route was found. */
    readonly route: string | null
    /** Null when the client left before there was an answer. */
    readonly status: number | null
    readonly note: LogFields
  }): void
}

/** Fields of a request's log line, set as they become known. */
export interface LogFields {
  /** The name of the token, unless it is one of the configuration, or the person. */
  by?: string
  scenario?: string
  receipt?: string
  input_tokens?: number
  output_tokens?: number
  /** Which of several upstreams answered. */
  upstream?: string
  upstream_id?: string
  upstream_status?: number
  /** The path of an unknown route. */
  path?: string
  code?: string
  cause?: string
}
