/** Plays the agent of a world: its episodes, which are counted, and its traffic, which is not. */
import { digest, draw } from '../plugins/runtimes/practice/draw.ts'
import type { Entry, Episode, Executor, Files, Sample, Task } from '../src/contract/index.ts'
import { renderTree } from '../src/harness/index.ts'
import { ADAPTER, setupIn, runAgent } from './agent.ts'
import { answerOf, scoreOfReply, type World } from './worlds/world.ts'

export interface WorldPlayer {
  readonly executor: Executor
  play(files: Files, prompt: string, workspace: Files): Episode
  played(): number
}

/** Each run on the same files and task has its own seed, reproducible between runs of the suite. */
export function makePlayer({ seed, model, isOut }: World): WorldPlayer {
  const runs = new Map<string, number>()
  let total = 0
  const play = (files: Files, prompt: string, workspace: Files): Episode => {
    const tree = digest(seed, JSON.stringify(files))
    const key = digest(seed, JSON.stringify(files), prompt)
    const run = runs.get(key) ?? 0
    runs.set(key, run + 1)
    const episode = total
    total += 1
    if (isOut?.(episode) === true) return OUTAGE
    const { stdout, log, ended } = runAgent(setupIn(files), prompt, workspace, `${key} ${run}`, model?.({ tree, episode }))
    return { exitCode: ended === undefined ? 0 : 1, stdout, stderr: '', trajectory: log, ...(ended !== undefined && { ended }) }
  }
  return {
    play,
    executor: {
      async run(ordered, signal) {
        signal.throwIfAborted()
        return play(ordered.files(ordered.model), ordered.launch('').argv.at(-1) ?? '', ordered.workspace)
      },
    },
    played: () => total,
  }
}

/** What an agent leaves whose model does not answer. */
const OUTAGE: Episode = { exitCode: 1, stdout: '', stderr: 'error: 503\n', trajectory: [], modelFailure: 'it answered 503' }

/** Reports per step. */
const SAMPLES_MAX = 4

/** Reports on tasks that the tree failed, or that the world says it failed. Their runs are traffic and do not count as episodes. */
export function reportsOn(
  world: World,
  train: readonly Task[],
  entries: readonly Entry[],
  step: number,
  episode: number,
): readonly Sample[] {
  const { seed, reports } = world
  const files = renderTree(ADAPTER, entries)
  const [setup, model] = [setupIn(files), world.model?.({ tree: digest(seed, JSON.stringify(files)), episode })]
  return train
    .map((task) => {
      const { reply } = runAgent(setup, task.prompt, task.files ?? {}, `traffic ${seed} ${step} ${task.name}`, model)
      const isWrong = draw('report', seed, String(step), task.name) < (reports?.wrongChance ?? 0)
      return { task, reply, failed: scoreOfReply(world, reply, answerOf(task)) < 1 !== isWrong }
    })
    .filter(({ failed }) => failed)
    .slice(0, SAMPLES_MAX)
    .map(({ task, reply }) => ({
      record_ids: [`${step}-${task.name}`],
      exchanges: [
        { messages: [{ role: 'user', content: task.prompt }], response: { choices: [{ message: { role: 'assistant', content: reply } }] } },
      ],
      score: 0,
      feedback: 'wrong',
    }))
}
