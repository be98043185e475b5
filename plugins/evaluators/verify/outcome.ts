/** Describes how a verifier ended, and whether that is a verdict. */
import { posix } from 'node:path'
import type { Episode } from '../../../src/contract/index.ts'
import type { Check } from './check.ts'

const OUTPUT_CHARACTERS_MAX = 8000
/** Shell exit codes of a command that is not executable or not found. */
const NOT_RUN: ReadonlySet<number> = new Set([126, 127])

/** Keeps the end of the output, where most programs report errors. */
export function endOf(printed: string): string {
  if (printed.length <= OUTPUT_CHARACTERS_MAX) return printed
  return `[${printed.length - OUTPUT_CHARACTERS_MAX} characters dropped] ${printed.slice(-OUTPUT_CHARACTERS_MAX)}`
}

export function wordsFor({ exitCode, ended, stdout, stderr }: Episode): string {
  const said = [lastLine(stderr), lastLine(stdout)].find((line) => line !== '')
  const how = ended === undefined ? `exit code ${exitCode}` : `ended by the limit of ${ended}`
  return `the verifier: ${how}${said === undefined ? '' : `: ${endOf(said)}`}`
}

const lastLine = (printed: string): string => printed.trimEnd().split('\n').at(-1)?.trim() ?? ''

/**
 * Why the verifier could not run, or null. Hitting a limit is a verdict, since the command is the same for every candidate. So is a missing
 * program that the agent should have made.
 */
export function problemOf(check: Check, run: Episode, mark: string): string | null {
  if (run.ended === 'start') return 'the verifier could not be started; check the machine that runs episodes'
  if (run.ended !== undefined) return null
  if (run.stderr.includes(mark)) return 'the verifier cannot read the copy of the workspace; check the temporary folder'
  if (!NOT_RUN.has(run.exitCode) || isAgents(check, run.stderr)) return null
  return `a program of the verifier is missing or may not be run (exit code ${run.exitCode}); install it where episodes run, or change verify`
}

const NAMED = /([^:\s][^:]*): (?:command not found|not found|permission denied|no such file or directory|cannot execute[^:]*)$/i

/** Whether the missing program is a workspace path and not one of the verifier's files. */
function isAgents({ files }: Check, stderr: string): boolean {
  const name = NAMED.exec(lastLine(stderr))?.[1]?.trim()
  if (name === undefined || !name.includes('/') || posix.isAbsolute(name)) return false
  return !Object.hasOwn(files, posix.normalize(name))
}
