/** A machine with secrets, and programs that try to escape the sandbox: the machine must stay unchanged. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import sandbox from '../../plugins/executors/sandbox/index.ts'
import type { Episode, JsonObject, Play } from '../../src/contract/index.ts'
import { sharedFolder } from '../support/folder.ts'
import { listenOnLoopback } from '../support/listen.ts'

/** Small, so that exceeding them is quick. */
const LIMITS = { memory_bytes: 400 * 1024 * 1024, processes: 32, disk_bytes: 32 * 1024 * 1024, files: 500 }
export const TOKEN = 'token-of-the-evaluation-routes'
export const ANSWER = '{"choices":[]}'
const MODEL = 'm'

export interface Attempt {
  readonly program?: 'node' | 'perl' | 'sh'
  readonly limits?: Readonly<Record<string, number>>
  readonly timeoutSeconds?: number
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly play?: Partial<Play>
}

export interface SandboxWorld {
  /** A folder with a secret that no episode may read or change. */
  readonly machine: string
  readonly secret: string
  readonly port: () => number
  /** Requests to the evaluation routes and to another service of the machine. */
  readonly calls: readonly IncomingMessage[]
  /** What arrived there. */
  readonly bodies: readonly string[]
  readonly connections: readonly string[]
  /** Whether a process of an attempt still runs. */
  readonly isRunning: () => boolean
  attempt(script: string, attempt?: Attempt): Promise<Episode>
}

/** Once per file; checks the machine after each test. */
export function sandboxWorld(): SandboxWorld {
  const machine = sharedFolder()
  const secret = randomBytes(12).toString('hex')
  const mark = `mark-${randomBytes(12).toString('hex')}`
  const calls: IncomingMessage[] = []
  const bodies: string[] = []
  const connections: string[] = []
  const model = createServer((request, response) => {
    calls.push(request)
    text(request)
      .then((body) => response.end(ANSWER) && bodies.push(body))
      .catch(() => undefined)
  })
  const other = createSocket((socket) => void connections.push(`${socket.remotePort}`))
  writeFileSync(join(machine, 'secret.txt'), secret, { mode: 0o600 })
  mkdirSync(join(machine, 'folder'))
  let before = ''
  let ports: readonly number[] = []

  beforeAll(async () => {
    process.env['SECRET_OF_THE_SERVICE'] = secret
    ports = [await listenOnLoopback(model), await listenOnLoopback(other)]
    before = photograph(machine)
  })
  afterEach(() => {
    expect(photograph(machine)).toBe(before)
    expect(connections).toEqual([])
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('svc-episode-') && name.includes(`-${process.pid}-`))).toEqual([])
    expect(processesMarked(mark)).toEqual([])
    calls.length = 0
    bodies.length = 0
  })
  afterAll(() => {
    delete process.env['SECRET_OF_THE_SERVICE']
    for (const server of [model, other]) server.close()
  })

  const attempt = async (script: string, { program = 'node', limits = {}, timeoutSeconds = 30, env = {}, signal, play }: Attempt = {}) => {
    const executor = await sandbox.plugin.make({ sandbox: { ...LIMITS, ...limits } })
    const argv = program === 'node' ? [process.execPath, '-e', script, '--', mark] : [program, program === 'sh' ? '-c' : '-e', script, mark]
    return executor.run(
      {
        files: (address) => ({ 'model.json': JSON.stringify(address), 'rules.md': 'the rules' }),
        workspace: { 'task.txt': 'the task' },
        model: { url: `http://127.0.0.1:${ports[0]}`, model: MODEL, api: 'openai', apiKey: TOKEN },
        launch: () => ({ argv, env, timeoutSeconds }),
        readTrajectory: async (root) => readLog(join(root, 'log.jsonl')),
        needs: [],
        ...play,
      },
      signal ?? new AbortController().signal,
    )
  }
  return {
    machine,
    secret,
    port: () => ports[1] ?? 0,
    calls,
    bodies,
    connections,
    isRunning: () => processesMarked(mark).length > 0,
    attempt,
  }
}

/** A naive reader that follows links. */
export async function readLog(path: string): Promise<readonly JsonObject[]> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return []
  return [{ log: readFileSync(path, 'utf8') }]
}

/** Names, contents, rights and times of everything in it. */
function photograph(folder: string): string {
  const paths = ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()]
  const seen = paths.map((path) => {
    const { mode, size, nlink, mtimeMs } = statSync(join(folder, path))
    return [path, mode, size, nlink, mtimeMs]
  })
  return JSON.stringify([seen, readFileSync(join(folder, 'secret.txt'), 'utf8')])
}

function processesMarked(mark: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })
}
