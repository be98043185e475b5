/** POST /svc/train: one instruction, durable before the 200, with the path of the page on which it can be followed. */
import { invalid, ROUTE_PREFIX } from '../contract/index.ts'
import { admitTrain } from '../records/index.ts'
import type { Scenario } from '../scenarios/index.ts'
import { pageQuery } from './pass.ts'
import { json, type Asked, type Reply } from './reply.ts'
import { scenarioOf } from './scope.ts'

/** An unknown scenario is never created here, whatever the deployment allows elsewhere. */
export async function train({ door, visit, object }: Asked): Promise<Reply> {
  const name = scenarioOf(visit.request)
  visit.note.scenario = name
  const { record, screen } = admitTrain(await object(), door)
  const { agent_record_id, request_type } = record
  return door.registry.use(name, async (scenario) => {
    const kept = await scenario.types([agent_record_id])
    // What is kept already is the store's to judge, also after the mode was changed.
    if (!kept.has(agent_record_id)) {
      refuseAutoMode(scenario)
      screen()
    }
    await scenario.append([record])
    visit.note.receipt = agent_record_id
    const page = `${ROUTE_PREFIX}/harness/requests/${encodeURIComponent(agent_record_id)}/page`
    return json({ agent_record_id, scenario: name, request_type, page_path: `${page}?${pageQuery(visit.visitor, name)}` })
  })
}

function refuseAutoMode({ name, trainingMode }: Scenario): void {
  if (trainingMode !== 'auto') return
  throw invalid(
    'auto_mode',
    `scenario ${JSON.stringify(name)} runs in auto mode, which takes no instructions; switch it to manual or hybrid`,
  )
}
