/**
 * Keys that Amazon lends to whom it knows already: a pod by its token (web identity), a container or an instance by where it asks from. They
 * expire after hours, so they are asked for again before that.
 */
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { invalid, isRefusal, unavailable, type JsonObject } from '../../../src/contract/index.ts'
import { wordsOf } from '../../../src/kit/index.ts'
import { connectionsTo } from '../../runtimes/common/upstream.ts'
import type { BucketKey } from './signature.ts'
import { tagged } from './xml.ts'

/** An address of the machine itself: where there is one, it answers at once. */
const NEAR_MS_MAX = 2000
const STS_MS_MAX = 10_000
const ANSWER_BYTES_MAX = 256 * 1024
/** A key is replaced so long before it expires, or after half of its life where that is shorter. */
const EARLY_MS = 5 * 60_000
const REST_MS = 10_000
const SESSION = 'svc'
const CONTAINER_HOST = 'http://169.254.170.2'
const INSTANCE_HOST = 'http://169.254.169.254'
/** Where a container may be sent for its key without TLS: this machine, and where Amazon listens in containers. */
const NEAR_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'])

type Surroundings = Readonly<Record<string, string | undefined>>
interface LentKey extends BucketKey {
  readonly expiresAtMs: number
}
type Lender = () => Promise<LentKey>

const lentSchema = z.object({ AccessKeyId: z.string(), SecretAccessKey: z.string(), Token: z.string(), Expiration: z.string() })

export interface Keys {
  /** The one to sign with now. */
  current(): Promise<BucketKey>
  /** The server refuses it. Whether another one may do. */
  giveUp(refused: BucketKey): boolean
}

export const fixedKey = (key: BucketKey): Keys => ({ current: () => Promise.resolve(key), giveUp: () => false })

/** The proxies of the configuration are for STS alone: the other addresses are on this machine. */
export const lentKeys = (region: string, config: JsonObject, surroundings: Surroundings): Keys =>
  new LentKeys(lenderIn(region, config, surroundings))

class LentKeys implements Keys {
  readonly #lend: Lender
  #key: LentKey | null = null
  #askAtMs = 0
  #asking: Promise<LentKey> | null = null

  constructor(lend: Lender) {
    this.#lend = lend
  }

  async current(): Promise<BucketKey> {
    if (this.#key !== null && Date.now() < this.#askAtMs) return this.#key
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  giveUp(refused: BucketKey): boolean {
    if (this.#key === refused) this.#key = null
    return true
  }

  /** A lender that fails is asked again a little later, while the key before it still holds. */
  async #ask(): Promise<LentKey> {
    try {
      const key = await this.#lend()
      const now = Date.now()
      this.#askAtMs = Math.max(key.expiresAtMs - EARLY_MS, now + (key.expiresAtMs - now) / 2)
      this.#key = key
      return key
    } catch (error) {
      const before = this.#key
      if (before === null || Date.now() >= before.expiresAtMs) throw error
      this.#askAtMs = Math.min(Date.now() + REST_MS, before.expiresAtMs)
      return before
    }
  }
}

function lenderIn(region: string, config: JsonObject, surroundings: Surroundings): Lender {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: role } = surroundings
  if (tokenFile !== undefined && role !== undefined) {
    const address = surroundings['AWS_ENDPOINT_URL_STS'] ?? `https://sts.${region}.amazonaws.com`
    return () => ofWebIdentity({ address, role, tokenFile, session: surroundings['AWS_ROLE_SESSION_NAME'] ?? SESSION }, config)
  }
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: whole } = surroundings
  const url = path === undefined ? whole : CONTAINER_HOST + path
  if (url !== undefined) return () => ofContainer(url, surroundings)
  if (surroundings['AWS_EC2_METADATA_DISABLED']?.toLowerCase() === 'true') return () => Promise.reject(noKey())
  const host = surroundings['AWS_EC2_METADATA_SERVICE_ENDPOINT'] ?? INSTANCE_HOST
  return () => ofInstance(host.replace(/(?<!\/)\/+$/, ''))
}

interface WebIdentity {
  readonly address: string
  readonly role: string
  readonly tokenFile: string
  readonly session: string
}

/** Read anew each time: the file is replaced before its token expires. */
async function ofWebIdentity({ address, role, tokenFile, session }: WebIdentity, config: JsonObject): Promise<LentKey> {
  const token = await readToken(tokenFile, 'AWS_WEB_IDENTITY_TOKEN_FILE')
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: token,
  })
  const { status, text } = await ask(address, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    timeoutMs: STS_MS_MAX,
    config,
  })
  if (status !== 200) {
    const code = tagged(text, 'Code')
    throw notLent(`STS answered ${status} ${code}`.trim(), 'see whether the role in AWS_ROLE_ARN trusts this token')
  }
  return lent({
    AccessKeyId: tagged(text, 'AccessKeyId'),
    SecretAccessKey: tagged(text, 'SecretAccessKey'),
    Token: tagged(text, 'SessionToken'),
    Expiration: tagged(text, 'Expiration'),
  })
}

async function ofContainer(url: string, surroundings: Surroundings): Promise<LentKey> {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !NEAR_HOSTS.has(hostname))
    throw invalid('bad_repository', 'AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this machine; correct it')
  const file = surroundings['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']
  const token =
    file === undefined ? surroundings['AWS_CONTAINER_AUTHORIZATION_TOKEN'] : await readToken(file, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE')
  const { status, text } = await ask(url, { headers: token === undefined ? {} : { authorization: token } })
  if (status !== 200)
    throw notLent(`the metadata service of the container answered ${status}`, 'see whether the task or the pod has a role')
  return lent(parsed(text))
}

/** Version 2 of the metadata service alone: a token first, which no request that was lured here can ask for. */
async function ofInstance(host: string): Promise<LentKey> {
  const token = await ask(`${host}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
  }).catch((error: unknown) => {
    throw noKey(error)
  })
  if (token.status !== 200)
    throw notLent(`the metadata service answered ${token.status}`, 'allow its version 2, with enough hops for containers')
  const headers = { 'x-aws-ec2-metadata-token': token.text.trim() }
  const roles = `${host}/latest/meta-data/iam/security-credentials/`
  const role = await ask(roles, { headers })
  const name = role.text.trim().split('\n')[0] ?? ''
  if (role.status !== 200 || name === '') throw notLent('the instance has no role', 'attach one to it, or set a key')
  const { status, text } = await ask(roles + encodeURIComponent(name), { headers })
  if (status !== 200) throw notLent(`the metadata service answered ${status}`, 'see whether the role of the instance exists')
  return lent(parsed(text))
}

async function readToken(path: string, variable: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    throw unavailable('bucket_unauthorized', `the file that ${variable} names cannot be read; mount it where this service can read it`, {
      cause,
    })
  }
}

function lent(given: unknown): LentKey {
  const { data } = lentSchema.safeParse(given)
  const expiresAtMs = Date.parse(data?.Expiration ?? '')
  if (data === undefined || data.AccessKeyId === '' || Number.isNaN(expiresAtMs))
    throw notLent('what was answered is no key', 'see whether the address is one of Amazon')
  return { accessKeyId: data.AccessKeyId, secretAccessKey: data.SecretAccessKey, sessionToken: data.Token, expiresAtMs }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface Question {
  readonly method?: 'GET' | 'PUT' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs?: number
  /** With the proxies to go through; none otherwise. */
  readonly config?: JsonObject
}

async function ask(url: string, question: Question): Promise<{ readonly status: number; readonly text: string }> {
  const { method = 'GET', headers = {}, body = null, timeoutMs = NEAR_MS_MAX, config = {} } = question
  const { dispatcher, origin } = connectionsTo(url, timeoutMs, config)
  const { pathname, search } = new URL(url)
  try {
    const answer = await dispatcher.request({
      origin,
      path: pathname + search,
      method,
      headers,
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: answer.statusCode, text: await shortText(answer.body) }
  } catch (error) {
    if (isRefusal(error)) throw error
    throw notLent(`${origin} does not answer (${wordsOf(error)})`, 'see whether it can be reached from here', error)
  } finally {
    await dispatcher.destroy()
  }
}

async function shortText(chunks: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk.toString()
    if (text.length > ANSWER_BYTES_MAX) throw notLent('what was answered is no key', 'see whether the address is one of Amazon')
  }
  return text
}

const notLent = (what: string, cure: string, cause?: unknown): Error =>
  unavailable('bucket_unauthorized', `no key for the bucket is lent: ${what}; ${cure}`, { cause })

const noKey = (cause?: unknown): Error =>
  unavailable(
    'bucket_unauthorized',
    'repository is a bucket, and no key for it is set; set storage.s3.access_key_id and storage.s3.secret_access_key (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), or give this machine or pod a role of AWS',
    { cause },
  )
