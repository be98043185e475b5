/** What the service itself ships in a tree may be newer than what a scenario serves: then it is published as a release of its own, without a batch. */
import { composeWith, contentOf } from './composed.ts'
import type { Services } from './services.ts'
import { landRow } from './land.ts'
import { reach } from './reach.ts'
import type { Scenario } from './scenario.ts'

/** Whoever loads the scenario waits for it, so that nobody pulls what is out of date; a failure is told and tried again at the next load. */
export async function landShipped(services: Services, scenario: Scenario): Promise<void> {
  const { files } = scenario.surface
  if (files?.shipped === undefined) return
  const { component = '' } = files
  const landing = scenario.lane.run(async () => {
    const head = scenario.head()
    const served = await reach(services.contents.read(contentOf(head, component) ?? head.content_id))
    const update = files.shipped?.(served) ?? null
    if (update === null) return
    const written = await reach(services.contents.write({ kind: 'files', files: update.content }))
    const metrics = { shipped_content_update: { entries: update.entries } }
    const row = { operation: 'shipped', outcome: 'published', consumed_ids: [], metrics, state: {} } as const
    await landRow(services, scenario, row, await composeWith(services, head, component, written))
  })
  await landing.catch((error: unknown) => services.warn('what the service ships could not be published', error))
}
