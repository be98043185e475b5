/** Keys that a role lends: where they are asked for, that they are replaced before and after they expire, and what a person reads when there is none. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ContentStore } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { closeServer, listenOnLoopback } from '../../../test/support/listen.ts'
import { startS3, type S3Server } from '../../../test/support/s3.ts'
import { signedHeaders } from './signature.ts'
import { newRepository, openBucket, publish, refusalOf } from './testing/stores.ts'

const HOUR_MS = 3_600_000
const VARIABLES = [
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_ENDPOINT_URL_STS',
  'AWS_EC2_METADATA_SERVICE_ENDPOINT',
]

let server: S3Server
beforeAll(async () => {
  server = await startS3()
})
afterAll(() => server.stop())
beforeEach(() => {
  for (const name of VARIABLES) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Lends keys that expire, with a bucket behind it that takes only those that have not. */
class Lender {
  lent = 0
  /** In the order they came: method, path, and what proved who asks. */
  readonly asked: string[] = []
  isAway = false
  #valid = ''

  async start(): Promise<string> {
    const here = createServer((asked, answer) => void this.#answer(asked, answer))
    const port = await listenOnLoopback(here)
    onTestFinished(() => closeServer(here))
    return `http://127.0.0.1:${port}`
  }

  /** As if its time were over, before it was said to be. */
  expire(): void {
    this.#valid = ''
  }

  /** The server of the tests knows no session tokens: they are looked at here, and what has a good one is signed for the server. */
  async bucket(): Promise<string> {
    const here = createServer((asked, answer) => void this.#pass(asked, answer))
    const port = await listenOnLoopback(here)
    onTestFinished(() => closeServer(here))
    return `http://127.0.0.1:${port}`
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(asked)
    if (asked.headers['x-amz-security-token'] !== this.#valid)
      return void answer.writeHead(400, { 'content-type': 'application/xml' }).end('<Error><Code>ExpiredToken</Code></Error>')
    const { pathname, searchParams } = new URL(asked.url ?? '', server.endpoint)
    const kept = Object.entries(asked.headers).filter(([name]) => /^(?:if-|range|x-amz-checksum)/.test(name))
    const headers = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
    const { method = '' } = asked
    const unsigned = { method, host: new URL(server.endpoint).host, path: pathname, query: Object.fromEntries(searchParams), headers, body }
    const key = { accessKeyId: server.s3['access_key_id'] ?? '', secretAccessKey: server.s3['secret_access_key'] ?? '', sessionToken: null }
    const signed = signedHeaders(unsigned, key, server.s3['region'] ?? '', new Date())
    const reply = await fetch(new URL(asked.url ?? '', server.endpoint), { method, headers: signed, ...(method === 'PUT' && { body }) })
    answer.writeHead(reply.status, { etag: reply.headers.get('etag') ?? '' }).end(Buffer.from(await reply.arrayBuffer()))
  }

  #lend(): { readonly [name: string]: string } {
    this.lent += 1
    this.#valid = `token-${this.lent}`
    const Expiration = new Date(Date.now() + HOUR_MS).toISOString()
    const { access_key_id: AccessKeyId = '', secret_access_key: SecretAccessKey = '' } = server.s3
    return { AccessKeyId, SecretAccessKey, Token: this.#valid, Expiration }
  }

  async #answer(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method, url = '', headers } = asked
    const proof = headers.authorization ?? headers['x-aws-ec2-metadata-token'] ?? ''
    this.asked.push(`${method} ${url} ${String(proof)}`.trim())
    const form = new URLSearchParams(await text(asked))
    if (this.isAway) return void answer.writeHead(500).end()
    if (method === 'PUT') return void answer.end('proof-of-the-instance')
    if (url.endsWith('/security-credentials/')) return void answer.end('role-of-the-instance')
    if (form.get('Action') !== 'AssumeRoleWithWebIdentity') return void answer.end(JSON.stringify(this.#lend()))
    if (form.get('WebIdentityToken') !== 'token-of-the-pod')
      return void answer.writeHead(403).end('<Error><Code>InvalidIdentityToken</Code></Error>')
    const { Token, ...key } = this.#lend()
    const elements = Object.entries({ ...key, SessionToken: Token }).map(([name, value]) => `<${name}>${value}</${name}>`)
    answer.end(`<AssumeRoleWithWebIdentityResponse>${elements.join('')}</AssumeRoleWithWebIdentityResponse>`)
  }
}

const open = async (lender: Lender): Promise<ContentStore> => {
  return openBucket(newRepository(), { endpoint: await lender.bucket() })
}

describe('a key is lent', () => {
  it('to a pod, by its token, which is read anew', async () => {
    const lender = new Lender()
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'token-of-the-pod\n')
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file)
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::1:role/releases')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', await lender.start())
    await publish(await open(lender), { a: '1' })
    expect([lender.lent, lender.asked]).toEqual([1, ['POST /']])
    writeFileSync(file, 'token-of-another')
    expect(await refusalOf(open(lender))).toBe(
      'bucket_unauthorized: no key for the bucket is lent: STS answered 403 InvalidIdentityToken; see whether the role in AWS_ROLE_ARN trusts this token',
    )
  })

  it('to a container, with the token of its environment', async () => {
    const lender = new Lender()
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'proof-of-the-container')
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${await lender.start()}/v1/credentials?of=me`)
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file)
    await publish(await open(lender), { a: '1' })
    expect(lender.asked).toEqual(['GET /v1/credentials?of=me proof-of-the-container'])
  })

  it('to an instance, after it showed that it can ask', async () => {
    const lender = new Lender()
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined)
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', await lender.start())
    await publish(await open(lender), { a: '1' })
    expect(lender.asked).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/ proof-of-the-instance',
      'GET /latest/meta-data/iam/security-credentials/role-of-the-instance proof-of-the-instance',
    ])
  })
})

/** For a container. */
async function started(): Promise<Lender> {
  const lender = new Lender()
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', await lender.start())
  return lender
}

describe('a lent key', () => {
  it('is asked for once by many writes at once, and again before it expires', async () => {
    const lender = await started()
    const store = await open(lender)
    const many = async (round: string): Promise<void> =>
      void (await Promise.all(Array.from({ length: 8 }, (_, index) => publish(store, { a: `${round} ${index}` }))))
    await many('first')
    expect(lender.lent).toBe(1)
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + HOUR_MS - 60_000)
    await many('an hour later')
    expect(lender.lent).toBe(2)
  })

  it('that the server refuses as expired is replaced within the same write', async () => {
    const lender = await started()
    const store = await open(lender)
    lender.expire()
    await publish(store, { a: '1' })
    expect(lender.lent).toBe(2)
  })

  it('is used on while its lender is away, until it expires, and then the refusal is one line', async () => {
    const lender = await started()
    const store = await open(lender)
    lender.isAway = true
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + HOUR_MS - 60_000)
    await publish(store, { a: '1' })
    clock.mockImplementation(() => now + HOUR_MS + 1)
    const said = await refusalOf(publish(store, { a: '2' }))
    expect(said).toBe(
      'bucket_unauthorized: no key for the bucket is lent: the metadata service of the container answered 500; see whether the task or the pod has a role',
    )
    lender.isAway = false
    await publish(store, { a: '2' })
  })
})

describe('without a key', () => {
  it('and without a role a start says what to set', async () => {
    const { endpoint = '' } = server.s3
    expect(await refusalOf(openBucket(newRepository(), { endpoint }))).toMatch(
      /^bucket_unauthorized: .*no key for it is set; set storage\.s3\.access_key_id .* role of AWS$/,
    )
  })

  it('no token is sent to an address elsewhere without TLS', async () => {
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', 'http://example.com/key')
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'secret')
    const { endpoint = '' } = server.s3
    const said = await refusalOf(openBucket(newRepository(), { endpoint }))
    expect(said).toMatch(/AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this machine/)
    expect(said).not.toContain('secret')
  })
})
