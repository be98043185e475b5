/** The settings of contents in a bucket. */
import { invalid, isObject, S3_CACHE_BYTES_DEFAULT, type Json, type JsonObject } from '../../../src/contract/index.ts'
import type { BucketKey } from './signature.ts'

const EXAMPLE = 's3://bucket/folder'
/** What Amazon allows, and what fits into a host name and a path alike. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const REGION_DEFAULT = 'us-east-1'

export interface BucketSettings {
  /** Of the bucket, without a slash at its end. */
  readonly address: string
  /** Before every key: empty, or ends in a slash. */
  readonly prefix: string
  readonly region: string
  /** Null: one is lent. */
  readonly key: BucketKey | null
  /** How much the copy on this machine may take. */
  readonly cacheBytes: number
}

export function readSettings({ repository, s3 }: JsonObject): BucketSettings {
  const own: JsonObject = isObject(s3) ? s3 : {}
  const { bucket, prefix } = bucketIn(repository)
  const region = filled(own['region']) ?? REGION_DEFAULT
  const endpoint = filled(own['endpoint'])
  const address = endpoint === null ? amazonAddress(bucket, region) : `${endpoint}/${bucket}`
  const { cache_bytes: cacheBytes } = own
  return { address, prefix, region, key: keyIn(own), cacheBytes: typeof cacheBytes === 'number' ? cacheBytes : S3_CACHE_BYTES_DEFAULT }
}

/** A certificate for all hosts below a name holds for no name with a dot in it. */
const amazonAddress = (bucket: string, region: string): string =>
  bucket.includes('.') ? `https://s3.${region}.amazonaws.com/${bucket}` : `https://${bucket}.s3.${region}.amazonaws.com`

function bucketIn(repository: Json | undefined): { readonly bucket: string; readonly prefix: string } {
  const [, bucket = '', folder = ''] = /^s3:\/\/([^/?#]*)\/?([^?#]*)$/i.exec(filled(repository) ?? '') ?? []
  if (!BUCKET.test(bucket)) throw invalid('bad_repository', `repository must be a bucket and a folder in it, such as ${EXAMPLE}`)
  const segments = folder.split('/').filter(Boolean)
  if (segments.some((segment) => !/^[\w.-]+$/.test(segment) || /^\.\.?$/.test(segment)))
    throw invalid('bad_repository', 'the folder in the bucket may have letters, digits, . _ and - between its slashes; rename it')
  return { bucket, prefix: segments.map((segment) => `${segment}/`).join('') }
}

function keyIn(own: JsonObject): BucketKey | null {
  const [accessKeyId, secretAccessKey] = [filled(own['access_key_id']), filled(own['secret_access_key'])]
  if (accessKeyId === null && secretAccessKey === null) return null
  if (accessKeyId === null || secretAccessKey === null)
    throw invalid(
      'bad_repository',
      'repository is a bucket, and half of its key is set; set both storage.s3.access_key_id and storage.s3.secret_access_key (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)',
    )
  return { accessKeyId, secretAccessKey, sessionToken: filled(own['session_token']) }
}

const filled = (value: Json | undefined): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null)
