/** Proves that a conformance suite finds a fault: the sentence about it fails. */
import { expect } from 'vitest'

export interface Runner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

/** Runs the one sentence of the suite that contains these words. */
export async function expectFound(words: string, suite: (runner: Runner) => void): Promise<void> {
  const found: (() => Promise<void>)[] = []
  suite({ describe: (_name, body) => body(), it: (name, body) => void (name.includes(words) && found.push(body)) })
  expect(found, `sentences that say: ${words}`).toHaveLength(1)
  await expect(found[0]?.()).rejects.toThrow()
}
