/** A queue on a board in memory whose clock stands still until a test moves it. */
import { onTestFinished } from 'vitest'
import type { EpisodeLease, JsonObject } from '../../contract/index.ts'
import { MemoryBoard } from '../board.ts'
import type { OfferedEpisode } from '../episodes.ts'
import { EpisodeQueue, type QueueOptions } from '../queue.ts'

const PLAYS = 'the agent'
export const forever = new AbortController().signal

export function queueOf(options: QueueOptions = { checkEvery: Infinity }) {
  const time = { ms: 0 }
  const board = new MemoryBoard(() => time.ms)
  const open = (): EpisodeQueue => {
    const queue = new EpisodeQueue(board, options)
    onTestFinished(() => queue.close())
    return queue
  }
  return { queue: open(), time, board, open }
}

export const episode = (name: string, more: Partial<OfferedEpisode> = {}): OfferedEpisode => ({
  scenario: 'one',
  plays: PLAYS,
  priority: 'traffic',
  secondsMax: 600,
  order: { name },
  ...more,
})

export const worker = (name: string, more: Partial<Parameters<EpisodeQueue['take']>[0]> = {}) => ({
  name,
  plays: [PLAYS],
  slots: 1,
  scenarios: null,
  ...more,
})

/** What a worker is given, and the answer to it. */
export async function taken(queue: EpisodeQueue, name: string, more?: Parameters<typeof worker>[1]) {
  const got = await queue.take(worker(name, more), forever)
  if (got === null) throw new Error('nothing came')
  return { ...got, finish: (result: JsonObject) => queue.finish(name, got.lease, result) }
}

/** A call of the model under that key. */
export async function called(
  queue: EpisodeQueue,
  key: string,
  call: { model: string; input: number; output: number },
): Promise<EpisodeLease> {
  const lease = await queue.leaseWith(key)
  if (lease === null) throw new Error('the key opens nothing')
  queue.called(lease, call)
  return lease
}
