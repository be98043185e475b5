/** Runs the command as a process and reads its output. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { COMPILED } from './compiled.ts'

export type Command = ReturnType<typeof startCommand>

/** As it ships where it was just built, see `test/built-threads.ts`; else from its sources, which takes three times as long to load. */
const ENTRY = fileURLToPath(new URL(process.env['TEST_THREADS'] === 'built' ? '../../bin/svc.mjs' : 'svc.ts', import.meta.url))

/** Who runs it; as who runs the test where it is empty. */
export interface CommandUser {
  readonly uid?: number
  readonly gid?: number
}

/** The environment is complete: of the machine's own only the necessary variables are added. */
export function startCommand(args: readonly string[], environment: Readonly<Record<string, string>> = {}, user: CommandUser = {}) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [ENTRY, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, ...COMPILED, ...environment },
    ...user,
  })
  const printed = { out: '', err: '' }
  let listeners: (() => void)[] = []
  const read = (name: 'out' | 'err') => (part: Buffer) => {
    printed[name] += part.toString()
    for (const listener of listeners) listener()
  }
  child.stdout.on('data', read('out'))
  child.stderr.on('data', read('err'))
  /** Its code is null when a signal ended it. */
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code: typeof code === 'number' ? code : null, ...printed }))
  return {
    /** What it printed so far. */
    get out() {
      return printed.out
    },
    get err() {
      return printed.err
    },
    /** Resolves once it printed that; rejects when it ends without. */
    said(text: string | RegExp) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const look = (): void => {
        const all = `${printed.out}${printed.err}`
        if (typeof text === 'string' ? all.includes(text) : text.test(all)) resolve()
      }
      listeners = [...listeners, look]
      look()
      void ended.then(({ err }) => reject(new Error(`the command ended without saying ${String(text)}: ${err}`)))
      return promise
    },
    signal: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL') => void child.kill(signal),
    ended,
  }
}

export const runCommand = (...given: Parameters<typeof startCommand>): Command['ended'] => startCommand(...given).ended

/** `svc serve`, once it is ready. */
export async function serveCommand(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const command = startCommand(['serve', ...args], environment)
  await command.said('svc is ready at ')
  const [, address = ''] = /ready at (\S+)/.exec(command.out) ?? []
  return { command, address }
}
