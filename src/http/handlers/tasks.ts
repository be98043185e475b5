/** The tasks of a scenario: list, show, make one of a record, decide. They are held out, so no session of an agent may read them. */
import {
  invalid,
  isObject,
  unknown,
  type Json,
  type ListedTask,
  type ShownTask,
  type TaskBook,
  type TaskList,
} from '../../contract/index.ts'
import { newTaskSchema, taskChangeSchema } from '../../contract/wire/index.ts'
import { checkShape } from '../../records/index.ts'
import type { Scenario } from '../../scenarios/index.ts'
import { noteChange } from './audit.ts'
import type { HttpContext } from '../context.ts'
import { refuseAgents } from './held-out.ts'
import { storedRecord } from './records.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'
import { scenarioOf } from '../request-fields.ts'

export async function list(context: HttpContext): Promise<HttpReply> {
  refuseAgents(context)
  const name = scenarioOf(context.request)
  return context.services.registry.use(name, async (scenario) =>
    liveJson({ scenario: name, tasks: [...(await bookOf(scenario).list())] } satisfies TaskList),
  )
}

export async function show(context: HttpContext): Promise<HttpReply> {
  refuseAgents(context)
  return context.services.registry.use(scenarioOf(context.request), async (scenario) =>
    liveJson((await bookOf(scenario).show(context.params['task'] ?? '')) satisfies ShownTask),
  )
}

export async function create(context: HttpContext): Promise<HttpReply> {
  refuseAgents(context)
  const name = scenarioOf(context.request)
  context.logFields.scenario = name
  const wanted = checkShape(newTaskSchema, await context.readObject())
  return context.services.registry.use(name, async (scenario) => {
    const book = bookOf(scenario)
    const { request_type: type, payload } = await storedRecord(scenario.store, wanted.record_id)
    if (type !== 'inference') throw invalid('not_an_inference', 'record_id: must be the receipt of an exchange with a model')
    const exchange: Json = JSON.parse(Buffer.from(payload).toString())
    const task = await book.add({ ...wanted, exchange: isObject(exchange) ? exchange : {} })
    await noteChange(context, { scenario: name, target: task.name, before: null, after: { ...decided(task), record: wanted.record_id } })
    return json(task)
  })
}

export async function change(context: HttpContext): Promise<HttpReply> {
  refuseAgents(context)
  const name = scenarioOf(context.request)
  context.logFields.scenario = name
  const wanted = checkShape(taskChangeSchema, await context.readObject())
  const task = context.params['task'] ?? ''
  return context.services.registry.use(name, async (scenario) => {
    const book = bookOf(scenario)
    const before = (await book.list()).find((each) => each.name === task)
    const changed: ListedTask = await book.change(task, wanted)
    await noteChange(context, {
      scenario: name,
      target: task,
      before: before === undefined ? null : decided(before),
      after: decided(changed),
    })
    return json(changed)
  })
}

const decided = ({ role, status }: ListedTask) => ({ role, status })

function bookOf({ binding, recipeName }: Scenario): TaskBook {
  if (binding.tasks !== undefined) return binding.tasks
  throw unknown('no_tasks', `recipe ${recipeName} reads no folder of tasks; set evolution.tasks_dir`)
}
