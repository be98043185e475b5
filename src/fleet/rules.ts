/** What may happen on the board: who plays what next, what a silent worker loses, what nobody needs any more. Pure: rows in, rows changed. */
import type { EpisodeRow, FleetRows, LeaseRow, WorkerRow } from '../contract/index.ts'
import { forgetChecks, holderOf } from './checks.ts'
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

function mayPlay(rows: FleetRows, { name, plays, scenarios, memoryBytes }: WorkerOffer, episode: EpisodeRow): boolean {
  if (!plays.includes(episode.plays) || (scenarios !== null && !scenarios.has(episode.scenario))) return false
  if (isTwinOf(rows, name, episode) || !hasRoom(memoryBytes, episode, memoryTaken(rows, name))) return false
  return !episode.losers.includes(holderOf(name)) || !isPlayable(rows, episode, episode.losers)
}

const hasRoom = (memoryBytes: number | undefined, { needs }: EpisodeRow, taken = 0): boolean =>
  memoryBytes === undefined || taken + (needs?.memoryBytes ?? 0) <= memoryBytes

/** By what it plays. */
function memoryTaken({ leases, episodes }: FleetRows, name: string): number {
  const own = [...leases.values()].filter(({ worker }) => worker === name)
  return own.reduce((sum, { episode }) => sum + (episodes.get(episode)?.needs?.memoryBytes ?? 0), 0)
}

/** Why no worker that is there can ever play it; null where one can. */
export function unplayableWhy(rows: FleetRows, episode: EpisodeRow): string | null {
  const there = [...rows.workers.values()].filter(({ at, isSetAside }) => rows.now - at <= PRESENT_MS && !isSetAside)
  if (there.length === 0) return 'no worker is there: start svc worker'
  const able = there.filter(({ plays }) => plays.includes(episode.plays))
  const agent = episode.needs?.adapter ?? 'what it asks for'
  if (able.length === 0)
    return `no worker plays ${agent} with this version, evaluator, executor and sandbox: give workers the configuration of the service`
  const allowed = able.filter(({ scenarios }) => scenarios === null || scenarios.includes(episode.scenario))
  if (allowed.length === 0) return 'no worker that plays it has a token for this scenario'
  if (allowed.some(({ memoryBytes }) => hasRoom(memoryBytes, episode))) return null
  const mib = Math.ceil((episode.needs?.memoryBytes ?? 0) / MIB)
  return `no worker that plays it has ${mib} MiB of memory for an episode (evolution.sandbox.memory_bytes)`
}
const MIB = 1024 * 1024

/** Nobody checks itself, and no token its own workers where those of another one are there. */
function isTwinOf(rows: FleetRows, name: string, episode: EpisodeRow): boolean {
  const first = episode.twin === null ? undefined : rows.episodes.get(episode.twin)
  const player = first === undefined ? undefined : (first.by ?? rows.leases.get(first.lease ?? '')?.worker)
  if (player === undefined || holderOf(player) !== holderOf(name)) return false
  return player === name || [...rows.workers].some(([other, row]) => holderOf(other) !== holderOf(name) && isAble(rows, row, episode))
}

/** Whether it is there and can play it. */
const isAble = ({ now }: FleetRows, { at, plays, scenarios, memoryBytes, isSetAside }: WorkerRow, episode: EpisodeRow): boolean =>
  now - at <= PRESENT_MS &&
  !isSetAside &&
  plays.includes(episode.plays) &&
  (scenarios === null || scenarios.includes(episode.scenario)) &&
  hasRoom(memoryBytes, episode)

/** Whether a worker is there that may take it, other than those of these holders. */
function isPlayable(rows: FleetRows, episode: EpisodeRow, without: readonly string[] = []): boolean {
  return [...rows.workers].some(
    ([name, row]) => isAble(rows, row, episode) && !without.includes(holderOf(name)) && !isTwinOf(rows, name, episode),
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

/** A call of it could have passed a cap of its step: nobody plays it on, and no other one begins to. */
export function cutShort({ episodes, leases }: FleetRows, id: string, words: string): void {
  const episode = episodes.get(id)
  if (episode === undefined || episode.by !== null) return
  if (episode.lease !== null) leases.delete(episode.lease)
  const twin = episodes.get(episode.twin ?? '')
  const ended = twin !== undefined && isWaiting(twin) ? [episode, twin] : [episode]
  for (const each of ended) Object.assign(each, { lease: null, problem: words, cap: words })
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
