/** Makes the proposer, evaluators, selection and executor from the plug-ins that the configuration names. */
import { z } from 'zod'
import { invalid } from '../contract/index.ts'
import type { Evaluator, Executor, JsonObject, Make, Parts, Proposer, Selection } from '../contract/index.ts'

export interface Method {
  readonly proposer: Proposer
  readonly selection: Selection
  readonly executor: Executor
  /** Whether the executor isolates agents. */
  readonly contained: boolean
  /** Why code written by a model may not run, or null where the executor isolates it. */
  readonly codeProblem: string | null
  /** Why proposals and failing reports are not played, or null. Without a sandbox their text could run programs, unless the operator chose that. */
  readonly untrustedProblem: string | null
  /** A task may name its own evaluator. */
  evaluator(name: string): Promise<Evaluator>
}

/** `config` is the recipe's `evolution` section with the base folder of relative paths. */
export async function loadMethod(settings: EvolutionSettings, config: JsonObject, parts: Parts): Promise<Method> {
  const { maker, codeProblem, untrustedProblem } = await chooseExecutor(settings, parts)
  if (untrustedProblem !== null && settings.promote_failures) throw invalid('no_sandbox', `evolution.promote_failures: ${untrustedProblem}`)
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
    executor: await maker.make(config),
    contained: maker.contains === true,
    codeProblem,
    untrustedProblem,
    evaluator,
  }
}

/** A named executor must work, or the service does not start; the default falls back to `local` with a warning. */
async function chooseExecutor({ executor }: EvolutionSettings, parts: Parts) {
  const name = executor ?? 'sandbox'
  const maker = await parts.plugin('executor', name)
  const problem = (await maker.check?.()) ?? null
  if (problem === null) {
    const codeProblem = maker.contains === true ? null : `executor ${name} does not isolate code from this machine`
    return { maker, codeProblem, untrustedProblem: null }
  }
  if (executor !== null) throw invalid('no_executor', `evolution.executor: ${name} does not work here: ${problem}`)
  const cure = `fix that, or set evolution.executor: local to let agents act on this machine as the service itself`
  parts.warn(`episodes run without a sandbox, so code that a model writes and proposals of agents are refused: ${problem}; ${cure}`)
  const because = `the sandbox does not work here (${problem})`
  return { maker: await parts.plugin('executor', 'local'), codeProblem: because, untrustedProblem: `${because}; ${cure}` }
}

const made = async <T extends object>(plugin: T | Make<T>, config: JsonObject): Promise<T> =>
  'make' in plugin ? plugin.make(config) : plugin

/** The `evolution` section of a recipe. It was validated when the configuration was read; this schema gives it a type. */
const section = z.object({
  binary: z.string().nullable(),
  tasks: z.array(z.json()).nullable(),
  tasks_dir: z.string().nullable(),
  proposer: z.string(),
  evaluator: z.string(),
  evaluator_module: z.string().nullable(),
  selection: z.string(),
  executor: z.string().nullable(),
  publish: z.enum(['auto', 'review']),
  review_kinds: z.array(z.string()),
  sandbox: z.json(),
  episode_timeout_s: z.number(),
  episode_repeats: z.number(),
  episode_workers: z.number(),
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
