/**
 * Steps of a harness whose episodes wait for the model: each asks once, and the provider answers after a while. What it answers follows from
 * the rules, the task and the sampling seed, so that every run with the same seeds has the same scores.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../src/contract/index.ts'
import { lotOf } from '../../src/kit/index.ts'
import { trainee } from '../../test/spec/support/trainee.ts'
import { argumentsOf, type Settings } from '../../test/support/settings.ts'
import { sendJson } from '../../test/support/upstream.ts'
import { until } from '../../test/support/wait.ts'
import { wordHarness } from '../../test/support/word-harness.ts'
import { world } from '../../test/support/world.ts'

const COMMAND = fileURLToPath(new URL('../../test/support/svc.ts', import.meta.url))
const EXECUTOR = fileURLToPath(new URL('../../test/fixtures/evolution/asking-executor.ts', import.meta.url))
/** Workers start again and again from the same sources. */
const NODE_COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))
/** One for all runs: the seeds follow from it. */
const SCENARIO = 'fleet'
const ANSWER = 'right'
/** How often an answer is right, in 256: by the rules, so that some changes are better and some are worse. */
const [RIGHT_LEAST, RIGHT_MORE] = [64, 128]
export const TOKENS_PER_CALL = 30

export interface StepsOptions {
  readonly modelMs: number
  readonly tasks: number
  /** Pairs of one step that are offered at once. */
  readonly pairsAtOnce: number
  readonly settings?: Settings
}

export type Steps = Awaited<ReturnType<typeof openSteps>>

export async function openSteps({ modelMs, tasks, pairsAtOnce, settings: more = {} }: StepsOptions) {
  const here = await world({ backend: 'sqlite' })
  const model = { answered: 0 }
  here.upstream.answer(async ({ body }, response) => {
    await sleep(modelMs)
    if (response.destroyed) return
    model.answered += 1
    sendJson(response, 200, completion(JSON.parse(body.toString())))
  })
  const settings: Settings = {
    ...wordHarness(here.directory, 'asking-adapter.ts'),
    'evolution.executor': EXECUTOR,
    'inference.runtime': 'provider',
    'inference.upstream_url': here.upstream.url,
    'inference.upstream_model': 'm',
    'evolution.tasks': JSON.stringify(
      Array.from({ length: tasks }, (_, at) => ({ name: `task-${at}`, prompt: `Task ${at}.`, answer: ANSWER })),
    ),
    'evolution.episode_workers': pairsAtOnce,
    ...more,
  }
  await here.restart({ ...settings, 'evolution.episode_host': 'workers' })
  await here.post('/svc/scenarios', { name: SCENARIO })
  const scenario = trainee(here, SCENARIO)
  const workers = new Set<ChildProcess>()
  let started = 0
  const start = (): void => {
    const name = `w${(started += 1)}`
    const own = { ...settings, 'storage.agent_record_dir': join(here.directory, name) }
    const given = ['worker', '--url', here.address, '--slots', '1', '--name', name, ...argumentsOf(own)]
    const child = spawn(process.execPath, [COMMAND, ...given], { stdio: 'ignore', env: { ...process.env, NODE_COMPILE_CACHE } })
    workers.add(child)
    child.once('exit', () => workers.delete(child))
  }
  const end = (): void => workers.forEach((child) => child.kill('SIGKILL'))
  process.once('exit', end)
  return {
    model,
    async fleet(): Promise<JsonObject> {
      return (await here.get('/svc/fleet')).json
    },
    /** Resolves once so many wait for episodes. */
    async workers(count: number): Promise<void> {
      while (workers.size < count) start()
      await until(async () => {
        const { workers: known } = (await here.get('/svc/fleet')).json
        return Array.isArray(known) && known.length >= started
      })
    },
    /** Ends the one that was started first, as a machine ends that loses its power, and starts another one. */
    killOne(): void {
      const [victim] = workers
      victim?.kill('SIGKILL')
      start()
    },
    /** A whole step: from the request to the row that landed. */
    async step(at: number): Promise<JsonObject> {
      const id = await scenario.ask(`Say what is right, ${at}.`)
      return scenario.consumer(id)
    },
    async close(): Promise<void> {
      const ended = [...workers].map((child) => once(child, 'exit'))
      end()
      await Promise.all(ended)
      process.removeListener('exit', end)
      await here.close()
    },
  }
}

function completion({
  messages,
  seed = null,
}: {
  readonly messages: readonly { readonly content: string }[]
  readonly seed?: number | null
}) {
  const [rules = '', task = ''] = messages.map(({ content }) => content)
  const isRight = lotOf(JSON.stringify([task, seed])) % 256 < RIGHT_LEAST + (lotOf(rules) % RIGHT_MORE)
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: isRight ? ANSWER : 'wrong' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: TOKENS_PER_CALL - 1, completion_tokens: 1, total_tokens: TOKENS_PER_CALL },
  }
}
