/** Where the resident agent of a folder is reached, and what it keeps there. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@svc-ai/client/shared'
import { SOCKET_PATH_BYTES_MAX } from './limits.ts'

export interface ResidentPlaces {
  /** The folder a tree is pulled to. */
  readonly root: string
  readonly native: string
  readonly sessions: string
  readonly lock: string
  /** Where the service is, for the commands that ask it. */
  readonly state: string
  readonly socket: string
}

export function placesIn(folder: string): ResidentPlaces {
  const root = realPath(folder)
  const native = join(root, 'native')
  return {
    root,
    native,
    sessions: join(native, 'sessions'),
    lock: join(native, 'serve.lock'),
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

/** Where everybody may write, somebody else's folder of the same name would get what is said to the agent. */
function ownTemporaryFolder(): string {
  const { uid } = userInfo()
  const folder = join(tmpdir(), `svc-native-${uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (found.isDirectory() && (uid < 0 || found.uid === uid) && (found.mode & 0o077) === 0) return folder
  throw new Failure(`${folder} is not yours alone: remove it, or put the harness in a folder with a shorter path`)
}
