/**
 * Runs code of the tree in a process of its own: requests and answers are lines of JSON. What may not happen: that it takes this
 * process with it, keeps it waiting for ever, fills its memory, or leaves something running.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { field, parseJson } from '@svc-ai/client/shared'
import { MODULE_LINE_BYTES_MAX, STDERR_CHARACTERS_KEPT } from './limits.ts'
import { RUNNER } from './runner.ts'
import type { Capability, Data } from './tree.ts'

export interface ModuleOrder {
  /** The runner's request: which of its three tasks, and its input. */
  readonly task: Data
  readonly capabilities: readonly Capability[]
  readonly workdir: string
  /** How long it may be silent, but for the time in which a question of its own is answered. */
  readonly secondsMax: number
  readonly signal: AbortSignal
  /** Answers what the code asks meanwhile. Absent: nothing is answered. */
  readonly answer?: (method: string, args: readonly unknown[]) => Promise<unknown>
}

export type ModuleOutcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }

/** Throws the signal's reason once it is given, or what an answer threw; anything else is an outcome. */
export async function runModule(order: ModuleOrder): Promise<ModuleOutcome> {
  order.signal.throwIfAborted()
  const child = spawn(process.execPath, [...flagsFor(order), '--input-type=module', '--eval', RUNNER], {
    cwd: order.workdir,
    env: environment(),
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    // A group of its own, so that what it started can be ended with it.
    detached: true,
  })
  try {
    return await converse(child, order)
  } finally {
    endGroup(child)
  }
}

/**
 * Node itself keeps a tool from what it did not ask for. That is no boundary against code that wants out: an executor that keeps agents apart is.
 * A tool that may start programs may do anything by them, and Node would hand its limits on to them.
 */
function flagsFor({ capabilities, workdir }: ModuleOrder): readonly string[] {
  if (capabilities.includes('exec')) return ['--no-warnings']
  const writable = capabilities.includes('write') ? [workdir, tmpdir()].filter((place) => existsSync(place)) : []
  const places = writable.map((place) => `--allow-fs-write=${realpathSync(place)}`)
  const net = capabilities.includes('network') && process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []
  return ['--no-warnings', '--permission', ...(capabilities.includes('read') ? ['--allow-fs-read=*'] : []), ...places, ...net]
}

/** Nothing of the service's goes to code that a model may have written. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_OPTIONS')
  return Object.fromEntries(kept)
}

function converse(child: ChildProcess, order: ModuleOrder): Promise<ModuleOutcome> {
  const { secondsMax, signal } = order
  return new Promise((resolve, reject) => {
    let [stderr, asked] = ['', 0]
    const late = (): void => settle({ ok: false, problem: `it gave no answer within ${secondsMax} s and was ended` })
    let timer = setTimeout(late, secondsMax * 1000)
    const cleanUp = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    const settle = (outcome: ModuleOutcome): void => {
      cleanUp()
      resolve(outcome)
    }
    const refuse = (error: unknown): void => {
      cleanUp()
      reject(error)
    }
    const abort = (): void => refuse(signal.reason)
    const onCall = async (line: unknown, method: string): Promise<void> => {
      asked += 1
      clearTimeout(timer)
      const answer = await answerCall(order, line, method)
      asked -= 1
      if (asked === 0) timer = setTimeout(late, secondsMax * 1000)
      child.stdin?.write(`${JSON.stringify(answer)}\n`)
    }
    const onLine = (line: string): void => {
      const said = parseJson(line)
      const method = field(said, 'call')
      if (typeof method === 'string') return void onCall(said, method).catch(refuse)
      const problem = field(said, 'failed')
      settle(typeof problem === 'string' ? { ok: false, problem } : { ok: true, value: field(said, 'done') })
    }
    signal.addEventListener('abort', abort, { once: true })
    child.on('error', (error) => settle({ ok: false, problem: `it could not be started: ${error.message}` }))
    child.on('close', (status, killer) => settle({ ok: false, problem: ending(status, killer, stderr) }))
    child.stderr?.setEncoding('utf8').on('data', (part: string) => (stderr = (stderr + part).slice(-STDERR_CHARACTERS_KEPT)))
    child.stdin?.on('error', () => undefined)
    readLines(child.stdio[3], onLine, () => settle({ ok: false, problem: `its answer is longer than ${MODULE_LINE_BYTES_MAX} bytes` }))
    child.stdin?.write(`${JSON.stringify(order.task)}\n`)
  })
}

async function answerCall({ answer }: ModuleOrder, line: unknown, method: string): Promise<Data> {
  const args = field(line, 'args')
  const value = await answer?.(method, Array.isArray(args) ? args : [])
  return { id: field(line, 'id'), value: value ?? null }
}

function readLines(stream: unknown, onLine: (line: string) => void, onTooLong: () => void): void {
  if (!(stream instanceof Readable)) return
  let [parts, bytes]: [Buffer[], number] = [[], 0]
  stream.on('error', () => undefined)
  stream.on('data', (chunk: Buffer) => {
    let rest = chunk
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString()
      ;[parts, bytes] = [[], 0]
      rest = rest.subarray(end + 1)
      onLine(line)
    }
    parts.push(rest)
    bytes += rest.length
    if (bytes <= MODULE_LINE_BYTES_MAX) return
    ;[parts, bytes] = [[], 0]
    stream.destroy()
    onTooLong()
  })
}

function ending(status: number | null, killer: NodeJS.Signals | null, stderr: string): string {
  const how = killer === null ? `with status ${status}` : `by ${killer}`
  const words = stderr.trim()
  return `it ended ${how} before it answered${words === '' ? '' : `: ${words}`}`
}

function endGroup(child: ChildProcess): void {
  for (const stream of child.stdio) stream?.destroy()
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}
