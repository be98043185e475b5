/** How episodes reach the model: the evaluation routes, for those of this process and for those that workers play. */
import { randomBytes } from 'node:crypto'
import { ROUTE_PREFIX, type ModelAddress } from '../contract/index.ts'
import { EpisodeQueue } from '../fleet/index.ts'
import { knowSecrets } from '../kit/index.ts'

export interface Evaluation {
  /** Valid for the evaluation routes alone, in this process. */
  readonly token: string
  readonly fleet: EpisodeQueue
  /** The evaluation routes of a scenario, with the token. */
  address(model: ModelAddress, base: string, scenario: string): ModelAddress
}

export function openEvaluation(): Evaluation {
  const token = randomBytes(32).toString('hex')
  knowSecrets([token])
  const fleet = new EpisodeQueue()
  return {
    token,
    fleet,
    address({ url: upstream, model, api }, base, scenario) {
      const url = `${base}${ROUTE_PREFIX}/scenarios/${encodeURIComponent(scenario)}/evaluation`
      // The model inside this process has a name for examples alone.
      return { url, model: upstream === '' ? null : model, api, apiKey: token }
    },
  }
}
