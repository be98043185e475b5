/** Child processes of a run: each listens on a port, logs to a file, and ends with the benchmark. */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

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
}

export interface Process {
  readonly pid: number
  /** SIGTERM, then SIGKILL. */
  readonly stop: () => Promise<void>
  /** kill -9. */
  readonly kill: () => Promise<void>
}

const living = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(2))

/** Starts a program and waits until its port takes connections. */
export async function start(program: Program): Promise<Process> {
  const output = openSync(program.outputFile, 'a')
  const env = { ...process.env, ...program.env }
  const child = spawn(program.command, program.args, { env, stdio: ['ignore', output, output] })
  closeSync(output)
  living.add(child)
  child.once('exit', () => living.delete(child))
  const failed = once(child, 'error').then(() => Promise.reject(new Error(`cannot start ${program.command}`)))
  await Promise.race([listening(child, program), failed])
  if (child.pid === undefined) throw new Error(`cannot start ${program.command}`)
  return { pid: child.pid, stop: () => end(child, 'SIGTERM'), kill: () => end(child, 'SIGKILL') }
}

async function listening(child: ChildProcess, program: Program): Promise<void> {
  const startedAt = performance.now()
  while (!(await accepts(program.port))) {
    if (child.exitCode !== null || performance.now() - startedAt > READY_WITHIN_MS) {
      const said = readFileSync(program.outputFile, 'utf8').slice(-OUTPUT_SHOWN_CHARACTERS)
      throw new Error(`${program.command} ${program.args[0] ?? ''} does not listen; it said:\n${said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS))
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
  await gone
  clearTimeout(force)
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
