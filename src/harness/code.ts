/** Whether code parses, found out in a thread beside this one. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { CODE_CHECK_SECONDS_MAX, unavailable } from '../contract/index.ts'
import { Lane, within } from '../kit/index.ts'

const STARTING = 0
const READY = 1
const PARSES = 2
const BROKEN = 3
const LOST = 4

const START_SECONDS_MAX = 30

interface Parser {
  readonly worker: Worker
  /** Written by the thread, waited for here. */
  readonly verdict: Int32Array
}

/**
 * Node's own parser, which takes types too, is busy for hours with some short texts, and after others never parses anything again. Neither may
 * happen to the service: the parser has a thread and a time limit, and a thread that was broken or late is replaced.
 */
let parser: Parser | null = null

const askers = new Lane()

/** The verdict while this thread goes on. Each code has a parser of its own, one after the other: nothing is left of one that breaks it. */
export function codeParsesBeside(code: string): Promise<boolean> {
  return askers.run(async () => {
    const worker = startWorker(openVerdict())
    try {
      await within(START_SECONDS_MAX, once(worker, 'message')).catch(() => {
        throw notStarted()
      })
      worker.postMessage(code, [])
      const [found]: unknown[] = await within(CODE_CHECK_SECONDS_MAX, once(worker, 'message')).catch(() => [LOST])
      return found === PARSES
    } finally {
      void worker.terminate()
    }
  })
}

/** Waits for the parser: nothing else happens on this thread meanwhile. */
export function codeParses(code: string): boolean {
  parser ??= startParser()
  const { worker, verdict } = parser
  Atomics.store(verdict, 0, READY)
  worker.postMessage(code, [])
  Atomics.wait(verdict, 0, READY, CODE_CHECK_SECONDS_MAX * 1000)
  const found = Atomics.load(verdict, 0)
  if (found !== PARSES && found !== BROKEN) endParser(parser)
  return found === PARSES
}

function startParser(): Parser {
  const verdict = openVerdict()
  const worker = startWorker(verdict)
  Atomics.wait(verdict, 0, STARTING, START_SECONDS_MAX * 1000)
  if (Atomics.load(verdict, 0) === READY) return { worker, verdict }
  void worker.terminate()
  throw notStarted()
}

const openVerdict = (): Int32Array => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

function startWorker(verdict: Int32Array): Worker {
  const worker = new Worker(PARSER, { eval: true, name: 'parser', workerData: verdict, env: {}, execArgv: ['--no-warnings'] })
  worker.unref()
  // A thread that dies leaves its verdict open, and is replaced for that.
  worker.on('error', () => undefined)
  return worker
}

const notStarted = (): Error => unavailable('code_check_unavailable', 'the thread that checks code did not start; try again')

function endParser({ worker }: Parser): void {
  parser = null
  void worker.terminate()
}

/** What is no error of syntax is a failure of the parser itself. */
const PARSER = `
  const { stripTypeScriptTypes } = require('node:module')
  const { parentPort, workerData: verdict } = require('node:worker_threads')
  function say(found) {
    Atomics.store(verdict, 0, found)
    Atomics.notify(verdict, 0)
    parentPort.postMessage(found)
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
  say(${READY})
`
