/** One bucket: signed requests that are tried again where that may help, conditional writes, and large files in parts. */
import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal, type JsonObject } from '../../../src/contract/index.ts'
import { codeOf, Slots } from '../../../src/kit/index.ts'
import { connectionsTo, type Connections } from '../../runtimes/common/upstream.ts'
import { fixedKey, lentKeys, type Keys } from './lent-keys.ts'
import { answerRefusal, connectionRefusal } from './refusals.ts'
import type { BucketSettings } from './settings.ts'
import { pathText, queryText, signedHeaders, type BucketKey } from './signature.ts'
import { tagged } from './xml.ts'

/** For the first byte of an answer, and between two of its parts. */
const ANSWER_MS_MAX = 10_000
const ATTEMPTS_MAX = 4
const REST_MS = 200
const REQUESTS_MAX = 16
/** The largest answer that is held in memory: an object, deflated. */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024
/** A larger file is sent in parts of this size. S3 takes 10,000 of them, each of 5 MiB at least. */
const PART_BYTES = 16 * 1024 * 1024
const PARTS_MAX = 10_000
const PARTS_AT_ONCE = 4
const PASSING_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504])
/** A connection that was there and broke off: the next one may not. */
const PASSING_CODE = /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/
/** Another write of the same key was under way. */
const CONTENDED = 409
const CONDITION_FAILED = 412
const NOT_FOUND = 404
const FORBIDDEN = 403
/** What a key is refused with that expired, or that the server does not know yet. */
const OF_KEY: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
  'InvalidToken',
  'InvalidAccessKeyId',
])

interface BucketRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}
interface BucketAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}
/** What must hold for a write: there is none of that key, or the one that has this tag. */
export type Condition = { readonly kind: 'absent' } | { readonly kind: 'unchanged'; readonly tag: string }

export interface KeptObject {
  readonly bytes: Buffer
  /** Changes with the bytes. */
  readonly tag: string
}

const NOTHING = new Uint8Array()

export class Bucket {
  readonly #settings: BucketSettings
  readonly #connections: Connections
  readonly #keys: Keys
  readonly #slots = new Slots(REQUESTS_MAX)
  #closed: Promise<void> | null = null

  constructor(settings: BucketSettings, config: JsonObject) {
    this.#settings = settings
    this.#connections = connectionsTo(settings.address, ANSWER_MS_MAX, config)
    this.#keys = settings.key === null ? lentKeys(settings.region, config, process.env) : fixedKey(settings.key)
  }

  async get(key: string): Promise<KeptObject | null> {
    const { status, body, headers } = await this.#ask({ method: 'GET', key }, [NOT_FOUND])
    return status === NOT_FOUND ? null : { bytes: body, tag: textOf(headers['etag']) }
  }

  /** Whether it was written. False: the condition does not hold, or an earlier attempt of this very call wrote it. */
  async put(key: string, body: Uint8Array, condition: Condition): Promise<boolean> {
    const headers = { ...conditionHeaders(condition), 'x-amz-checksum-sha256': sha256Of(body) }
    const { status } = await this.#ask({ method: 'PUT', key, headers, body }, [CONDITION_FAILED, NOT_FOUND])
    return status < 300
  }

  /** Whether it is gone. False: it changed meanwhile. */
  async remove(key: string, tag: string): Promise<boolean> {
    const { status } = await this.#ask({ method: 'DELETE', key, headers: { 'if-match': tag } }, [CONDITION_FAILED, NOT_FOUND])
    return status !== CONDITION_FAILED
  }

  /** A file of any length, unless one of that key and length is there. */
  async putFile(key: string, path: string, bytes: number): Promise<void> {
    const there = await this.#ask({ method: 'HEAD', key }, [NOT_FOUND])
    if (there.status !== NOT_FOUND && Number(textOf(there.headers['content-length'])) === bytes) return
    const file = await open(path)
    try {
      if (bytes > PART_BYTES) await this.#putParts(key, file, bytes)
      else await this.put(key, await readPart(file, 0, bytes), { kind: 'absent' })
    } finally {
      await file.close()
    }
  }

  /** The bytes of an object, from the place on where the connection broke off. Null when there is none. */
  async stream(key: string): Promise<AsyncIterable<Uint8Array> | null> {
    const first = await this.#ask({ method: 'HEAD', key }, [NOT_FOUND])
    return first.status === NOT_FOUND ? null : this.#chunks(key, Number(textOf(first.headers['content-length'])))
  }

  /** May be repeated. */
  close(): Promise<void> {
    this.#closed ??= this.#connections.dispatcher.close()
    return this.#closed
  }

  /** A range at a time, so that what is lost is little and no answer is held whole. */
  async *#chunks(key: string, bytes: number): AsyncIterable<Uint8Array> {
    for (let at = 0; at < bytes; at += PART_BYTES) {
      const range = `bytes=${at}-${Math.min(at + PART_BYTES, bytes) - 1}`
      yield (await this.#ask({ method: 'GET', key, headers: { range } }, [])).body
    }
  }

  /** What a kill leaves of an upload is invisible, and goes by a rule of the bucket. */
  async #putParts(key: string, file: FileHandle, bytes: number): Promise<void> {
    const begun = await this.#ask({ method: 'POST', key, query: { uploads: '' }, headers: { 'x-amz-checksum-algorithm': 'SHA256' } }, [])
    const upload = { uploadId: elementOf(begun.body, 'UploadId') }
    try {
      const parts = await this.#sendParts(key, file, bytes, upload)
      const complete = {
        method: 'POST',
        key,
        query: upload,
        headers: { 'if-none-match': '*' },
        body: Buffer.from(partList(parts)),
      } as const
      const { status, body } = await this.#ask(complete, [CONDITION_FAILED, NOT_FOUND])
      // The status of a long answer is sent before its end is known.
      if (status < 300 && body.includes('<Error>')) throw answerRefusal(500, elementOf(body, 'Code'))
      // An earlier attempt, or another process, may have completed it.
      if (status === NOT_FOUND && (await this.#ask({ method: 'HEAD', key }, [NOT_FOUND])).status === NOT_FOUND)
        throw answerRefusal(500, 'NoSuchUpload')
    } catch (error) {
      await this.#ask({ method: 'DELETE', key, query: upload }, [NOT_FOUND]).catch(() => undefined)
      throw error
    }
  }

  async #sendParts(key: string, file: FileHandle, bytes: number, upload: { readonly uploadId: string }): Promise<readonly SentPart[]> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(bytes / PARTS_MAX))
    const sent: SentPart[] = []
    let next = 0
    const sender = async (): Promise<void> => {
      for (let index = next++; index * partBytes < bytes; index = next++) {
        const body = await readPart(file, index * partBytes, Math.min(partBytes, bytes - index * partBytes))
        const checksum = sha256Of(body)
        const query = { ...upload, partNumber: String(index + 1) }
        const { headers } = await this.#ask({ method: 'PUT', key, query, headers: { 'x-amz-checksum-sha256': checksum }, body }, [])
        sent[index] = { tag: textOf(headers['etag']), checksum }
      }
    }
    const senders = Array.from({ length: PARTS_AT_ONCE }, sender)
    // No part is on its way any more when the upload is given up.
    await Promise.allSettled(senders)
    await Promise.all(senders)
    return sent
  }

  /** Answers what was asked for, or with one of those statuses. Everything else is a refusal. */
  #ask(request: BucketRequest, expected: readonly number[]): Promise<BucketAnswer> {
    return this.#slots.run(async () => {
      for (let attempt = 1; ; attempt += 1) {
        const key = await this.#keys.current()
        const answer = await this.#tryOnce(request, key).catch((error: unknown) => {
          if (attempt < ATTEMPTS_MAX && PASSING_CODE.test(codeOf(error) ?? '')) return null
          throw isRefusal(error) ? error : connectionRefusal(error)
        })
        if (answer !== null) {
          const { status, body } = answer
          const code = status < 300 ? '' : elementOf(body, 'Code')
          if (status < 300 || (expected.includes(status) && code !== 'NoSuchBucket')) return answer
          const isPassing = PASSING_STATUS.has(status) || status === CONTENDED || (isOfKey(status, code) && this.#keys.giveUp(key))
          if (!isPassing || attempt === ATTEMPTS_MAX) throw answerRefusal(status, code)
        }
        await sleep(REST_MS * 2 ** (attempt - 1))
      }
    })
  }

  async #tryOnce({ method, key, query = {}, headers = {}, body = NOTHING }: BucketRequest, secret: BucketKey): Promise<BucketAnswer> {
    const { origin, prefix, dispatcher } = this.#connections
    const { region, prefix: folder } = this.#settings
    const path = `${prefix}/${pathText(folder + key)}`
    const signed = signedHeaders({ method, host: new URL(origin).host, path, query, headers, body }, secret, region, new Date())
    const search = queryText(query)
    const answer = await dispatcher.request({
      origin,
      path: search === '' ? path : `${path}?${search}`,
      method,
      headers: signed,
      body: method === 'PUT' || method === 'POST' ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : null,
    })
    return { status: answer.statusCode, headers: answer.headers, body: await whole(answer.body) }
  }
}

interface SentPart {
  readonly tag: string
  readonly checksum: string
}

/** An answer to HEAD has no words. */
const isOfKey = (status: number, code: string): boolean => OF_KEY.has(code) || (code === '' && status === FORBIDDEN)

async function whole(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw answerRefusal(500, 'AnswerTooLarge')
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

async function readPart(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const part = Buffer.alloc(bytes)
  for (let filled = 0; filled < bytes;) {
    const { bytesRead } = await file.read(part, filled, bytes - filled, position + filled)
    if (bytesRead === 0) throw new Error('the file became shorter while it was sent')
    filled += bytesRead
  }
  return part
}

const conditionHeaders = (condition: Condition): Readonly<Record<string, string>> =>
  condition.kind === 'absent' ? { 'if-none-match': '*' } : { 'if-match': condition.tag }

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64')

const textOf = (value: string | string[] | undefined): string => [value].flat()[0] ?? ''

const elementOf = (body: Buffer, name: string): string => tagged(body.toString('utf8', 0, 64 * 1024), name)

const partList = (parts: readonly SentPart[]): string => {
  const lines = parts.map(
    ({ tag, checksum }, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag><ChecksumSHA256>${checksum}</ChecksumSHA256></Part>`,
  )
  return `<CompleteMultipartUpload>${lines.join('')}</CompleteMultipartUpload>`
}
