/** What may happen on the board: who plays what next, what a silent worker loses, what nobody needs any more. Pure: rows in, rows changed. */
import type { EpisodeRow, FleetRows, LeaseRow } from '../contract/index.ts'
import { forgetChecks } from './checks.ts'
import type { WorkerOffer } from './episodes.ts'

/** An episode that so many lost is not given to one more. */
const TRIES_MAX = 3
/** A worker that was not heard of for so long is forgotten. */
const FORGOTTEN_MS = 10 * 60_000
/** Seen this recently, it may still take an episode. */
const PRESENT_MS = 30_000
/** A gateway that is silent for so long waits for nothing any more: another one that goes on with its step may have what it offered. */
const GATEWAY_MS = 10_000
/** What nobody has asked for again by then is dropped. */
const ORPHAN_MS = 120_000
/** Found out, it stays known this long, so that its scores are found too. */
const SET_ASIDE_MS = 7 * 24 * 3600_000

/** Whose worker it is: those of one token stand for each other. */
export const holderOf = (name: string): string => name.split('/', 1)[0] ?? name

/** What the gateway that waited for it may not come back for. */
export const isOrphan = ({ now, gateways }: FleetRows, { owner }: EpisodeRow): boolean =>
  now - (gateways.get(owner)?.at ?? -Infinity) > GATEWAY_MS

/** What it waited for is free for another one at once. */
export function leaveBoard({ now, gateways }: FleetRows, gateway: string): void {
  if (gateways.has(gateway)) gateways.set(gateway, { at: now - GATEWAY_MS - 1 })
}

/** Requests first; then the scenario that has fewest running; then the oldest. */
export function nextFor(rows: FleetRows, offer: WorkerOffer): readonly [string, EpisodeRow] | null {
  const running = new Map<string, number>()
  for (const { scenario } of rows.leases.values()) running.set(scenario, (running.get(scenario) ?? 0) + 1)
  let best: readonly [string, EpisodeRow] | null = null
  let bestRank: readonly number[] = []
  for (const [id, episode] of rows.episodes) {
    if (!isWaiting(episode) || !mayPlay(rows, offer, episode)) continue
    const rank = [episode.priority === 'request' ? 0 : 1, running.get(episode.scenario) ?? 0, episode.at]
    if (best !== null && !isBefore(rank, bestRank)) continue
    best = [id, episode]
    bestRank = rank
  }
  return best
}

export const isWaiting = ({ lease, by, problem }: EpisodeRow): boolean => lease === null && by === null && problem === null

function mayPlay(rows: FleetRows, { name, plays, scenarios }: WorkerOffer, episode: EpisodeRow): boolean {
  if (!plays.includes(episode.plays) || (scenarios !== null && !scenarios.has(episode.scenario))) return false
  if (isTwinOf(rows, name, episode)) return false
  return !episode.losers.includes(holderOf(name)) || !isPlayable(rows, episode, episode.losers)
}

/** Nobody checks itself. */
function isTwinOf({ episodes, leases }: FleetRows, name: string, { twin }: EpisodeRow): boolean {
  const other = twin === null ? undefined : episodes.get(twin)
  return other !== undefined && (other.by ?? leases.get(other.lease ?? '')?.worker) === name
}

/** Whether a worker is there that may take it, other than those of these holders. */
function isPlayable(rows: FleetRows, episode: EpisodeRow, without: readonly string[] = []): boolean {
  return [...rows.workers].some(
    ([name, { at, plays, scenarios, isSetAside }]) =>
      rows.now - at <= PRESENT_MS &&
      !isSetAside &&
      plays.includes(episode.plays) &&
      (scenarios === null || scenarios.includes(episode.scenario)) &&
      !without.includes(holderOf(name)) &&
      !isTwinOf(rows, name, episode),
  )
}

/** The worker of the lease has it no longer. What the workers of one holder lose counts once, as long as there are others. */
export function takeBack(rows: FleetRows, leaseId: string, { worker, episode: id }: LeaseRow): void {
  rows.leases.delete(leaseId)
  const episode = rows.episodes.get(id)
  if (episode === undefined) return
  const holder = holderOf(worker)
  if (!episode.losers.includes(holder) || !isPlayable(rows, episode, episode.losers)) episode.tries += 1
  episode.losers = [...new Set([...episode.losers, holder])]
  episode.lease = null
  if (episode.tries >= TRIES_MAX) episode.problem = `${TRIES_MAX} workers lost the episode, ${worker} last`
}

/** A score of one that was found out is worth nothing: it is played again. */
export function playAgain(episode: EpisodeRow): void {
  episode.lease = null
  episode.by = null
}

/** Takes back what silent workers have, and drops what nobody needs. */
export function tidy(rows: FleetRows, leaseMs: number): void {
  const { now, episodes, leases, workers, gateways } = rows
  for (const [id, lease] of leases) {
    const episode = episodes.get(lease.episode)
    if (episode === undefined) {
      leases.delete(id)
      continue
    }
    if (now - lease.at <= leaseMs && now - lease.since <= episode.playMsMax) continue
    const worker = workers.get(lease.worker)
    if (worker !== undefined) worker.lost += 1
    takeBack(rows, id, lease)
  }
  for (const [name, { at, isSetAside }] of workers) {
    if (now - at <= (isSetAside ? SET_ASIDE_MS : FORGOTTEN_MS)) continue
    workers.delete(name)
    forgetChecks(rows, name)
  }
  for (const [id, { at }] of gateways) if (now - at > ORPHAN_MS) gateways.delete(id)
  for (const [id, episode] of episodes) if (!gateways.has(episode.owner)) drop(rows, id)
  // A second play that nobody is left to take.
  for (const episode of episodes.values()) {
    const first = episode.twin === null ? undefined : episodes.get(episode.twin)
    if (episode.isSpare && isWaiting(episode) && first?.by != null && !isPlayable(rows, episode)) episode.problem = 'unchecked'
  }
}

/** Nobody wants it any more: the next beat of its worker says so. */
export function drop({ episodes, leases }: FleetRows, id: string): void {
  const lease = episodes.get(id)?.lease ?? null
  episodes.delete(id)
  if (lease !== null) leases.delete(lease)
}

function isBefore(rank: readonly number[], other: readonly number[]): boolean {
  const at = rank.findIndex((value, index) => value !== other[index])
  return at !== -1 && (rank[at] ?? 0) < (other[at] ?? 0)
}
