/** Shared by the suites: the test runner's interface and assertions. */
import assert from 'node:assert/strict'
import { checkFiles, isRefusal, type Adapter, type Entry, type Files, type RefusalKind } from '../src/contract/index.ts'

export interface Runner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

export interface AdapterSuite extends Runner {
  readonly adapter: Adapter
  /** A tree with an enabled entry of every kind it renders. */
  readonly entries: readonly Entry[]
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

export async function assertRefused(kind: RefusalKind, work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  assert.ok(isRefusal(error) && error.kind === kind, `expected a refusal of kind ${kind}, got ${String(error)}`)
}

/** Fails when the work has not settled within this time after an abort. */
export async function assertGivenUp(work: Promise<unknown>, withinMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new assert.AssertionError({ message: 'it went on after its signal aborted' })), withinMs)
  const over = work.then(
    () => undefined,
    () => undefined,
  )
  await Promise.race([over, late]).finally(() => clearTimeout(timer))
}
