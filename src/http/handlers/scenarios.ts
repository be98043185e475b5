/** Scenarios: list, create, update, contract, delete. */
import type {
  Adapter,
  ArchivedScenario,
  CreatedScenario,
  JsonObject,
  ScenarioContract,
  ScenarioList,
  ScenarioRow,
  UpdatedScenario,
} from '../../contract/index.ts'
import { createScenarioFields, updateScenarioFields } from '../../contract/wire/index.ts'
import { checkShape } from '../../records/index.ts'
import { checkModelSettings, modelView, parseModelSettings, scenarioName, type Registry, type Scenario } from '../../scenarios/index.ts'
import { noteChange } from './audit.ts'
import type { HttpContext } from '../context.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'
import { nameInPath } from '../request-fields.ts'

/** For a token that is for some scenarios alone, those of them that there are. */
export async function list({ services: { registry }, principal }: HttpContext): Promise<HttpReply> {
  const own = principal.kind === 'service' ? principal.scenarios : null
  const names = (await registry.names()).filter((name) => own === null || own.has(name))
  const rows = await Promise.all(names.map((name) => listRow(registry, name)))
  return json({ scenarios: rows } satisfies ScenarioList)
}

async function listRow(registry: Registry, name: string): Promise<ScenarioRow> {
  const scenario = registry.loaded(name)
  if (scenario === undefined) return unloadedRow(registry, name)
  return {
    scenario: name,
    loaded: true,
    recipe: scenario.recipeName,
    ...identity(scenario),
    training_mode: scenario.trainingMode,
    ...views(scenario),
    ...(scenario.makeWorkers !== null && { evolution: scenario.ownEvolution }),
    ...(scenario.binding.tasks !== undefined && { has_tasks: true }),
  }
}

async function unloadedRow(registry: Registry, name: string): Promise<ScenarioRow> {
  const recipe = await registry.recipeOf(name)
  return { scenario: name, loaded: false, recipe, ...adapterName(registry.adapters.get(recipe ?? '')) }
}

const adapterName = (adapter: Adapter | undefined): Pick<ScenarioRow, 'adapter'> => (adapter === undefined ? {} : { adapter: adapter.name })

function identity(scenario: Scenario): Pick<CreatedScenario, 'release_id' | 'content_id'> {
  const { release_id, content_id } = scenario.head()
  return { release_id, content_id }
}

function views({ model, recipe }: Scenario): Pick<CreatedScenario, 'model' | 'adapter'> {
  return { model: modelView(model), ...adapterName(recipe.adapter) }
}

/** An existing scenario keeps its model settings; those sent are not even checked. */
export async function create(context: HttpContext): Promise<HttpReply> {
  const { registry } = context.services
  const body = checkShape(createScenarioFields, await context.readObject())
  const name = scenarioName(body.name, 'name')
  context.logFields.scenario = name
  const own = () => (body.model === undefined ? null : modelSettings(context, body.model))
  const wish = { release: body.release_id?.trim() ?? null, recipe: body.recipe?.trim() ?? null }
  const { scenario, isNew } = await registry.create(name, wish, own)
  if (isNew)
    await noteChange(context, {
      scenario: name,
      target: null,
      before: null,
      after: { recipe: scenario.recipeName, release_id: scenario.head().release_id, ...settingsOf(scenario) },
    })
  return json({ scenario: name, ...identity(scenario), ...views(scenario) } satisfies CreatedScenario, isNew ? 201 : 200)
}

export async function update(context: HttpContext): Promise<HttpReply> {
  const { registry } = context.services
  const name = nameInPath(context)
  const { training_mode: mode, model, evolution } = checkShape(updateScenarioFields, await context.readObject())
  const own = model === undefined || model === null ? model : modelSettings(context, model)
  const before = await registry.use(name, async (scenario) => settingsOf(scenario))
  const scenario = await registry.update(name, { mode, model: own, evolution })
  await noteChange(context, { scenario: name, target: null, before, after: settingsOf(scenario) })
  return json({
    scenario: name,
    training_mode: scenario.trainingMode,
    ...(model !== undefined && { model: modelView(scenario.model) }),
    ...(evolution !== undefined && { evolution: scenario.ownEvolution }),
  } satisfies UpdatedScenario)
}

const modelSettings = ({ services }: HttpContext, model: JsonObject) => checkModelSettings(parseModelSettings(model), services)

/** What `update` changes, as the audit shows it: without the key of the model. */
const settingsOf = ({ trainingMode, model, ownEvolution }: Scenario) => ({
  training_mode: trainingMode,
  model: modelView(model),
  ...(Object.keys(ownEvolution).length > 0 && { evolution: ownEvolution }),
})

export async function contract(context: HttpContext): Promise<HttpReply> {
  const { registry } = context.services
  const name = nameInPath(context)
  return registry.use(name, ({ processors, trainingMode, leading }) => {
    const processor = leading?.processor ?? processors[0]?.[1]
    const contractView: ScenarioContract = {
      scenario: name,
      processor: processor?.name ?? null,
      required_request_types: [...(processor?.requestTypes ?? [])].sort(),
      training_mode: trainingMode,
      status: leading?.status() ?? processor?.status() ?? {},
    }
    return Promise.resolve(liveJson(contractView))
  })
}

export async function remove(context: HttpContext): Promise<HttpReply> {
  const { registry, tokens } = context.services
  const name = nameInPath(context)
  const archived = await registry.remove(name)
  await tokens.scenarioEnded()
  await noteChange(context, { scenario: name, target: null, before: null, after: { archived } })
  return json({ scenario: name, archived } satisfies ArchivedScenario)
}
