/** A machine worth breaking out into, and programs that try: whatever they do, the machine is afterwards what it was. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import sandbox from '../../plugins/executors/sandbox/index.ts'
import type { Episode, JsonObject, Play } from '../../src/contract/index.ts'
import { sharedFolder } from '../support/folder.ts'

/** Small, so that going past them takes no time. */
const LIMITS = { memory_bytes: 400 * 1024 * 1024, processes: 32, disk_bytes: 32 * 1024 * 1024, files: 500 }
export const TOKEN = 'token-of-the-evaluation-routes'
export const ANSWER = '{"choices":[]}'

export interface Attempt {
  readonly program?: 'node' | 'perl' | 'sh'
  readonly limits?: Readonly<Partial<typeof LIMITS>>
  readonly timeoutSeconds?: number
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly play?: Partial<Play>
}

export interface SandboxWorld {
  /** A folder of the machine's, with a secret in it that no episode may read or change. */
  readonly machine: string
  readonly secret: string
  readonly port: () => number
  /** What reached the evaluation routes since the test began, and the machine's other service. */
  readonly calls: readonly IncomingMessage[]
  readonly visits: readonly string[]
  /** Whether a program of an attempt was started and has not ended. */
  readonly isRunning: () => boolean
  attempt(script: string, attempt?: Attempt): Promise<Episode>
}

/** Asked for once per file; after each test the machine is looked over. */
export function sandboxWorld(): SandboxWorld {
  const machine = sharedFolder()
  const secret = randomBytes(12).toString('hex')
  const mark = `mark-${randomBytes(12).toString('hex')}`
  const calls: IncomingMessage[] = []
  const visits: string[] = []
  const model = createServer((request, response) => {
    calls.push(request)
    request.resume().on('end', () => response.end(ANSWER))
  })
  const other = createSocket((socket) => void visits.push(`${socket.remotePort}`))
  writeFileSync(join(machine, 'secret.txt'), secret, { mode: 0o600 })
  mkdirSync(join(machine, 'folder'))
  let before = ''

  beforeAll(async () => {
    process.env['SECRET_OF_THE_SERVICE'] = secret
    for (const server of [model, other]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    before = photograph(machine)
  })
  afterEach(() => {
    expect(photograph(machine)).toBe(before)
    expect(visits).toEqual([])
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('svc-episode-') && name.includes(`-${process.pid}-`))).toEqual([])
    expect(processesMarked(mark)).toEqual([])
    calls.length = 0
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
        model: { url: `http://127.0.0.1:${portOf(model)}`, model: 'm', api: 'openai', apiKey: TOKEN },
        launch: () => ({ argv, env, timeoutSeconds }),
        readTrajectory: async (root) => readLog(join(root, 'log.jsonl')),
        needs: [],
        ...play,
      },
      signal ?? new AbortController().signal,
    )
  }
  return { machine, secret, port: () => portOf(other), calls, visits, isRunning: () => processesMarked(mark).length > 0, attempt }
}

/** As trusting as a reader can be: opens what is there, and follows wherever it leads. */
export async function readLog(path: string): Promise<readonly JsonObject[]> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return []
  return [{ log: readFileSync(path, 'utf8') }]
}

function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
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
