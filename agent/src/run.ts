/** One session: the agent's own program, in a folder made for the run, talking to the service through a proxy that keeps its receipts. */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { Failure, TOKEN_VARIABLE, tokenProblem } from '@svc-ai/client/shared'
import { bound } from './binding.ts'
import { openCapture, type ReceiptCapture } from './captures.ts'
import { readEnvFile } from './env-file.ts'
import { wordsOf } from './failure.ts'
import { capturesFolder, commandOf, homeOf } from './places.ts'
import { startProxy } from './proxy.ts'
import type { InstallRecord } from './record.ts'
import { unmetIn } from './release-file.ts'
import { changedFiles, makeRunFolder, rooted, sweepRuns, type RunFolder } from './run-folder.ts'
import { SESSION, type Install } from './service.ts'
import { takeOver, type Takes } from './take-over.ts'
import { tokenOf, withoutToken } from './token.ts'

type Say = (line: string) => void

const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']
const LOOPBACK = '127.0.0.1'
const PASSED: readonly NodeJS.Signals[] = [...FROM_TERMINAL, 'SIGTERM', 'SIGHUP']

/** The agent's exit status, or 128 and the signal that ended it. */
export async function runAgent(install: Install, args: readonly string[], say: Say, takes: Takes = {}): Promise<number> {
  const { folder, record, env } = install
  // The session is worth more than the order in the folder.
  await sweepRuns(folder).catch((error: unknown) => say(`what an earlier session left could not be put away: ${wordsOf(error)}`))
  await warn(install, say)
  const [session, key] = [randomUUID(), randomBytes(32).toString('hex')]
  const capture = openCapture(capturesFolder(homeOf(env)), headOf(install, session))
  const token = await usableToken(install)
  const upstream = { url: record.url, token, scenario: record.scenario, session, release: record.release_id }
  const proxy = await startProxy(upstream, key, (receipt) => capture.keep(receipt))
  try {
    const run = await makeRunFolder(folder, record, session, bound(record, { url: proxy.url, token: key }))
    try {
      await takeOver(takes, { home: homeOf(env), root: run.root, cwd: process.cwd(), say })
      const environment = await environmentOf(install, run.root, { session, url: proxy.url, key })
      return await ended(record, args, environment, run)
    } finally {
      await run.end().catch((error: unknown) => say(`what the agent kept could not be put away: ${wordsOf(error)}`))
    }
  } finally {
    await proxy.close()
    endCapture(capture, say)
  }
}

async function warn({ record, env }: Install, say: Say): Promise<void> {
  const command = commandOf(record.adapter)
  const changed = await changedFiles(record)
  if (changed.length > 0)
    say(`${named(changed)} not as installed; '${command} update' writes ${changed.length === 1 ? 'it' : 'them'} again`)
  const missing = (await unmetIn(record.destination, record.requires, homeOf(env))).map(({ name }) => name)
  if (missing.length > 0) say(`${named(missing)} not set up; run '${command} setup'`)
}

/** As the beginning of a sentence. */
function named(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ')
  return `${shown}${names.length > 3 ? ` and ${names.length - 3} more` : ''} ${names.length === 1 ? 'is' : 'are'}`
}

const headOf = ({ record: { url, scenario, adapter, release_id, destination } }: Install, session: string) => ({
  url,
  destination,
  scenario,
  adapter,
  release_id,
  session,
  pid: process.pid,
  started_at: Date.now() / 1000,
})

/** One that cannot be sent would end the session at the first call. */
async function usableToken({ folder, env }: Install): Promise<string | null> {
  const token = await tokenOf(folder, env)
  const problem = token === null ? null : tokenProblem(token)
  if (problem !== null) throw new Failure(`${TOKEN_VARIABLE} ${problem}`)
  return token
}

async function environmentOf(
  { folder, record, env }: Install,
  root: string,
  session: { readonly session: string; readonly url: string; readonly key: string },
): Promise<NodeJS.ProcessEnv> {
  const { client, scenario, release_id, destination, executable, adapter } = record
  const path = [dirname(executable), env['PATH'] ?? '', dirname(process.execPath)].filter((part) => part !== '').join(delimiter)
  return {
    ...withoutToken({ ...rooted(client.env_defaults, root), ...(await readEnvFile(folder)), ...env }),
    ...withoutProxy(env),
    ...rooted(client.env, root),
    PATH: path,
    [SESSION.id]: session.session,
    [SESSION.release]: release_id,
    [SESSION.scenario]: scenario,
    [SESSION.wrapper]: join(folder, commandOf(adapter)),
    [SESSION.root]: destination,
    [SESSION.proxyUrl]: session.url,
    [SESSION.proxyKey]: session.key,
  }
}

/** A person's proxy settings do not apply to the local proxy. Programs read either spelling. */
const withoutProxy = ({ NO_PROXY, no_proxy }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  NO_PROXY: andLoopback(NO_PROXY ?? no_proxy),
  no_proxy: andLoopback(no_proxy ?? NO_PROXY),
})

const andLoopback = (hosts: string | undefined): string => (hosts === undefined || hosts.trim() === '' ? LOOPBACK : `${hosts},${LOOPBACK}`)

/** Signals reach the agent as if it had been started itself, and it alone decides what becomes of the session. */
async function ended(record: InstallRecord, args: readonly string[], env: NodeJS.ProcessEnv, run: RunFolder): Promise<number> {
  const [program, ...before] = await commandFor(record.executable).catch(notStarted(record))
  const agent = spawn(program, [...before, ...args], { stdio: 'inherit', env })
  const stopPassing = passSignals(agent)
  try {
    const end = endOf(agent)
    // Without it the folder would go under an agent that outlives this process, which is no reason to end the session.
    if (agent.pid !== undefined) await run.heldBy(agent.pid).catch(() => undefined)
    return await end.catch(notStarted(record))
  } finally {
    stopPassing()
  }
}

const notStarted =
  ({ executable, adapter }: InstallRecord) =>
  (error: unknown): never => {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Failure(`${executable} cannot be started (${reason}); '${commandOf(adapter)} doctor' says more`, { cause: error })
  }

/** A program for Node runs on the Node it was installed with, without that Node coming before a person's own on PATH. */
async function commandFor(executable: string): Promise<[string, ...string[]]> {
  const start = await readStart(executable)
  return /^#! *\/usr\/bin\/env +node\s*\n/.test(start) ? [process.execPath, executable] : [executable]
}

async function readStart(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function endOf(agent: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    agent.once('error', reject)
    agent.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]))
  })
}

/** A terminal gives its own signals to everyone in front of it, the agent included; passed on they would arrive twice. */
function passSignals(agent: ChildProcess): () => void {
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream))
  const pass = (signal: NodeJS.Signals): void => {
    if (!hasTerminal || !FROM_TERMINAL.includes(signal)) agent.kill(signal)
  }
  for (const signal of PASSED) process.on(signal, pass)
  return () => {
    for (const signal of PASSED) process.off(signal, pass)
  }
}

function endCapture(capture: ReceiptCapture, say: Say): void {
  capture.close()
  const { count, cause } = capture.lost
  if (count > 0) say(`${count} ${count === 1 ? 'receipt' : 'receipts'} could not be kept: ${wordsOf(cause)}`)
}
