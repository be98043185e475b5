/** The releases of several scenarios, a few at a time. */
import { ServiceFailure, type ReleaseRow } from '@svc-ai/client'
import { isUnreached, type RemoteService } from './service.ts'

/** Looking at a scenario loads it; with more of them than this, one has to be named. */
export const SCENARIOS_LOOKED_AT_MAX = 50
const AT_ONCE = 8

/** Without those that the service cannot show: one broken scenario hides no other. */
export async function releasesOf(service: RemoteService, names: readonly string[]): Promise<ReadonlyMap<string, readonly ReleaseRow[]>> {
  const found = new Map<string, readonly ReleaseRow[]>()
  const waiting = [...names]
  const worker = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const rows = await shownReleases(service, name)
      if (rows !== null) found.set(name, rows)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return found
}

async function shownReleases(service: RemoteService, name: string): Promise<readonly ReleaseRow[] | null> {
  try {
    return await service.in(name).releases()
  } catch (error) {
    if (error instanceof ServiceFailure && !isUnreached(error)) return null
    throw error
  }
}
