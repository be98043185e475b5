/** What repeated work leaves in the heap for a collection of all of it, although nobody holds it any more. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MEASUREMENTS = 3
const TIMES = 1000
const TIMES_BETWEEN = 100

/**
 * In bytes for each time, the least of several measurements: what else goes on in the process, compiling above all, adds to one. Short collections, which are cheap, free what is young. Anything that V8 makes among what lives long (a function
 * literal that is assigned to a member, the getter of an object literal) keeps everything it refers to beyond them.
 */
export async function leftForLong(work: () => unknown): Promise<number> {
  let least = Infinity
  for (let measurement = 0; measurement < MEASUREMENTS; measurement += 1) least = Math.min(least, await leftOnce(work))
  return least
}

async function leftOnce(work: () => unknown): Promise<number> {
  const short = collector("gc({ type: 'minor' })")
  const whole = collector('gc()')
  whole()
  for (let time = 0; time < TIMES; time += 1) {
    await work()
    if (time % TIMES_BETWEEN === 0) short()
  }
  short()
  short()
  const before = process.memoryUsage().heapUsed
  whole()
  return (before - process.memoryUsage().heapUsed) / TIMES
}

/** What it leaves in the heap that something still holds. */
export function heapOf(work: () => unknown): number {
  const whole = collector('gc()')
  whole()
  const before = process.memoryUsage().heapUsed
  work()
  whole()
  return process.memoryUsage().heapUsed - before
}

/** Options are read in the context that the collector is of. */
function collector(code: string): () => void {
  setFlagsFromString('--expose-gc')
  const found: unknown = runInNewContext(`() => ${code}`)
  if (typeof found !== 'function') throw new Error('V8 gave no collector')
  return () => void found()
}
