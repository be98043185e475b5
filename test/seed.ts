/** The seed that every property test of a run draws from: printed when the run begins, and set by `TEST_SEED`. */

declare module 'vitest' {
  interface ProvidedContext {
    seed: number
  }
}

export function runSeed(): number {
  const given = process.env['TEST_SEED']
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given)
  if (!Number.isInteger(seed)) throw new Error('TEST_SEED is not a whole number')
  process.stderr.write(`TEST_SEED=${seed}\n`)
  return seed
}
