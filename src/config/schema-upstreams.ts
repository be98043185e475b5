/** Several upstreams: the keys of each, and what holds for all of them. */
import * as z from 'zod'
import { FORMATS } from '../contract/index.ts'
import { isAddressRange } from '../kit/index.ts'
import { isHostName, baseUrl, from0, oneOf, origin, seconds, secret, section, text, whole } from './types.ts'

export const FORMATS_RULE = `must be a list of ${FORMATS.join(', ')}`
const WEIGHT_RULE = 'must be a number from 0 to 1000000'
const ALIASES_RULE = "must be a section with the upstream's name of a model under each name of clients"

const tls = section({
  ca_file: text
    .nullable()
    .default(null)
    .describe('A PEM file with the authorities that are trusted for this upstream, instead of the usual ones.'),
  cert_file: text.nullable().default(null).describe('A PEM file with the certificate that the service shows, with `key_file`.'),
  key_file: text.nullable().default(null).describe('A PEM file with the private key of `cert_file`.'),
  min_version: oneOf(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2').describe('The oldest version of TLS that is spoken with this upstream.'),
})

export const upstream = section({
  url: baseUrl.describe('The base address of the provider, without `/v1`.'),
  api_key: secret.nullable().default(null).describe('The key sent to this upstream, and to no other.'),
  formats: z
    .array(oneOf(FORMATS), FORMATS_RULE)
    .min(1, FORMATS_RULE)
    .default([...FORMATS])
    .describe(
      'The formats it speaks: `chat`, `responses`, `messages`, `gemini`, the best first. Where no upstream of a model speaks the format of a call, the call is translated. Its models are listed in the first.',
    ),
  models: z
    .array(text, 'must be a list of model names')
    .nullable()
    .default(null)
    .describe('The models it has, by the names that clients use; `claude-*` stands for all that begin so. Unset: any.'),
  aliases: z
    .lazy(() => z.record(text, text, ALIASES_RULE))
    .default({})
    .describe("Further names of its models: what clients ask for, and the upstream's own name for it, as in `{fast: gpt-5-mini}`."),
  priority: whole('must be a whole number from 0 to 1000', 0, 1000)
    .default(0)
    .describe('The upstreams with the lowest number are asked first; the others when those fail.'),
  weight: z
    .number(WEIGHT_RULE)
    .min(0, WEIGHT_RULE)
    .max(1_000_000, WEIGHT_RULE)
    .default(1)
    .describe('Its share of the calls among upstreams of the same priority. With 0 it is asked after the others.'),
  timeout_s: seconds('above zero')
    .nullable()
    .default(null)
    .describe('How long it may take to begin an answer, and to go on with one, in seconds. Unset: `inference.timeout_s`.'),
  connect_timeout_s: seconds('above zero').default(10).describe('How long a connection to it may take, TLS included, in seconds.'),
  tls: tls.prefault({}),
})

/** Of upstreams together. */
export const upstreamRules = {
  client_key_origins: z
    .array(origin, 'must be a list of origins')
    .default([])
    .describe(
      "The origins of Anthropic's API, such as `https://api.anthropic.com`, to which a client's own login or key (`sk-ant-…`) is passed on, in place of the configured key; elsewhere it never goes. Such a credential is then no token of this service, which comes as `x-api-key` or `authorization`, whichever is free. Empty: none is passed on.",
    ),
  allow_inside: z
    .array(
      text.refine((value) => isAddressRange(value) || isHostName(value), 'must be a host name, an address, or a range such as 10.1.0.0/16'),
      'must be a list of host names, addresses and ranges',
    )
    .nullable()
    .default(null)
    .describe(
      "Which hosts of the inside (this machine, private and link-local networks, a cloud's metadata) a scenario's own `model.url` may be at. Unset: this machine, where the service listens on loopback, and else none. Upstreams of the configuration may be anywhere.",
    ),
  upstream_retries: whole('must be a whole number from 0 to 20', 0, 20)
    .default(2)
    .describe(
      'With `inference.upstreams`: how often a call that got no answer is sent again, first to the other upstreams. What was answered is never sent again.',
    ),
  breaker: section({
    failures: from0
      .default(5)
      .describe(
        'With `inference.upstreams`: after so many failed calls of a model in a row an upstream is not asked for that model for a while, where there is another. 0: it is always asked.',
      ),
    rest_s: seconds('above zero').default(30).describe('How long it is not asked, in seconds. Then one call tries it.'),
  }).prefault({}),
}
