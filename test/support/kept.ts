/** The records a scenario holds, read back over HTTP. */
import { isObject, type JsonObject } from '../../src/contract/index.ts'
import type { World } from './world.ts'

/** Every record whole, oldest first; none when there is no such scenario. */
export async function recordsOf(here: World, scenario: string): Promise<readonly JsonObject[]> {
  const { json } = await here.get(`/svc/scenarios/${scenario}/records?limit=100`)
  const rows = Array.isArray(json['records']) ? json['records'] : []
  return Promise.all(
    rows.map(async (row) => {
      const id = isObject(row) && typeof row['agent_record_id'] === 'string' ? row['agent_record_id'] : ''
      return (await here.get(`/svc/scenarios/${scenario}/records/${id}`)).json
    }),
  )
}

/** What the provider answered, as each record holds it. */
export async function responsesOf(here: World, scenario: string): Promise<readonly JsonObject[]> {
  const records = await recordsOf(here, scenario)
  return records.map(({ payload }) => (isObject(payload) && isObject(payload['response']) ? payload['response'] : {}))
}
