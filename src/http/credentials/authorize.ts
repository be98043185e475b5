/** What the holder of a token may do, and where. Who it is was found out before. */
import { hasRight, ROLES, unauthorized, type EpisodeLease, type Right } from '../../contract/index.ts'
import { scenarioName } from '../../scenarios/index.ts'
import type { HttpContext, HttpRoute } from '../context.ts'
import { pageScenario, scenarioOf } from '../request-fields.ts'
import type { TrafficServices } from '../services.ts'

type Asked = Pick<HttpContext<TrafficServices>, 'principal' | 'params' | 'request' | 'query'>

export function authorize(asked: Asked, { right, scope }: HttpRoute): void {
  const { principal } = asked
  if (principal.kind === 'evaluation' && principal.lease !== null) return authorizeLease(asked, principal.lease)
  if (principal.kind !== 'service') return
  const { name, role, scenarios, signIn } = principal
  const who = signIn === null ? `the token ${name}` : name
  if (right !== null && !hasRight(role, right))
    throw unauthorized(
      `${who} has the role ${role}, which may not do this; use a token of one of these roles: ${rolesWith(right)}`,
      'role_forbids',
    )
  if (scenarios === null || scope === 'any') return
  if (scope === 'deployment')
    throw unauthorized(`${who} is for single scenarios, and this is about all of them; use one that is for all`, 'other_scenario')
  const wanted = scenarioIn(asked, scope)
  // Whether there is such a scenario is not told.
  if (wanted !== null && !scenarios.has(wanted))
    throw unauthorized(`${who} is for other scenarios; name one of its own, or use a token for this one`, 'other_scenario')
}

/** A worker's key is for the episode that it plays. */
function authorizeLease(asked: Asked, { scenario }: EpisodeLease): void {
  if (scenarioIn(asked, 'path') !== scenario)
    throw unauthorized('the key is for an episode of another scenario; call the model of that one', 'other_scenario')
}

const rolesWith = (right: Right): string => ROLES.filter((role) => hasRight(role, right)).join(', ')

/** As the handler reads it. Null where there is none or it is no name: then the handler says so, or needs none. */
function scenarioIn(asked: Asked, scope: 'path' | 'header' | 'page'): string | null {
  try {
    if (scope === 'path') return scenarioName(asked.params['scenario'] ?? '', 'the path')
    return scope === 'page' ? pageScenario(asked) : scenarioOf(asked.request)
  } catch {
    return null
  }
}
