/** The agent as an executor, which counts its episodes. */
import type { Executor } from '../src/contract/index.ts'
import { digest } from '../plugins/runtimes/practice/draw.ts'
import { setupIn } from './adapter.ts'
import { runAgent } from './agent.ts'

export interface Player {
  readonly executor: Executor
  played(): number
}

/** Each run on the same files and task has its own seed, reproducible between runs of the suite. */
export function makePlayer(seed: string): Player {
  const runs = new Map<string, number>()
  let total = 0
  return {
    executor: {
      async run(play, signal) {
        signal.throwIfAborted()
        const files = play.files(play.model)
        const prompt = play.launch('').argv.at(-1) ?? ''
        const key = digest(seed, JSON.stringify(files), prompt)
        const run = runs.get(key) ?? 0
        runs.set(key, run + 1)
        total += 1
        const { stdout, log, ended } = runAgent(setupIn(files), prompt, play.workspace, `${key} ${run}`)
        return { exitCode: ended === undefined ? 0 : 1, stdout, stderr: '', trajectory: log, ...(ended !== undefined && { ended }) }
      },
    },
    played: () => total,
  }
}
