/** How episodes reach the model: the evaluation routes, for those of this process and for those that workers play. */
import { randomBytes } from 'node:crypto'
import { ROUTE_PREFIX, type ModelAddress, type Store } from '../contract/index.ts'
import { EpisodeQueue } from '../fleet/index.ts'
import { knowSecrets } from '../kit/index.ts'
import type { PriceTable } from '../limits/index.ts'

export interface Evaluation {
  /** Valid for the evaluation routes alone, in this process. */
  readonly token: string
  readonly fleet: EpisodeQueue
  /** The evaluation routes of a scenario, with the token. */
  address(model: ModelAddress, base: string, scenario: string): ModelAddress
}

/** Gateways that share a store that can, share the episodes. */
export function openEvaluation(store: Pick<Store, 'fleet'>, prices: PriceTable): Evaluation {
  const token = randomBytes(32).toString('hex')
  knowSecrets([token])
  const fleet = new EpisodeQueue(store.fleet, {
    costOf: ({ model, ...tokens }) => prices.listedCostOf(model === null ? [] : [model], tokens),
  })
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
