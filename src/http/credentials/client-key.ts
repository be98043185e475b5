/** A client's own credential of a provider, beside or instead of a token of this service. */
import type { IncomingHttpHeaders } from 'node:http'
import type { ClientKey } from '../../contract/index.ts'
import { knowClientSecret } from '../../kit/index.ts'

/** Anthropic's subscription logins and API keys. */
const SHAPE = /^sk-ant-(?:oat|api)\d\d-[\w-]{16,240}$/

/** Null without one, and where the deployment passes none on. From here on it is known as a secret. */
export function clientKeyIn(headers: IncomingHttpHeaders, { passesClientKeys }: { readonly passesClientKeys: boolean }): ClientKey | null {
  const found = passesClientKeys ? (inAuthorization(headers.authorization) ?? inApiKey(headers['x-api-key'])) : null
  if (found !== null) knowClientSecret(found.secret)
  return found
}

function inAuthorization(value = ''): ClientKey | null {
  const [, secret = ''] = /^bearer +(\S+)$/i.exec(value.trim()) ?? []
  return SHAPE.test(secret) ? { header: 'authorization', value: `Bearer ${secret}`, secret } : null
}

const inApiKey = (value: string | string[] | undefined): ClientKey | null =>
  typeof value === 'string' && SHAPE.test(value) ? { header: 'x-api-key', value, secret: value } : null
