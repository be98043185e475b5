/** How soon a promote is served by every listener: the head moves to and fro under load, and every connection looks at its answers. */

import { get, post, until } from './asking.ts'
import { SCENARIO } from './contestant.ts'
import { costMetrics } from './rig.ts'
import { note, tinyJob, type Turn } from './rounds.ts'
import { RECIPE } from './training.ts'

export const PROMOTE_SETTINGS = { '--recipe': RECIPE, '--data.training_mode': 'manual' }
export const PROMOTE_WINDOW = 'promotes'
/** More connections than listeners, so that each listener has some; few enough that each asks every 16 ms, which is part of what is measured. */
const LOAD = { concurrency: 16, perSecond: 1000, restMs: 20 } as const
const MOVES = 100
const MOVES_QUICK = 20
/** The step trains at a low priority: beside other work it may start late. */
const PATIENCE_SECONDS = 600

export async function takePromote(turn: Turn): Promise<void> {
  const { rig, running } = turn
  const releases = await twoReleases(running.port)
  const { port, path, headers, body } = tinyJob(rig, running, { concurrency: 1, seconds: 1 })
  const moves = rig.options.quick ? MOVES_QUICK : MOVES
  const movePath = `/svc/scenarios/${SCENARIO}/rollback`
  const { result, cost } = await rig.measure(running, { kind: 'promote', port, path, headers, body, movePath, moves, releases, ...LOAD })
  const { requests, seenMs, answeredMs } = result
  const seen = {
    requests,
    moves: result.moves,
    stale: result.stale,
    seen_p50_ms: seenMs.p50,
    seen_p99_ms: seenMs.p99,
    seen_max_ms: seenMs.max,
    answered_p50_ms: answeredMs.p50,
    answered_p99_ms: answeredMs.p99,
  }
  note(turn, PROMOTE_WINDOW, { ...seen, ...costMetrics(cost, requests) }, result.failures)
}

/** The seed, and what one step published. */
async function twoReleases(port: number): Promise<readonly [string, string]> {
  const releases = async (): Promise<readonly string[]> => {
    const { releases: rows } = await get(port, `/svc/scenarios/${SCENARIO}/releases`)
    return Array.isArray(rows) ? rows.map((row) => String(Object(row)['release_id'])) : []
  }
  await post(port, '/svc/train', SCENARIO, { text: 'publish', session: 'bench', release_id: 'bench' })
  if (!(await until(async () => (await releases()).length > 1, PATIENCE_SECONDS))) throw new Error('no step published a release')
  const [newest = '', seed = ''] = await releases()
  return [seed, newest]
}
