/** Signs a message as Standard Webhooks says: HMAC-SHA256 over its id, its time and its body. */
import { createHmac } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

export interface SignedMessage {
  readonly id: string
  /** Whole seconds. */
  readonly at: number
  readonly body: string
}

export function signedHeaders({ id, at, body }: SignedMessage, secret: string): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` }
}
