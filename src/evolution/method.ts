/** Makes the proposer, evaluators, selection and executor from the plug-ins that the configuration names. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { z } from 'zod'
import { invalid, unavailable, POWERS } from '../contract/index.ts'
import type { Evaluator, Executor, JsonObject, Make, MakeExecutor, Parts, Proposer, Selection } from '../contract/index.ts'
import { NO_EXECUTOR, NOT_RULES_ALONE } from './hosts/words.ts'

export interface Method {
  readonly proposer: Proposer
  readonly selection: Selection
  readonly executor: Executor
  /** Whether the executor isolates agents. */
  readonly contained: boolean
  /** False where agents of rules alone are played in this process, and nothing else is. */
  readonly runsPrograms: boolean
  /** Why code written by a model may not run, or null where the executor isolates it. */
  readonly codeProblem: string | null
  /** Why no episode runs here, and the fix; null where they run. Asked before each step, since the fix needs no restart. */
  readonly unplayable: () => Promise<string | null>
  /** A task may name its own evaluator. */
  evaluator(name: string): Promise<Evaluator>
}

/** `config` is the recipe's `evolution` section with the base folder of relative paths. */
export async function loadMethod(settings: EvolutionSettings, config: JsonObject, parts: Parts): Promise<Method> {
  const { maker, codeProblem, unplayable } = await chooseExecutor(settings, parts)
  const evaluators = new Map<string, Promise<Evaluator>>()
  const evaluator = (name: string): Promise<Evaluator> => {
    const known = evaluators.get(name) ?? parts.plugin('evaluator', name).then((plugin) => made(plugin, config))
    evaluators.set(name, known)
    return known
  }
  await evaluator(settings.evaluator)
  return {
    proposer: await made(await parts.plugin('proposer', settings.proposer), config),
    selection: await made(await parts.plugin('selection', settings.selection), config),
    executor: closed(await maker.make(config), unplayable),
    contained: maker.contains === true,
    runsPrograms: settings.executor !== NO_EXECUTOR,
    codeProblem,
    unplayable,
    evaluator,
  }
}

/** A named executor must work, or the service does not start. The default plays nothing until the sandbox works. */
async function chooseExecutor({ executor }: EvolutionSettings, parts: Parts) {
  const name = executor ?? 'sandbox'
  const maker = name === NO_EXECUTOR ? NOTHING_RUNS : await parts.plugin('executor', name)
  const check = async (): Promise<string | null> => {
    const problem = (await maker.check?.()) ?? null
    return problem === null ? null : `no episode runs here: ${problem}`
  }
  const problem = await check()
  if (problem !== null && executor !== null) throw invalid('no_executor', `evolution.executor: ${name}: ${problem}`)
  if (problem !== null) parts.warn(`${problem}; ${BY_HAND}`)
  // A named executor was checked once; the check of the default remembers that it passed.
  const unplayable = executor === null ? check : () => Promise.resolve(null)
  const codeProblem = maker.contains === true ? null : `executor ${name} does not isolate code from this machine`
  return { maker, codeProblem, unplayable }
}

/** Also for evaluators, which run commands with it. */
const NOTHING_RUNS: MakeExecutor = {
  make: () => ({ run: () => Promise.reject(unavailable('no_sandbox', NOT_RULES_ALONE)) }),
}

const BY_HAND = 'or set evolution.executor: local, which runs agents without a sandbox, with all rights of the service'

/** Also evaluators run commands with it. */
function closed(executor: Executor, unplayable: Method['unplayable']): Executor {
  return {
    async run(play, signal) {
      const problem = await unplayable()
      if (problem !== null) throw unavailable('no_sandbox', problem)
      return executor.run(play, signal)
    },
  }
}

const made = async <T extends object>(plugin: T | Make<T>, config: JsonObject): Promise<T> =>
  'make' in plugin ? plugin.make(config) : plugin

/** The `evolution` section of a recipe. It was validated when the configuration was read; this schema gives it a type. */
const section = z.object({
  adapter: z.string().default('native'),
  binary: z.string().nullable(),
  tasks: z.array(z.json()).nullable(),
  tasks_dir: z.string().nullable(),
  proposer: z.string(),
  evaluator: z.string(),
  evaluator_module: z.string().nullable(),
  selection: z.string(),
  tasks_alike: z.number().default(1),
  executor: z.string().nullable(),
  publish: z.enum(['auto', 'review']),
  provisional: z.enum(['off', 'shadow', 'canary']).default('off'),
  canary_share: z.number().default(0.1),
  review_kinds: z.array(z.string()),
  publish_powers: z.array(z.enum(POWERS)),
  sandbox: z.json(),
  prices: z
    .record(z.string(), z.object({ input: z.number(), output: z.number(), cached: z.number().nullable().default(null) }))
    .default({}),
  max_tokens_per_step: z.number().default(0),
  max_cost_per_step: z.number().default(0),
  max_tokens_per_day: z.number().default(0),
  max_cost_per_day: z.number().default(0),
  objective: z
    .object({ cost_per_point: z.number().nullable().default(null), seconds_per_point: z.number().nullable().default(null) })
    .prefault({}),
  sampling_seeds: z.enum(['auto', 'off']).default('auto'),
  episode_timeout_s: z.number(),
  score_age_max_s: z.number(),
  episode_repeats: z.number(),
  episode_workers: z.number(),
  episode_host: z.enum(['service', 'workers']).default('service'),
  candidates: z.number(),
  screen_share: z.number(),
  max_model_calls_per_step: z.number(),
  max_episodes_per_step: z.number(),
  promote_failures: z.boolean(),
  max_promoted_tasks: z.number(),
  max_promoted_per_client: z.number(),
  max_rejected_history: z.number(),
  proposals_dir: z.string(),
  max_pending_proposals: z.number(),
  step_record_dir: z.string().nullable(),
  step_record_bytes: z.number(),
})
export type EvolutionSettings = Readonly<z.infer<typeof section>>

export const evolutionSettings = (config: JsonObject): EvolutionSettings => section.parse(config['evolution'])

/** Replaces the module's path by its hash, so that a changed evaluator does not reuse cached scores. */
export async function withModule(settings: EvolutionSettings, baseDirectory: string): Promise<EvolutionSettings> {
  const { evaluator_module: path } = settings
  if (path === null) return settings
  const code = await readFile(resolve(baseDirectory, path)).catch(() => path)
  return { ...settings, evaluator_module: hash('sha256', code) }
}
