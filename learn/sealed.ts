/** The sealed score of a tree: the share of sealed tasks whose answer is on the last line of the reply. */
import type { Entry, Files } from '../src/contract/index.ts'
import { admit, renderTree } from '../src/harness/index.ts'
import { ADAPTER, setupIn, runAgent } from './agent.ts'
import type { World } from './worlds/world.ts'

/** How often each sealed task is played. */
const REPEATS = 5

/** Every tree plays the same sessions, so that a no-op change keeps the score exactly. */
export function sealedScore(world: World, entries: readonly Entry[]): number {
  const files = renderTree(ADAPTER, entries)
  const [scores, key] = [KNOWN.get(world) ?? new Map<string, number>(), JSON.stringify(files)]
  const score = scores.get(key) ?? playSealed(world, files)
  KNOWN.set(world, scores.set(key, score))
  return score
}
/** Cached, since several gates reach the same trees. */
const KNOWN = new WeakMap<World, Map<string, number>>()

function playSealed(world: World, files: Files): number {
  const setup = setupIn(files)
  const runs = world.sealed.flatMap(({ prompt, answer }) =>
    Array.from({ length: REPEATS }, (_, repeat) => {
      const { reply } = runAgent(setup, prompt, {}, `sealed ${world.seed} ${prompt} ${repeat}`)
      return lastLine(reply) === answer
    }),
  )
  return runs.filter(Boolean).length / runs.length
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.trim() ?? ''

/** The best score of the known good changes, each alone. */
export function optimumOf(world: World): number {
  const scores = world.good.map((mutations) => {
    const tree = admit(ADAPTER, world.start, mutations)
    if (!tree.admitted) throw new Error(`a change that is known to be good is refused: ${tree.reason}`)
    return sealedScore(world, tree.entries)
  })
  return Math.max(sealedScore(world, world.start), ...scores)
}
