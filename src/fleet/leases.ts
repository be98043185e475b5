/** Who may take an episode: the worker is noted, and gets a lease with a key. Rows in, rows changed. */
import { hash, randomBytes } from 'node:crypto'
import { conflict, LEASE_KEY_PREFIX, limited, unknown, type EpisodeRow, type FleetRows } from '../contract/index.ts'
import type { WorkerOffer } from './episodes.ts'
import { holderOf } from './checks.ts'
import { nextFor } from './rules.ts'

/** Of one worker at once. */
const LEASES_MAX = 256
const WORKERS_MAX = 10_000
/** So that no token takes the place of the workers of others. */
const WORKERS_OF_HOLDER_MAX = 256

export interface Leased {
  readonly episode: string
  readonly scenario: string
  readonly lease: string
  readonly key: string
}

/** Notes the worker, or refuses it. */
export function hear(rows: FleetRows, { name, slots, plays, scenarios, memoryBytes }: WorkerOffer): void {
  const { now, workers } = rows
  const known = workers.get(name)
  const ofHolder = [...workers].filter(([each]) => holderOf(each) === holderOf(name))
  if (ofHolder.some(([, { isHolderSetAside }]) => isHolderSetAside === true))
    throw conflict(
      'worker_set_aside',
      `the scores of the workers of token ${holderOf(name)} differ from those of other workers far more often than theirs from each other: look at its machines, then give them another token`,
    )
  if (known?.isSetAside === true)
    throw conflict(
      'worker_set_aside',
      `the scores of worker ${name} differ from those of other workers far more often than theirs from each other: look at its machine and its configuration, then give it another name`,
    )
  if (leasesOf(rows, name) >= LEASES_MAX)
    throw limited('worker_limit', `worker ${name} plays ${LEASES_MAX} episodes already, which is the most`, 1)
  const isFull = workers.size >= WORKERS_MAX || ofHolder.length >= WORKERS_OF_HOLDER_MAX
  if (known === undefined && isFull) throw limited('worker_limit', 'as many workers are known as there can be; stop some of them', 60)
  const memory = memoryBytes === undefined ? {} : { memoryBytes }
  const heard = { at: now, slots, plays: [...plays], scenarios: scenarios === null ? null : [...scenarios], ...memory }
  workers.set(name, { played: 0, lost: 0, isSetAside: false, ...known, ...heard })
}

export function lease(rows: FleetRows, offer: WorkerOffer): Leased | null {
  const { now, leases, workers } = rows
  const next = leasesOf(rows, offer.name) >= LEASES_MAX || workers.get(offer.name)?.isSetAside === true ? null : nextFor(rows, offer)
  if (next === null) return null
  const [episode, row] = next
  const [id, key] = [newSecret(), LEASE_KEY_PREFIX + newSecret()]
  row.lease = id
  const about = { episode, scenario: row.scenario, worker: offer.name, key: hash('sha256', key), ...limitsOf(row) }
  leases.set(id, { at: now, since: now, ...about })
  return { episode, scenario: row.scenario, lease: id, key }
}

export function leaseOf({ leases, episodes }: FleetRows, name: string, leaseId: string) {
  const held = leases.get(leaseId)
  const row = held === undefined ? undefined : episodes.get(held.episode)
  if (held?.worker === name && row !== undefined) return { lease: held, row, episode: held.episode }
  throw unknown('unknown_lease', 'this worker has no such episode: it was cancelled, or another worker has it by now')
}

const leasesOf = ({ leases }: FleetRows, name: string): number => [...leases.values()].filter(({ worker }) => worker === name).length

/** Those of workers that lost it are paid for, and say nothing about this play. */
const limitsOf = ({ callsMax, tokensMax, tries, budget }: EpisodeRow): Pick<EpisodeRow, 'callsMax' | 'tokensMax' | 'budget'> => ({
  ...(budget !== undefined && { budget }),
  ...(callsMax !== undefined && { callsMax: callsMax * (tries + 1) }),
  ...(tokensMax !== undefined && { tokensMax: tokensMax * (tries + 1) }),
})

export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('hex')
const SECRET_BYTES = 24
