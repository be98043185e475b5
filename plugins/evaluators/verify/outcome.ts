/** What a verifier's end says: in words for people, and whether it is a verdict at all. */
import { posix } from 'node:path'
import type { Episode } from '../../../src/contract/index.ts'
import type { Check } from './check.ts'

const OUTPUT_CHARACTERS_MAX = 8000
/** What shells answer for a command that may not be run, and for one that is not there. */
const NOT_RUN: ReadonlySet<number> = new Set([126, 127])

/** The end of what was printed, which is where most programs say what went wrong. */
export function endOf(printed: string): string {
  if (printed.length <= OUTPUT_CHARACTERS_MAX) return printed
  return `[${printed.length - OUTPUT_CHARACTERS_MAX} characters dropped] ${printed.slice(-OUTPUT_CHARACTERS_MAX)}`
}

/** One line. */
export function wordsFor({ exitCode, ended, stdout, stderr }: Episode): string {
  const said = [lastLine(stderr), lastLine(stdout)].find((line) => line !== '')
  const how = ended === undefined ? `exit code ${exitCode}` : `ended by the limit of ${ended}`
  return `the verifier: ${how}${said === undefined ? '' : `: ${endOf(said)}`}`
}

const lastLine = (printed: string): string => printed.trimEnd().split('\n').at(-1)?.trim() ?? ''

/**
 * Why the verifier could not do its work, or null. A limit that it ran into is a verdict: the command is the same for every candidate, so
 * what is new is what the agent left. So is a program that is missing where the agent should have left one.
 */
export function problemOf(check: Check, run: Episode, mark: string): string | null {
  if (run.ended === 'start') return 'the verifier could not be started; look after the machine that episodes run on'
  if (run.ended !== undefined) return null
  if (run.stderr.includes(mark)) return 'the verifier cannot read the copy of the workspace; look after the folder for temporary files'
  if (!NOT_RUN.has(run.exitCode) || isAgents(check, run.stderr)) return null
  return `a program of the verifier is missing or may not be run (exit code ${run.exitCode}); install it where episodes run, or change verify`
}

const NAMED = /([^:\s][^:]*): (?:command not found|not found|permission denied|no such file or directory|cannot execute[^:]*)$/i

/** Whether what could not be run is a path of the workspace, and none of the verifier's own files. */
function isAgents({ files }: Check, stderr: string): boolean {
  const name = NAMED.exec(lastLine(stderr))?.[1]?.trim()
  if (name === undefined || !name.includes('/') || posix.isAbsolute(name)) return false
  return !Object.hasOwn(files, posix.normalize(name))
}
