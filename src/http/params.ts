/** Parameters of a path. */
import { unknown } from '../contract/index.ts'
import { scenarioName } from '../scenarios/index.ts'
import type { Visit } from './door.ts'

/** The scenario a path names. What cannot be a name cannot be a scenario either: it is unknown, not malformed. */
export function nameInPath(visit: Visit): string {
  const text = visit.params['scenario'] ?? ''
  try {
    const name = scenarioName(text, 'the path')
    visit.note.scenario = name
    return name
  } catch {
    throw unknown('unknown_scenario', 'the path names no scenario; GET /svc/scenarios lists them')
  }
}
