/** Child processes of a run: each listens on a port, logs to a file, and ends with the benchmark. */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { pidsUnder } from './cpu.ts'

const READY_WITHIN_MS = 30_000
const READY_POLL_MS = 5
const STOP_WITHIN_MS = 5000
const OUTPUT_SHOWN_CHARACTERS = 2000

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly port: number
  readonly outputFile: string
  readonly cwd?: string
  readonly readyWithinMs?: number
  /** A path that answers once it is ready; missing: it is ready when it takes connections. */
  readonly healthPath?: string
  /** It serves from a child, so that a kill must reach the whole family. */
  readonly hasChildren?: boolean
}

export interface Process {
  readonly pid: number
  /** SIGTERM, then SIGKILL. */
  readonly stop: () => Promise<void>
  /** kill -9. */
  readonly kill: () => Promise<void>
}

/** Living children, with those of them that have their own. */
const living = new Map<ChildProcess, Program>()

process.on('exit', () => {
  for (const [child, program] of living) killNow(child, program)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(2))

/** Starts a program and waits until it is ready. */
export async function start(program: Program): Promise<Process> {
  const output = openSync(program.outputFile, 'a')
  const env = { ...process.env, ...program.env }
  const { cwd } = program
  const child = spawn(program.command, program.args, { env, stdio: ['ignore', output, output], ...(cwd !== undefined && { cwd }) })
  closeSync(output)
  living.set(child, program)
  child.once('exit', () => living.delete(child))
  const failed = once(child, 'error').then(() => Promise.reject(new Error(`cannot start ${program.command}`)))
  await Promise.race([listening(child, program), failed])
  if (child.pid === undefined) throw new Error(`cannot start ${program.command}`)
  return { pid: child.pid, stop: () => end(child, program, 'SIGTERM'), kill: () => end(child, program, 'SIGKILL') }
}

async function listening(child: ChildProcess, program: Program): Promise<void> {
  const startedAt = performance.now()
  while (!(await isReady(program))) {
    if (child.exitCode !== null || performance.now() - startedAt > (program.readyWithinMs ?? READY_WITHIN_MS)) {
      const said = readFileSync(program.outputFile, 'utf8').slice(-OUTPUT_SHOWN_CHARACTERS)
      throw new Error(`${program.command} ${program.args[0] ?? ''} does not listen; it said:\n${said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS))
  }
}

function isReady({ port, healthPath }: Program): Promise<boolean> {
  if (healthPath === undefined) return accepts(port)
  return fetch(`http://127.0.0.1:${port}${healthPath}`).then(
    async (answer) => answer.ok && (await answer.arrayBuffer()).byteLength >= 0,
    () => false,
  )
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

async function end(child: ChildProcess, program: Program, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  if (signal === 'SIGKILL') killNow(child, program)
  else child.kill(signal)
  const force = setTimeout(() => killNow(child, program), STOP_WITHIN_MS)
  await gone
  clearTimeout(force)
}

function killNow(child: ChildProcess, { hasChildren = false }: Program): void {
  const family = hasChildren && child.pid !== undefined ? pidsUnder(child.pid) : []
  child.kill('SIGKILL')
  for (const pid of family) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
