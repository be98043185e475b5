/** The seed that every property test of a run draws from: printed when the run begins, and set by `TEST_SEED`. */
import { spawnSync } from 'node:child_process'

declare module 'vitest' {
  interface ProvidedContext {
    seed: number
  }
}

export function runSeed(): number {
  const seed = Number(process.env['TEST_SEED'] ?? seedOfCommit())
  if (!Number.isInteger(seed)) throw new Error('TEST_SEED is not a whole number')
  process.stderr.write(`TEST_SEED=${seed}\n`)
  return seed
}

/** New for each commit, and the same wherever that commit is tested: what passed here passes elsewhere. */
function seedOfCommit(): number {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' })
  return Number.parseInt(/^[0-9a-f]{7}/.exec(stdout ?? '')?.[0] ?? '0', 16)
}
