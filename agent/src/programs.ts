/** Other programs: found on PATH, and run to their end with everything they said. */
import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import type { Installation } from './installation.ts'

export interface ProgramResult {
  /** Null when it was ended by a signal, or by the time limit. */
  readonly code: number | null
  /** What it said on both outputs; of much the end. */
  readonly output: string
}

type Tool = Installation['client']['tools'][number]

const OUTPUT_CHARACTERS_MAX = 64 * 1024
const LEFT_BEHIND_MILLISECONDS = 1000

/** Rejects when the program cannot be started. It gets no input. */
export function runProgram(
  program: string,
  args: readonly string[],
  { env, cwd, timeoutSeconds }: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string; readonly timeoutSeconds?: number },
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const limit = timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds * 1000, killSignal: 'SIGKILL' as const }
    const child = spawn(program, args, { env, ...(cwd === undefined ? {} : { cwd }), stdio: ['ignore', 'pipe', 'pipe'], ...limit })
    let output = ''
    const take = (text: string): void => void (output = (output + text).slice(-OUTPUT_CHARACTERS_MAX))
    child.stdout.setEncoding('utf8').on('data', take)
    child.stderr.setEncoding('utf8').on('data', take)
    child.on('error', reject)
    const done = (code: number | null): void => {
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ code, output })
    }
    child.on('close', done)
    // What the program left running may keep its outputs open for ever.
    child.on('exit', (code) => {
      const grace = setTimeout(done, LEFT_BEHIND_MILLISECONDS, code)
      child.on('close', () => clearTimeout(grace))
    })
  })
}

export function isOnPath(command: string, env: NodeJS.ProcessEnv): boolean {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.some((folder) => isProgram(join(folder, command)))
}

/** A name that the service may ask for: neither a path nor a command. */
export const isProgramName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/.test(name)

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** A program that the agent works better with, and that is not there; null when it is. */
export function toolProblem({ command, package: name }: Tool, binary: string, env: NodeJS.ProcessEnv): string | null {
  return isOnPath(command, env) ? null : `${command} is not on PATH; ${binary} works better with it (package ${name})`
}

/** Programs of the current folder are not meant. */
export const withoutNearPrograms = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  PATH: (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter),
})

/** With this Node before all others, so that programs written for Node run on the one that was checked. */
export const withNode = (env: NodeJS.ProcessEnv, node: string): NodeJS.ProcessEnv =>
  withoutNearPrograms({ ...env, PATH: `${dirname(node)}${delimiter}${env['PATH'] ?? ''}` })
