/** The key of one attempt: the configured one, or the client's own, which goes to its provider alone. */
import type { ClientKey } from '../../../src/contract/index.ts'
import type { DialectSpec } from '../../../src/dialects/index.ts'
import type { Connections } from '../common/upstream.ts'

export interface SentKey {
  readonly headers: Readonly<Record<string, string>>
  /** Secrets that are taken out of the provider's words. */
  readonly secret: string | null
  /** Whether a refusal of it, or its limit, is the caller's own. */
  readonly isClients: boolean
}

interface Keys {
  readonly configured: string | null
  readonly clients: ClientKey | undefined
  /** The origins that a client's key may be sent to. */
  readonly origins: readonly string[]
}

export function sentKey({ origin }: Connections, dialect: DialectSpec, { configured, clients, origins }: Keys): SentKey {
  if (clients !== undefined && origins.includes(origin))
    return { headers: { [clients.header]: clients.value }, secret: clients.secret, isClients: true }
  return { headers: configured === null ? {} : dialect.keyHeaders(configured), secret: configured, isClients: false }
}
