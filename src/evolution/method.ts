/** Makes the proposer, evaluators, selection and executor from the plug-ins that the configuration names. */
import { invalid } from '../contract/index.ts'
import type { Evaluator, Executor, JsonObject, Make, MakeExecutor, Parts, Proposer, Selection } from '../contract/index.ts'
import type { EvolutionSettings } from './settings.ts'

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

const SANDBOX = 'sandbox'
const LOCAL = 'local'

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

interface Chosen {
  readonly maker: MakeExecutor
  readonly codeProblem: string | null
  readonly untrustedProblem: string | null
}

/** A named executor must work, or the service does not start; the default falls back to `local` with a warning. */
async function chooseExecutor({ executor }: EvolutionSettings, parts: Parts): Promise<Chosen> {
  const name = executor ?? SANDBOX
  const maker = await parts.plugin('executor', name)
  const problem = (await maker.check?.()) ?? null
  if (problem === null) return { maker, codeProblem: codeProblemOf(name, maker), untrustedProblem: null }
  if (executor !== null) throw invalid('no_executor', `evolution.executor: ${name} does not work here: ${problem}`)
  const cure = `fix that, or set evolution.executor: ${LOCAL} to let agents act on this machine as the service itself`
  parts.warn(`episodes run without a sandbox, so code that a model writes and proposals of agents are refused: ${problem}; ${cure}`)
  const local = await parts.plugin('executor', LOCAL)
  const because = `the sandbox does not work here (${problem})`
  return { maker: local, codeProblem: because, untrustedProblem: `${because}; ${cure}` }
}

const codeProblemOf = (name: string, { contains }: MakeExecutor): string | null =>
  contains === true ? null : `executor ${name} does not isolate code from this machine`

const made = async <T extends object>(plugin: T | Make<T>, config: JsonObject): Promise<T> =>
  'make' in plugin ? plugin.make(config) : plugin
