/** What the suites share: the runner they are handed, plain data, files that can be kept, and how work is seen to stop. */
import assert from 'node:assert/strict'
import { checkFiles, isRefusal, type Files, type RefusalKind } from '../src/contract/index.ts'

/** Any test runner with these two will do. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

/** It prints as JSON and reads back the same, so it may cross to a thread and lie in a row. */
export function assertPlain(value: unknown, what: string): void {
  assert.deepEqual(JSON.parse(JSON.stringify(value)), value, `${what} is no plain JSON`)
}

/** Whatever it is used for, what was handed over is afterwards what it was. */
export async function assertUntouched<T>(given: T, use: (given: T) => unknown): Promise<void> {
  const before = structuredClone(given)
  await use(given)
  assert.deepEqual(given, before)
}

/** Every store keeps such files: relative paths of plain segments, none a file and a folder at once, texts of whole characters. */
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

/** Answers once the work has answered or thrown; fails when it goes on for so long after it was told to stop. */
export async function assertGivenUp(work: Promise<unknown>, withinMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new assert.AssertionError({ message: 'it went on after its signal aborted' })), withinMs)
  const over = work.then(
    () => undefined,
    () => undefined,
  )
  await Promise.race([over, late]).finally(() => clearTimeout(timer))
}
