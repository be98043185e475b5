/**
 * Before each test file: the threads of stores run as built, as they do in the package. From source each would load its modules one by one,
 * which costs more than most tests do. `scripts/test.mjs` builds and says so; without it, as in a plain run of vitest, they run from source.
 */
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import threads, { Worker, type WorkerOptions } from 'node:worker_threads'

const ROOT = dirname(import.meta.dirname)

class BuiltWorker extends Worker {
  constructor(entry: string | URL, options?: WorkerOptions) {
    super(builtOf(entry) ?? entry, options)
  }
}

/** Files in one process share it. */
if (process.env['TEST_THREADS'] === 'built' && Worker.name !== BuiltWorker.name) {
  threads.Worker = BuiltWorker
  syncBuiltinESMExports()
}

function builtOf(entry: string | URL): string | null {
  if (!(entry instanceof URL) || entry.protocol !== 'file:') return null
  const source = relative(ROOT, fileURLToPath(entry))
  if (!source.startsWith(join('plugins', 'stores'))) return null
  const built = join(ROOT, 'dist', source.replace(/\.ts$/, '.js'))
  return existsSync(built) ? built : null
}
