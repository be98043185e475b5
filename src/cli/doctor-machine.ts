/** Doctor's checks of this machine: versions, directories, disk, port, token and store. */
import { execFile } from 'node:child_process'
import { access, constants, stat, statfs } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { isLoopback, localUrl, type LoadedConfig } from '../config/index.ts'
import { childEnvironment, isBucket, isRemoteRepository, ROUTE_PREFIX, type ExecutorFact, type Store } from '../contract/index.ts'
import { codeOf } from '../kit/index.ts'
import { explain, splitMessage, type Explained, type Finding } from './explain.ts'
import type { ServiceModule, Surroundings } from './surroundings.ts'

const NODE_LEAST = '22.19.0'
const SQLITE_LEAST = '3.51.3'
const GIT_LEAST = '2.36.0'
const FREE_BYTES_LEAST = 100 * 1024 * 1024
const ANSWER_MILLISECONDS_MAX = 10_000

export function checkNode(versions: Readonly<Record<string, string | undefined>>): Finding {
  return atLeast('node', versions['node'], NODE_LEAST, `install Node ${NODE_LEAST} or newer`)
}

export function checkSqlite(versions: Readonly<Record<string, string | undefined>>): Finding {
  return atLeast('sqlite', versions['sqlite'], SQLITE_LEAST, 'install a Node that comes with it, such as the newest 24')
}

export async function checkGit(run: () => Promise<string> = gitVersion): Promise<Finding> {
  try {
    const version = /(?<!\d)\d+\.\d+(\.\d+)?/.exec(await run())?.[0]
    return atLeast('git', version, GIT_LEAST, `install git ${GIT_LEAST} or newer`)
  } catch {
    return { check: 'git', state: 'problem', found: 'git is not on the PATH', fix: `install git ${GIT_LEAST} or newer` }
  }
}

async function gitVersion(): Promise<string> {
  return (await promisify(execFile)('git', ['--version'], { env: childEnvironment(process.env) })).stdout
}

function atLeast(check: string, version: string | undefined, least: string, fix: string): Finding {
  const isEnough = version !== undefined && compareVersions(version, least) >= 0
  const found = version ?? 'no version found'
  return isEnough ? { check, state: 'ok', found } : { check, state: 'problem', found: `${found}; ${least} is needed`, fix }
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number))
  const differing = [0, 1, 2].map((index) => (left?.[index] ?? 0) - (right?.[index] ?? 0)).find((difference) => difference !== 0)
  return differing ?? 0
}

/** Without a token on a public address, or with one that is easily guessed, the configuration itself is refused. */
export function checkToken({ config }: LoadedConfig): Finding {
  const { host, token, tokens } = config.svc
  if (token !== null || tokens.length > 0) return { check: 'token', state: 'ok', found: 'every call needs a token' }
  return { check: 'token', state: 'ok', found: `none is set; ${isLoopback(host) ? 'open on loopback only' : 'open'}` }
}

function directories({ config }: LoadedConfig): readonly (readonly [key: string, path: string])[] {
  const { agent_record_dir: records, artifact_repository: releases, record_backend: backend } = config.storage
  if (backend === 'memory') return []
  const recordsPlace = ['storage.agent_record_dir', records] as const
  return isRemoteRepository(releases) ? [recordsPlace] : [recordsPlace, ['storage.artifact_repository', releases]]
}

export async function checkDirectories(loaded: LoadedConfig): Promise<readonly Finding[]> {
  return Promise.all(
    directories(loaded).map(async ([check, path]) => {
      const standing = nearestExisting(path)
      const isNew = standing !== path
      try {
        if (!(await stat(standing)).isDirectory())
          return { check, state: 'problem', found: `${standing} is not a directory`, fix: `set ${check} to one` } as const
        await access(standing, constants.W_OK | constants.X_OK)
        return { check, state: 'ok', found: isNew ? `${path} (will be created)` : path } as const
      } catch {
        return { check, state: 'problem', found: `${standing} cannot be written`, fix: `change its owner, or set ${check}` } as const
      }
    }),
  )
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
}

export async function checkDisk(loaded: LoadedConfig): Promise<readonly Finding[]> {
  const [records] = directories(loaded)
  if (records === undefined) return []
  const { bavail, bsize } = await statfs(nearestExisting(records[1]))
  return [diskFinding(bavail * bsize, loaded.config.storage.record_capacity_bytes)]
}

export function diskFinding(freeBytes: number, capacityBytes: number): Finding {
  const found = `${gibibytes(freeBytes)} free`
  if (freeBytes < FREE_BYTES_LEAST) {
    return { check: 'disk', state: 'problem', found, fix: 'free some space, or set storage.agent_record_dir on another disk' }
  }
  if (freeBytes >= capacityBytes) return { check: 'disk', state: 'ok', found }
  const fix = 'lower storage.record_capacity_bytes, or use a larger disk'
  return { check: 'disk', state: 'warning', found: `${found}, less than the ${gibibytes(capacityBytes)} that records may take`, fix }
}

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

export async function checkPort(loaded: LoadedConfig): Promise<readonly Finding[]> {
  const { host, port } = loaded.config.svc
  const check = 'port'
  const error = await listenError(host, port)
  if (error === null) return [{ check, state: 'ok', found: port === 0 ? 'any free one' : `${port} is free` }]
  const ready = codeOf(error) === 'EADDRINUSE' ? await readinessAt(localUrl(loaded.config.svc, port)) : null
  if (ready === true)
    return [{ check, state: 'warning', found: `a service already answers on ${port}`, fix: 'nothing, if it is the one you started' }]
  if (ready === false) return [{ check, state: 'problem', ...(await refusingService(loaded)) }]
  return explain(error, loaded).map((words) => ({ check, state: 'problem', ...words }))
}

const DAY_SECONDS = 24 * 3600
const RENEW_DAYS_BEFORE = 14

/** Nothing to find where the service speaks plain HTTP. */
export async function checkCertificate(loaded: LoadedConfig, surroundings: Surroundings): Promise<readonly Finding[]> {
  const check = 'certificate'
  try {
    const pair = await (await surroundings.service()).readTls(loaded)
    if (pair === null) return []
    const days = Math.floor((pair.expiresAt - Date.now() / 1000) / DAY_SECONDS)
    const found = `valid for ${days} days more`
    if (days >= RENEW_DAYS_BEFORE) return [{ check, state: 'ok', found }]
    return [{ check, state: 'warning', found, fix: 'renew it, then send SIGHUP to the service' }]
  } catch (error) {
    return explain(error, loaded).map((words) => ({ check, state: 'problem', ...words }))
  }
}

function listenError(host: string, port: number): Promise<Error | null> {
  return new Promise((done) => {
    const server = createServer()
    server.once('error', done)
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(null)))
  })
}

/** Whether the service that answers there is ready; null if it is no service of ours. */
async function readinessAt(url: string): Promise<boolean | null> {
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX) })
    if (answer.status !== 503) await answer.body?.cancel()
    if (answer.ok) return true
    return answer.status === 503 && Object(await answer.json()).ok === false ? false : null
  } catch {
    return null
  }
}

/** A service that refuses writes: its status says why, with a token. */
async function refusingService({ config: { svc } }: LoadedConfig): Promise<Explained> {
  const found = `a service answers on ${svc.port} and refuses writes`
  const token = svc.token ?? svc.tokens[0]
  try {
    const answer = await fetch(`${localUrl(svc, svc.port)}${ROUTE_PREFIX}/status`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
    })
    const message: unknown = Object(await answer.json()).storage?.error?.message
    if (typeof message !== 'string') return { found, fix: LOOK_INTO_LOG }
    const { found: why, fix = LOOK_INTO_LOG } = splitMessage(message)
    return { found: `${found}: ${why}`, fix }
  } catch {
    return { found, fix: LOOK_INTO_LOG }
  }
}

const LOOK_INTO_LOG = 'read its log, or ask svc status'

/** The service also runs without a sandbox, and plays no episode, so this is at most a warning. */
export async function checkSandbox(loaded: LoadedConfig, problemOf = sandboxProblem, factsOf = sandboxFacts): Promise<readonly Finding[]> {
  const problem = await problemOf(loaded)
  const whole: Finding =
    problem === null
      ? { check: 'sandbox', state: 'ok', found: 'episodes of agents are isolated from this machine' }
      : { check: 'sandbox', state: 'warning', ...splitMessage(`no episode runs here: ${problem}`) }
  const facts = (await factsOf(loaded)).map(({ name, holds, found, fix }): Finding => {
    const words = fix === undefined ? { found } : { found, fix }
    return { check: `sandbox ${name}`, state: holds ? 'ok' : 'warning', ...words }
  })
  return [whole, ...facts]
}

/** main.ts is loaded on demand, so that other commands start fast. */
const sandboxProblem = async (loaded: LoadedConfig): Promise<string | null> => (await import('../main.ts')).sandboxProblem(loaded)
const sandboxFacts = async (loaded: LoadedConfig): Promise<readonly ExecutorFact[]> => (await import('../main.ts')).sandboxFacts(loaded)

/** Tokens work without it, so this is at most a warning. */
export async function checkSignIn(loaded: LoadedConfig, problemOf = signInProblem): Promise<readonly Finding[]> {
  const check = 'sign-in'
  const settings = loaded.config.svc.sign_in
  if (settings === null) return []
  const problem = await problemOf(loaded)
  if (problem === null) return [{ check, state: 'ok', found: `${settings.issuer} answers as it should` }]
  return [{ check, state: 'warning', ...splitMessage(problem) }]
}

const signInProblem = async (loaded: LoadedConfig): Promise<string | null> => (await import('../main.ts')).signInProblem(loaded)

/** Opens an existing store as a check; a missing one is left for the service to create. */
export async function checkStore(loaded: LoadedConfig, surroundings: Surroundings): Promise<readonly Finding[]> {
  const check = 'store'
  const { agent_record_dir: directory, record_backend: backend } = loaded.config.storage
  const service = await surroundings.service()
  try {
    await service.checkFolders(loaded)
    if (backend === 'sqlite' && !existsSync(directory)) return [{ check, state: 'ok', found: 'none yet; the service will create it' }]
    return await findingsOf(loaded, await service.openStore(loaded), service)
  } catch (error) {
    const state = codeOf(error) === 'store_in_use' ? 'warning' : 'problem'
    return explain(error, loaded).map((words) => ({ check, state, ...words }))
  }
}

async function findingsOf(loaded: LoadedConfig, store: Store, service: ServiceModule): Promise<readonly Finding[]> {
  const check = 'store'
  try {
    const { records, expired_records: expired = 0 } = await store.usage()
    const remarks = (await store.remarks?.()) ?? []
    const trouble = (await store.writing?.check()) ?? null
    if (trouble !== null) throw trouble
    await service.checkKey(loaded, store)
    const removed = expired === 0 ? '' : `, ${expired} bodies removed for their age`
    return [
      { check, state: 'ok', found: `${loaded.config.storage.record_backend}, ${records} records${removed}` },
      ...remarks.map((remark) => ({ check, state: 'warning' as const, ...remark })),
    ]
  } finally {
    await store.close()
  }
}

/** A bucket is on another machine; a repository of this one was looked at as a folder. */
export async function checkBucket(loaded: LoadedConfig, surroundings: Surroundings): Promise<readonly Finding[]> {
  const check = 'bucket'
  const { artifact_repository: repository, record_backend: backend } = loaded.config.storage
  if (backend === 'memory' || !isBucket(repository)) return []
  try {
    await (await (await surroundings.service()).openArtifacts(loaded)).close()
    return [{ check, state: 'ok', found: `${repository} can be read and written` }]
  } catch (error) {
    return explain(error, loaded).map((words) => ({ check, state: 'problem', ...words }))
  }
}
