/** An S3 server of a test's own, in a temporary folder: versitygw, which is made with Go. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { signedHeaders } from '../../plugins/contents/s3/signature.ts'
import { demand } from '../needs/missing.ts'
import { freePort } from './listen.ts'
import type { Settings } from './settings.ts'

const VERSION = 'v1.8.0'
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/svc-s3', VERSION)
const PROGRAM = join(FOLDER, 'versitygw')
const KEY = { accessKeyId: 'tester', secretAccessKey: 'the-secret-of-the-tester', sessionToken: null }
const GUEST = { accessKeyId: 'guest', secretAccessKey: 'the-secret-of-the-guest' }
const REGION = 'us-east-1'
export const BUCKET = 'releases'
const LOOK_AGAIN_MS = 50
const LOOKS_MAX = 600

export const isVersitygwThere = (): boolean => existsSync(PROGRAM)

export async function installVersitygw(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const environment = { ...process.env, GOBIN: FOLDER, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' }
  await promisify(execFile)('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${VERSION}`], {
    env: environment,
    maxBuffer: 2 ** 24,
  })
}

type S3Settings = Readonly<Record<string, string>>

export interface S3Server {
  readonly endpoint: string
  /** Where its buckets lie, a folder each. */
  readonly folder: string
  /** What contents in a bucket are made with, but for the repository and the cache. */
  readonly s3: S3Settings
  /** The same with a key that may do nothing. */
  readonly guest: S3Settings
  /** The same as settings of a service. */
  readonly settings: Settings
  start(): Promise<void>
  /** kill -9. */
  kill(): Promise<void>
  /** It hangs: connections are made, and nothing is answered. */
  pause(): void
  resume(): void
  stop(): void
}

/** With one empty bucket. The caller stops it. */
export async function startS3(): Promise<S3Server> {
  demand('versitygw')
  const root = mkdtempSync(join(tmpdir(), 'svc-s3-'))
  const folder = join(root, 'buckets')
  const sidecar = join(root, 'sidecar')
  const users = join(root, 'users')
  for (const path of [folder, sidecar, users]) mkdirSync(path)
  const host = `127.0.0.1:${await freePort()}`
  const endpoint = `http://${host}`
  const keys = ['--access', KEY.accessKeyId, '--secret', KEY.secretAccessKey]
  let running: ChildProcess | null = null
  const start = async (): Promise<void> => {
    running = spawn(
      PROGRAM,
      [...keys, '--region', REGION, '--port', host, '--iam-dir', users, '--quiet', 'posix', '--sidecar', sidecar, folder],
      {
        stdio: 'ignore',
      },
    )
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      if ((await fetch(endpoint).catch(() => null)) !== null) return
      await sleep(LOOK_AGAIN_MS)
    }
    throw new Error('versitygw did not start')
  }
  await start()
  await makeBucket(host)
  const guest = ['-a', GUEST.accessKeyId, '-s', GUEST.secretAccessKey, '-r', 'user']
  await promisify(execFile)(PROGRAM, ['admin', '-a', KEY.accessKeyId, '-s', KEY.secretAccessKey, '-er', endpoint, 'create-user', ...guest])
  const s3 = { endpoint, region: REGION, access_key_id: KEY.accessKeyId, secret_access_key: KEY.secretAccessKey }
  return {
    endpoint,
    folder,
    s3,
    settings: Object.fromEntries(Object.entries(s3).map(([name, value]) => [`storage.s3.${name}`, value])),
    guest: { endpoint, region: REGION, access_key_id: GUEST.accessKeyId, secret_access_key: GUEST.secretAccessKey },
    start,
    async kill() {
      if (running === null) return
      const ended = once(running, 'exit')
      running.kill('SIGKILL')
      running = null
      await ended
    },
    pause: () => void running?.kill('SIGSTOP'),
    resume: () => void running?.kill('SIGCONT'),
    stop() {
      running?.kill('SIGKILL')
      rmSync(root, { recursive: true, force: true })
    },
  }
}

async function makeBucket(host: string): Promise<void> {
  const request = { method: 'PUT', host, path: `/${BUCKET}`, query: {}, headers: {}, body: new Uint8Array() }
  const { status } = await fetch(`http://${host}/${BUCKET}`, { method: 'PUT', headers: signedHeaders(request, KEY, REGION, new Date()) })
  if (status !== 200) throw new Error(`versitygw made no bucket: ${status}`)
}
