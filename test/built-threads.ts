/**
 * Before each test file: the threads of a service run as built, as they do in the package. From source each would load its modules one by one,
 * which costs more than most tests do.
 */
import { syncBuiltinESMExports } from 'node:module'
import threads, { Worker, type WorkerOptions } from 'node:worker_threads'
import { builtOf, IS_BUILT, WITH_BUILT } from './support/built.ts'

/** Threads that load plug-ins of a test. */
const LOADS_PLUGINS = /trainer-thread\.ts$/

class BuiltWorker extends Worker {
  constructor(entry: string | URL, options?: WorkerOptions) {
    const built = entry instanceof URL ? builtOf(entry.href) : null
    if (built === null) super(entry, options)
    else super(new URL(built), LOADS_PLUGINS.test(String(entry)) ? { ...options, execArgv: [...process.execArgv, ...WITH_BUILT] } : options)
  }
}

/** Files in one process share it. */
if (IS_BUILT && Worker.name !== BuiltWorker.name) {
  threads.Worker = BuiltWorker
  syncBuiltinESMExports()
}
