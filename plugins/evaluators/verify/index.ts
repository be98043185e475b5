/**
 * Scores by the task's own command, run on a copy of the workspace after the agent ended, in a separate root, without a model, and with files
 * that the agent never saw.
 */
import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { define, unavailable, type Episode, type ModelAddress, type Play, type Scene } from '../../../src/contract/index.ts'
import { scoreOfEnd } from '../common/episodes.ts'
import { copyWorkspace, openCopy } from './copy.ts'
import { checkOf, type Check } from './check.ts'
import { placeFiles } from './place.ts'
import { endOf, problemOf, wordsFor } from './outcome.ts'

export default define('evaluator', {
  async score(task, episode, scene) {
    const check = checkOf(task)
    const settled = scoreOfEnd(episode)
    if (settled !== undefined) return settled
    return scene.workspace === null ? null : verify(check, scene.workspace, scene)
  },
})

async function verify(check: Check, workspace: string, scene: Scene): Promise<number | null> {
  const { executor, signal } = scene
  signal.throwIfAborted()
  const around = await mkdtemp(copyPrefix())
  const copy = join(around, 'copy')
  const mark = randomUUID()
  try {
    await mkdir(copy)
    if (!(await copyWorkspace(workspace, copy))) {
      scene.note?.('the workspace is too large to copy for the verifier')
      return 0
    }
    await placeFiles(copy, check.files)
    await openCopy(copy)
    const run = await executor.run(playOf(check, copy, mark), signal)
    scene.note?.(wordsFor(run), { exit_code: run.exitCode, ended: run.ended ?? null, stdout: endOf(run.stdout), stderr: endOf(run.stderr) })
    const problem = problemOf(check, run, mark)
    if (problem !== null) throw unavailable('no_verdict', problem)
    return scoreOf(check, run)
  } finally {
    await rm(around, { recursive: true, force: true })
  }
}

/** Named like the executors' episode folders, so that the next start removes it if the service is killed. */
function copyPrefix(): string {
  const namespace = process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '') : '0'
  return join(tmpdir(), `svc-episode-${namespace}-${process.pid}-`)
}

const VERIFY_SECONDS_MAX = 600
/** The command works on its own copy, since the machine's folders may be read-only. */
const COPY_AND_RUN = 'cp -RPp "$2"/. . || { echo "$1" >&2; exit 1; }; shift 2; exec "$@"'
/** The verifier has no model. */
const NO_MODEL: ModelAddress = { url: 'http://127.0.0.1:0', model: null, api: 'openai', apiKey: null }

function playOf({ words }: Check, copy: string, mark: string): Play {
  return {
    files: () => ({}),
    workspace: {},
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
