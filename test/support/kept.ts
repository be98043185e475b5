/** The records a scenario holds, read back over HTTP. */
import { isObject, type JsonObject } from '../../src/contract/index.ts'
import type { World } from './world.ts'

/** Every record whole, oldest first; none when there is no such scenario. */
export async function recordsOf(here: World, scenario: string): Promise<readonly JsonObject[]> {
  const { records = [] } = (await here.get(`/svc/scenarios/${scenario}/records?limit=100`)).json
  const ids = Array.isArray(records) ? records.filter(isObject).map(({ agent_record_id: id }) => (typeof id === 'string' ? id : '')) : []
  return Promise.all(ids.map(async (id) => (await here.get(`/svc/scenarios/${scenario}/records/${id}`)).json))
}

/** What the provider answered, as each record holds it. */
export async function responsesOf(here: World, scenario: string): Promise<readonly JsonObject[]> {
  const records = await recordsOf(here, scenario)
  return records.map(({ payload }) => (isObject(payload) && isObject(payload['response']) ? payload['response'] : {}))
}
