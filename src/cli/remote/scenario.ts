/** The scenario of a command: the named one, or the only one. And the releases of several scenarios. */
import { ServiceFailure, type ReleaseRow, type ScenarioRow } from '@svc-ai/client'
import { invalid, unknown } from '../../contract/index.ts'
import { shellWord } from '../screen/text.ts'
import { isUnreached, type RemoteService } from './service.ts'

const NAMES_MAX = 12

/** `command` spells the same command with a scenario's name, to choose one. */
export async function chooseScenario(
  service: RemoteService,
  named: string | undefined,
  command: (name: string) => string,
): Promise<string> {
  const scenarios = await service.svc.scenarios()
  if (named === undefined) return onlyOne(service, scenarios, command)
  if (scenarios.some(({ scenario }) => scenario === named)) return named
  if (scenarios.length === 0) throw nothingYet()
  throw unknown(
    'unknown_scenario',
    `no scenario has that name; there ${listed(scenarios)}: ${service.command(command(firstOf(scenarios)))}`,
  )
}

export function onlyOne(service: RemoteService, scenarios: readonly ScenarioRow[], command: (name: string) => string): string {
  const [first, ...others] = scenarios
  if (first === undefined) throw nothingYet()
  if (others.length === 0) return first.scenario
  throw invalid('which_scenario', `which scenario? There ${listed(scenarios)}: ${service.command(command(first.scenario))}`)
}

const nothingYet = (): Error =>
  unknown('no_scenario', 'there is no scenario yet: the first request makes one, such as the one that svc serve prints')

function listed(scenarios: readonly ScenarioRow[]): string {
  const names = scenarios.slice(0, NAMES_MAX).map(({ scenario }) => shellWord(scenario))
  const more = scenarios.length - names.length
  const all = more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`
  return scenarios.length === 1 ? `is ${all}` : `are ${all}`
}

const firstOf = (scenarios: readonly ScenarioRow[]): string => scenarios[0]?.scenario ?? ''

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
