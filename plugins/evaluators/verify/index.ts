/**
 * Scores by the task's own command, run on a copy of the workspace after the agent ended, in a separate root, without a model, and with files
 * that the agent never saw.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, posix, dirname } from 'node:path'
import { define, unavailable, checkFiles, invalid, isObject, scoreOfEnd } from '../../../src/contract/index.ts'
import type { Dependencies, Episode, ModelAddress, Play, Scene, Files, Json, Task } from '../../../src/contract/index.ts'
import { isFolder, makeOwnFolder } from '../../../src/kit/index.ts'
import { copyWorkspace, openCopy } from './copy.ts'

/** Reads a task's verifier. */
interface Check {
  readonly words: readonly string[]
  readonly files: Files
  /** The workspace before the agent. */
  readonly before: Files
  readonly dependencies: Dependencies
  /** Whether the last line that the command prints is the score. */
  readonly hasReward: boolean
}

/** Cleared first: the verifier's files could load the agent's files there. */
const OWN_FOLDER = 'verify'

const OUTPUT_CHARACTERS_MAX = 8000
/** Shell exit codes of a command that is not executable or not found. */
const NOT_RUN: ReadonlySet<number> = new Set([126, 127])

const NAMED = /(?<=^|:)\s*([^:\s][^:]*): (?:command not found|not found|permission denied|no such file or directory|cannot execute[^:]*)$/i

export default define('evaluator', {
  async score(task, episode, scene) {
    const check = checkOf(task)
    const settled = scoreOfEnd(episode)
    if (settled !== undefined) return settled
    return scene.workspace === null ? null : verify(check, scene.workspace, scene)
  },
})

async function verify(check: Check, workspace: string, scene: Scene): Promise<number | null> {
  const run = await runOn((copy) => copyWorkspace(workspace, copy), check, scene)
  if (run === null) {
    scene.note?.('the workspace is too large to copy for the verifier')
    return 0
  }
  scene.note?.(wordsFor(run), { exit_code: run.exitCode, ended: run.ended ?? null, stdout: endOf(run.stdout), stderr: endOf(run.stderr) })
  if (!isNotRun(check, run)) return scoreOf(check, run)
  // The agent's own code may end with these codes too. A command that does so without it never started.
  const alone = await runOn((copy) => placeFiles(copy, check.before).then(() => true), check, scene)
  if (alone === null || !isNotRun(check, alone)) return 0
  throw noVerdict(
    `a program of the verifier is missing or may not be run (exit code ${run.exitCode}); install it where episodes run, or change verify`,
  )
}

/** Runs the command on a copy that is filled first; null where it cannot be. */
async function runOn(fill: (copy: string) => Promise<boolean>, check: Check, { executor, signal }: Scene): Promise<Episode | null> {
  signal.throwIfAborted()
  // Like the folder of an episode, so that the next start removes it if the service is killed.
  const around = await makeOwnFolder('episode')
  const copy = join(around, 'copy')
  const mark = randomUUID()
  try {
    await mkdir(copy)
    if (!(await fill(copy))) return null
    for (const path of Object.keys(check.dependencies)) await remove(join(copy, path))
    await placeFiles(copy, check.files)
    await openCopy(copy)
    const run = await executor.run(playOf(check, copy, mark), signal)
    if (run.ended === 'start') throw noVerdict('the verifier could not be started; check the machine that runs episodes')
    if (run.ended === undefined && run.stderr.includes(mark))
      throw noVerdict('the verifier cannot read the copy of the workspace; check the temporary folder')
    return run
  } finally {
    await rm(around, { recursive: true, force: true })
  }
}

const noVerdict = (problem: string): Error => unavailable('no_verdict', problem)

const VERIFY_SECONDS_MAX = 600
/** The command works on its own copy, since the machine's folders may be read-only. */
const COPY_AND_RUN = 'cp -RPp "$2"/. . || { echo "$1" >&2; exit 1; }; shift 2; exec "$@"'
/** The verifier has no model. */
const NO_MODEL: ModelAddress = { url: 'http://127.0.0.1:0', model: null, api: 'openai', apiKey: null }

function playOf({ words, dependencies }: Check, copy: string, mark: string): Play {
  return {
    files: () => ({}),
    workspace: {},
    ...(Object.keys(dependencies).length > 0 && { dependencies }),
    model: NO_MODEL,
    launch: () => ({ argv: ['sh', '-c', COPY_AND_RUN, 'verify', mark, copy, ...words], env: {}, timeoutSeconds: VERIFY_SECONDS_MAX }),
    readTrajectory: async () => [],
    needs: [copy],
  }
}

/** The command is the same for every candidate, so hitting a limit is the agent's fault. */
function scoreOf({ hasReward }: Check, run: Episode): number | null {
  const settled = scoreOfEnd(run)
  if (settled !== undefined) return settled
  if (run.exitCode !== 0) return 0
  return hasReward ? rewardIn(run.stdout) : 1
}

/** Anything but a number from 0 to 1 counts as 0. */
function rewardIn(stdout: string): number {
  const line = stdout.trimEnd().split('\n').at(-1)?.trim() ?? ''
  const reward = line === '' ? 0 : Number(line)
  return reward >= 0 && reward <= 1 ? reward : 0
}

/** Describes how a verifier ended, and whether that is a verdict. Keeps the end of the output, where most programs report errors. */
function endOf(printed: string): string {
  if (printed.length <= OUTPUT_CHARACTERS_MAX) return printed
  return `[${printed.length - OUTPUT_CHARACTERS_MAX} characters dropped] ${printed.slice(-OUTPUT_CHARACTERS_MAX)}`
}

function wordsFor({ exitCode, ended, stdout, stderr }: Episode): string {
  const said = [lastLine(stderr), lastLine(stdout)].find((line) => line !== '')
  const how = ended === undefined ? `exit code ${exitCode}` : `ended by the limit of ${ended}`
  return `the verifier: ${how}${said === undefined ? '' : `: ${endOf(said)}`}`
}

const lastLine = (printed: string): string => printed.trimEnd().split('\n').at(-1)?.trim() ?? ''

/** Whether it ended as a shell does without a program, other than one that the agent should have made. Hitting a limit is a verdict. */
const isNotRun = (check: Check, { exitCode, ended, stderr }: Episode): boolean =>
  ended === undefined && NOT_RUN.has(exitCode) && !isAgents(check, stderr)

/** Whether the missing program is a workspace path and not one of the verifier's files. */
function isAgents({ files }: Check, stderr: string): boolean {
  const name = NAMED.exec(lastLine(stderr))?.[1]?.trim()
  if (name === undefined || !name.includes('/') || posix.isAbsolute(name)) return false
  return !Object.hasOwn(files, posix.normalize(name))
}

/** Writes the verifier's files into the copy, replacing the agent's. */
async function placeFiles(folder: string, files: Files): Promise<void> {
  if (Object.keys(files).some((path) => path.startsWith(`${OWN_FOLDER}/`))) await remove(join(folder, OWN_FOLDER))
  for (const [path, text] of Object.entries(files)) {
    await makeWay(folder, dirname(path))
    await remove(join(folder, path))
    await writeFile(join(folder, path), text, { flag: 'wx' })
  }
}

/** Makes real folders: a link would lead outside the copy. */
async function makeWay(folder: string, path: string): Promise<void> {
  if (path === '.') return
  await makeWay(folder, dirname(path))
  const here = join(folder, path)
  if (await isFolder(here)) return
  await remove(here)
  await mkdir(here)
}

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true })

function checkOf({ name, data, files: before = {}, dependencies = {} }: Task): Check {
  const { verify: command, verify_files: files = {}, verify_reward: hasReward = false } = data ?? {}
  const words = wordsOf(command)
  if (words === null) throw refused(name, 'verify must be a command, or a list of its words')
  if (!isObject(files) || !areTexts(files)) throw refused(name, 'verify_files must be an object of paths and texts')
  if (typeof hasReward !== 'boolean') throw refused(name, 'verify_reward must be true or false')
  checkFiles(files)
  return { words, files, before, dependencies, hasReward }
}

const refused = (name: string, rule: string): Error => invalid('verify_unusable', `task ${name}: ${rule}, for the evaluator verify`)

function wordsOf(command: Json | undefined): readonly string[] | null {
  if (typeof command === 'string') return command.trim() === '' ? null : ['sh', '-c', command]
  if (!isList(command) || command.length === 0) return null
  const words = command.filter((word) => typeof word === 'string')
  return words.length === command.length ? words : null
}

/** Array.isArray does not narrow readonly arrays. */
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

function areTexts(files: Readonly<Record<string, Json>>): files is Files {
  return Object.values(files).every((text) => typeof text === 'string')
}
