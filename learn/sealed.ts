/** The sealed score of a tree: the mean over the sealed tasks, by the last line of each reply. */
import type { Entry, Files, Mutation } from '../src/contract/index.ts'
import { admit, renderTree } from '../src/harness/index.ts'
import { ADAPTER, setupIn, runAgent } from './agent.ts'
import { SEALED, scoreOfReply, type World } from './worlds/world.ts'

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
  const model = world.model?.(SEALED)
  const scores = world.sealed.flatMap(({ prompt, answer, files: workspace = {} }) =>
    Array.from({ length: REPEATS }, (_, repeat) => {
      const { reply } = runAgent(setup, prompt, workspace, `sealed ${world.seed} ${prompt} ${repeat}`, model)
      return scoreOfReply(world, reply, answer)
    }),
  )
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/** The best score of the known good changes, each alone, or together where the world says so. */
export const optimumOf = (world: World): number => Math.max(sealedScore(world, world.start), ...waysOf(world).map(({ sealed }) => sealed))

/** The change with the best score. */
export const bestOf = (world: World): readonly Mutation[] => waysOf(world).toSorted((a, b) => b.sealed - a.sealed)[0]?.mutations ?? []

function waysOf(world: World): readonly { readonly mutations: readonly Mutation[]; readonly sealed: number }[] {
  const ways = world.best === undefined ? world.good : [...world.good, world.best]
  return ways.map((mutations) => {
    const tree = admit(ADAPTER, world.start, mutations)
    if (!tree.admitted) throw new Error(`a change that is known to be good is refused: ${tree.reason}`)
    return { mutations, sealed: sealedScore(world, tree.entries) }
  })
}
