/** Checks in a worker thread whether code parses. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { CODE_CHECK_SECONDS_MAX, unavailable } from '../contract/index.ts'
import { Lane, within } from '../kit/index.ts'

const STARTING = 0
const READY = 1
const PARSES = 2
const BROKEN = 3
const LOST = 4

/** Indexes into the shared array: the worker's verdict, and its system thread id, 0 where unknown. */
const VERDICT = 0
const THREAD = 1

const LOOK_MILLISECONDS = 10
/** Linux's unit of CPU time. */
const TICK_MILLISECONDS = 10
/** A wall-clock limit for a stuck thread only: a busy machine may be slow. */
const STUCK_SECONDS_MAX = 300

interface Parser {
  readonly worker: Worker
  readonly verdict: Int32Array
}

/**
 * Node's own parser, which strips types, needs hours for some short texts, and after others never parses anything again. So it runs in a worker
 * with a limit of CPU time, and a broken or late worker is replaced.
 */
let parser: Parser | null = null

const askers = new Lane()

/** Does not block this thread. Each code gets a new worker, one at a time, so that a broken parser affects no other code. */
export function codeParsesBeside(code: string): Promise<boolean> {
  return askers.run(async () => {
    const verdict = openVerdict()
    const worker = startWorker(verdict)
    try {
      await within(STUCK_SECONDS_MAX, once(worker, 'message')).catch(() => {
        throw notStarted()
      })
      Atomics.store(verdict, VERDICT, READY)
      const isLate = lateness(verdict)
      worker.postMessage(code, [])
      while (Atomics.load(verdict, VERDICT) === READY && !isLate()) await sleep(LOOK_MILLISECONDS)
      return Atomics.load(verdict, VERDICT) === PARSES
    } finally {
      void worker.terminate()
    }
  })
}

/** Blocks this thread. */
export function codeParses(code: string): boolean {
  parser ??= startParser()
  const { worker, verdict } = parser
  Atomics.store(verdict, VERDICT, READY)
  const isLate = lateness(verdict)
  worker.postMessage(code, [])
  while (Atomics.wait(verdict, VERDICT, READY, LOOK_MILLISECONDS) === 'timed-out' && !isLate());
  const found = Atomics.load(verdict, VERDICT)
  if (found !== PARSES && found !== BROKEN) endParser(parser)
  return found === PARSES
}

function startParser(): Parser {
  const verdict = openVerdict()
  const worker = startWorker(verdict)
  Atomics.wait(verdict, VERDICT, STARTING, STUCK_SECONDS_MAX * 1000)
  if (Atomics.load(verdict, VERDICT) === READY) return { worker, verdict }
  void worker.terminate()
  throw notStarted()
}

const openVerdict = (): Int32Array => new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))

/** Whether the worker used up its CPU time, is gone, or is stuck. */
function lateness(verdict: Int32Array): () => boolean {
  const thread = Atomics.load(verdict, THREAD)
  const before = workedMilliseconds(thread)
  const end = performance.now() + STUCK_SECONDS_MAX * 1000
  return () => workedMilliseconds(thread) - before > CODE_CHECK_SECONDS_MAX * 1000 || performance.now() > end
}

/** CPU time of the thread; infinite when it is gone; of the whole process where the system has no per-thread times. */
function workedMilliseconds(thread: number): number {
  if (thread === 0) {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1')
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number)
    return (user + system) * TICK_MILLISECONDS
  } catch {
    return Infinity
  }
}

function startWorker(verdict: Int32Array): Worker {
  const worker = new Worker(PARSER, { eval: true, name: 'parser', workerData: verdict, env: {}, execArgv: ['--no-warnings'] })
  worker.unref()
  // A worker that dies leaves no verdict and is replaced.
  worker.on('error', () => undefined)
  return worker
}

const notStarted = (): Error => unavailable('code_check_unavailable', 'the thread that checks code did not start; try again')

function endParser({ worker }: Parser): void {
  parser = null
  void worker.terminate()
}

/** Any error but a SyntaxError is a failure of the parser itself. */
const PARSER = `
  const { readlinkSync } = require('node:fs')
  const { stripTypeScriptTypes } = require('node:module')
  const { basename } = require('node:path')
  const { parentPort, workerData: verdict } = require('node:worker_threads')
  function say(found) {
    Atomics.store(verdict, ${VERDICT}, found)
    Atomics.notify(verdict, ${VERDICT})
    parentPort.postMessage(found)
  }
  function threadNumber() {
    try {
      return Number(basename(readlinkSync('/proc/thread-self')))
    } catch {
      return 0
    }
  }
  function judge(code) {
    try {
      stripTypeScriptTypes(code)
      return ${PARSES}
    } catch (error) {
      return error instanceof SyntaxError ? ${BROKEN} : ${LOST}
    }
  }
  parentPort.on('message', (code) => say(judge(code)))
  Atomics.store(verdict, ${THREAD}, threadNumber())
  say(${READY})
`
