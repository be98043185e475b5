/** Shared by the suites: the test runner's interface, assertions, folders and servers. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkFiles, isRefusal, type Files, type RefusalKind, type Reporter } from '../src/contract/index.ts'

export interface Runner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

/** The value survives JSON, so it can cross to a thread and be stored in a row. */
export function assertPlain(value: unknown, what: string): void {
  assert.deepEqual(JSON.parse(JSON.stringify(value)), value, `${what} is no plain JSON`)
}

/** The value is unchanged after use. */
export async function assertUntouched<T>(given: T, use: (given: T) => unknown): Promise<void> {
  const before = structuredClone(given)
  await use(given)
  assert.deepEqual(given, before)
}

/** Files that every store accepts: plain relative paths, no file that is also a folder, valid Unicode. */
export function assertKeepable(files: Files): void {
  for (const [path, text] of Object.entries(files)) assert.equal(typeof text, 'string', `${JSON.stringify(path)} holds no text`)
  assert.doesNotThrow(() => checkFiles(files))
}

/** Null stands for any code. */
export async function assertRefused(kind: RefusalKind, code: string | null, work: Promise<unknown>, words = /./): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isRefusal(error), `expected a refusal of kind ${kind}, got ${String(error)}`)
    assert.deepEqual({ kind: error.kind, code: error.code }, { kind, code: code ?? error.code })
    assert.match(error.message, words)
    return true
  })
}

/** Fails when the work has not settled within this time after an abort. */
export async function assertGivenUp(work: Promise<unknown>, withinMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new assert.AssertionError({ message: 'it went on after its signal aborted' })), withinMs)
  await Promise.race([Promise.allSettled([work]), late]).finally(() => clearTimeout(timer))
}

/** A signal that never aborts. */
export const never = (): AbortSignal => new AbortController().signal

export const QUIET: Reporter = { phase: () => undefined, line: () => undefined }

/** Gives the work a temporary folder, and removes it afterwards. */
export async function withFolder(work: (folder: string) => Promise<unknown>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export interface SuiteServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves on a free port of this machine. */
export async function serve(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<SuiteServer> {
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
