/** Where the resident agent of a folder is reached, and what it keeps there. */
import { createHash } from 'node:crypto'
import { lstatSync, realpathSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { readIfThere } from '@svc-ai/agent/shared'
import { Failure, scenarioName, serviceUrl, tokenIn, field, parseJson } from '@svc-ai/client/shared'
import { SOCKET_PATH_BYTES_MAX } from './limits.ts'
import { mkdirpSync } from '@svc-ai/client/folders'

export type ResidentPlaces = Readonly<ReturnType<typeof placesIn>>

export function placesIn(folder: string) {
  const root = realPath(folder)
  const native = join(root, 'native')
  return {
    /** The folder a tree is pulled to. */
    root,
    native,
    sessions: join(native, 'sessions'),
    lock: join(native, 'serve.lock'),
    /** Where the service is, for the commands that ask it. */
    state: join(native, 'serve.json'),
    socket: socketIn(native),
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    throw new Failure(`there is no folder ${folder}: pull a harness with 'svc-client pull', or name another with --tree`)
  }
}

function socketIn(native: string): string {
  const path = join(native, 'serve.sock')
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return path
  return join(ownTemporaryFolder(), `${createHash('sha256').update(native).digest('hex').slice(0, 16)}.sock`)
}

/** In a folder that all users may write to, another user's folder of the same name would get what is said to the agent. */
function ownTemporaryFolder(): string {
  const { uid } = userInfo()
  const folder = join(tmpdir(), `svc-native-${uid}`)
  mkdirpSync(folder, { mode: 0o700 })
  const found = lstatSync(folder)
  if (found.isDirectory() && (uid < 0 || found.uid === uid) && (found.mode & 0o077) === 0) return folder
  throw new Failure(`${folder} is not yours alone: remove it, or put the harness in a folder with a shorter path`)
}

type GivenService = Readonly<Record<'url' | 'scenario', string | undefined>>

/** The service that a folder's harness comes from: as the command line says, else as it was last served. */
export async function serviceIn({ root, state }: ResidentPlaces, given: GivenService) {
  const served = parseJson((await readIfThere(state)) ?? '')
  const [url, scenario] = [given.url ?? textOf(served, 'url'), given.scenario ?? textOf(served, 'scenario')]
  if (url === undefined || scenario === undefined)
    throw new Failure(`${root} was never served: say which service is meant with --url and --scenario`)
  return { url: serviceUrl(url), scenario: scenarioName(scenario), token: tokenIn(process.env) }
}

function textOf(value: unknown, name: string): string | undefined {
  const text = field(value, name)
  return typeof text === 'string' ? text : undefined
}
