/** Makes the workers of a loaded scenario: one per trainer of its recipe. */
import { join } from 'node:path'
import { isLeaseLost, unavailable, type Fence, type Trainer, type TrainerPlan } from '../contract/index.ts'
import { scopeOf, Worker, type Budgets, type TrainingContext, type TrainerHost, type WorkerParts } from '../training/index.ts'
import type { ConfiguredRecipe, Services } from './services.ts'
import { plansOf } from './composed.ts'
import { inLandingLane } from './elsewhere.ts'
import { landStep } from './land.ts'
import { budgetsWith } from './own-evolution.ts'
import { rejectionsOf } from './reject.ts'
import type { Scenario } from './scenario.ts'
import { admitLive, filesOf, keepContent, loadIdAt } from './weights.ts'

export type TrainingCircumstances = Pick<WorkerParts, 'since' | 'onRest'> & {
  /** A landing was refused: another process holds the lease. */
  readonly onLeaseLost: (scenario: Scenario) => void
}

/** Answers how to make the workers; null where the recipe has no trainer. Throws for a broken recipe. */
export function planWorkers(
  services: Services,
  scenario: Scenario,
  configured: ConfiguredRecipe,
  { onLeaseLost, ...circumstances }: TrainingCircumstances,
): ((lease: Fence) => readonly Worker[]) | null {
  const { config, plugin, budgets, limits } = configured
  const plans = plansOf(configured)
  const { traceStep } = services
  const [leader] = plans.find(([, plan]) => plan.lane === 'thread') ?? plans[0] ?? []
  const scope = {
    scenario: scenario.name,
    config,
    evaluation: services.evaluation(scenario.name),
    directory: services.files.folderOf(scenario.created),
  }
  const parts = plans.map(([component, plan]): Omit<WorkerParts, 'context'> => ({
    address: { ...scope, component, plugin, limits },
    host: hostFor(services, scenario, plan),
    processor: processorOf(scenario, component),
    plan,
    takesInstructions: component === leader,
    ...circumstances,
    trace: traceStep && ((named, requestId) => traceStep(scenario.name, named, requestId)),
    onStep: (commit) => services.stepped(scenario.name, commit),
    onInternalFailure: (error) =>
      services.warn(`a step of scenario ${JSON.stringify(scenario.name)} failed for an internal reason and is tried again`, error),
  }))
  if (parts.length === 0) return null
  return (lease) => {
    const context = trainingContext(services, scenario, { lease, budgets, onLeaseLost: () => onLeaseLost(scenario) })
    const { name, token } = lease
    return parts.map((part) => new Worker({ ...part, address: { ...part.address, lease: { name, token } }, context }))
  }
}

/** A weight trainer uses the scenario's own runtime, so it runs in the same process. */
function hostFor({ hosts, files, store }: Services, { runtime: { weights }, created }: Scenario, plan: TrainerPlan): TrainerHost {
  if (plan.lane === 'thread') return hosts.threads
  return hosts.weights.hostFor(async (trainer) => {
    const documents = files.sharedOf(created, trainer.lease)
    const opened = await plan.open({ ...scopeOf(trainer), ...(weights && { weights }), ...(documents && { documents }) })
    return store.members === undefined ? opened : publishedForAll(opened, files.folderOf(created))
  })
}

/** Weights in a folder of this machine cannot be served by the other gateways: they are published where all of them read. */
function publishedForAll(trainer: Trainer, folder: string): Trainer {
  return {
    async step(...given) {
      const result = await trainer.step(...given)
      if (result.kind !== 'live') return result
      const { path, ...rest } = result
      return { ...rest, kind: 'publish', content: { kind: 'checkpoint', path: join(folder, path) } }
    },
  }
}

function processorOf(scenario: Scenario, component: string) {
  const { processors } = scenario.binding
  const found = Object.hasOwn(processors, component) ? processors[component] : undefined
  if (found !== undefined) return found
  throw unavailable(
    'recipe_broken',
    `recipe ${scenario.recipeName} has a trainer named ${JSON.stringify(component)} and no processor of that name; fix the recipe`,
  )
}

interface ContextParts {
  readonly lease: Fence
  readonly budgets: Budgets
  readonly onLeaseLost: () => void
}

function trainingContext(services: Services, scenario: Scenario, { lease, budgets, onLeaseLost }: ContextParts): TrainingContext {
  return {
    name: scenario.name,
    get evolution() {
      return scenario.ownEvolution
    },
    get budgets() {
      return budgetsWith(budgets, scenario.ownEvolution)
    },
    get mode() {
      return scenario.trainingMode
    },
    get step() {
      return scenario.history.step
    },
    trained: (component) => scenario.history.trained(component),
    latest: (component) => scenario.history.latest(component),
    get store() {
      return scenario.store
    },
    get model() {
      const { model, api } = scenario.model
      return { model, api }
    },
    clock: services.clock,
    head: () => scenario.head(),
    files: (release, component) => filesOf(services, scenario, release, component),
    rejections: (component) => rejectionsOf(scenario, component),
    loadId: () => {
      const { weights } = scenario.surface
      return weights && loadIdAt(scenario, weights.component ?? '')
    },
    keep: (content) => keepContent(services, scenario, content),
    admit: (livePath) => admitLive(services, scenario, livePath),
    busy: (work) => scenario.use(work),
    landing: (task) =>
      inLandingLane(services, scenario, () => task((draft) => landStep(services, scenario, draft, lease))).catch((error: unknown) => {
        if (isLeaseLost(error)) onLeaseLost()
        throw error
      }),
  }
}
