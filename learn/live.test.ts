/** Live scores in the arm of the provisional tier. */
import { describe, expect, it } from 'vitest'
import type { Files } from '../src/contract/index.ts'
import { admit, contentOf } from '../src/harness/index.ts'
import { HARMS } from '../plugins/runtimes/practice/lessons.ts'
import { ADAPTER } from './agent.ts'
import { LiveSessions } from './live.ts'
import { bestOf } from './sealed.ts'
import { MODEST } from './worlds/index.ts'
import { created, rule, type World } from './worlds/world.ts'

const STEPS = 20

const worldOf = (): World => {
  const world = MODEST['moving-grader']?.('live')
  if (world === undefined) throw new Error('there is no such world')
  return world
}

function filesWith(world: World, mutations: Parameters<typeof admit>[2]): Files {
  const tree = admit(ADAPTER, world.start, mutations)
  if (!tree.admitted) throw new Error(tree.reason)
  return contentOf(ADAPTER, tree.entries)
}

/** The step that ends it; null: none does. */
function endOf(live: LiveSessions, world: World, provisional: Files, head: Files): number | null {
  const train = world.phases[0]?.train ?? []
  const steps = Array.from({ length: STEPS }, (_, step) => step)
  return steps.find((step) => live.end({ provisional, head }, train, step, 0)) ?? null
}

describe('sessions on a provisional release', () => {
  it('end one that is worse, which does not come back until something is published', () => {
    const world = worldOf()
    const worse = filesWith(world, [created(rule('worse', HARMS[0]?.wording[0] ?? ''))])
    const live = new LiveSessions(world)
    expect(endOf(live, world, worse, filesWith(world, bestOf(world)))).not.toBeNull()
    expect(live.isWithdrawn(worse)).toBe(true)
    live.forget()
    expect(live.isWithdrawn(worse)).toBe(false)
  })

  it('leave one that helps', () => {
    const world = worldOf()
    const better = filesWith(world, bestOf(world))
    const live = new LiveSessions(world)
    expect([endOf(live, world, better, contentOf(ADAPTER, world.start)), live.isWithdrawn(better)]).toEqual([null, false])
  })
})
