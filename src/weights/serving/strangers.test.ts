/**
 * Two gateways on one engine, each with names of its own: whatever both publish, roll back, forget and find again, neither unloads an adapter
 * of the other. `npm run test:weights:updates` makes ten thousand updates.
 */
import { expect, it } from 'vitest'
import { randomOf, type Random } from '../../../test/crash/random.ts'
import { sharedFolder } from '../../../test/support/folder.ts'
import type { Engine } from '../../contract/index.ts'
import { ownedEngine } from './owned.ts'
import { adapterFolder, ScriptedEngine } from './testing.ts'
import { Weights } from './weights.ts'

const UPDATES = Number(process.env['WEIGHT_UPDATES'] ?? 400)
const SEED = process.env['WEIGHT_SEED'] ?? String(Date.now())
const GATEWAYS = ['one', 'two']
const SCENARIOS = ['a', 'b'] as const
const DRAIN_SECONDS = 0.001
const CAPACITY = 4
const RESTART_EVERY = 50
const NEVER = new AbortController().signal
const folder = sharedFolder()

/** The engine as one gateway sees it, which has its share of the slots; what it unloads is kept. */
function shareOf(engine: ScriptedEngine, unloaded: (name: string) => void): Engine {
  return new Proxy<Engine>(engine, {
    get(target, name) {
      if (name === 'capacity') return CAPACITY / GATEWAYS.length
      if (name === 'unload') return (adapter: string) => (unloaded(adapter), engine.unload(adapter))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

it(
  `in ${UPDATES} updates of two gateways no adapter is unloaded by a stranger, and what is served stays there`,
  async () => {
    const engine = new ScriptedEngine({ capacity: CAPACITY })
    const directory = await adapterFolder(folder, 1)
    const strangers: string[] = []
    const missing: string[] = []
    const gateways = GATEWAYS.map((gateway) => {
      const share = shareOf(engine, (name) => void (name.startsWith(`${gateway}.`) || strangers.push(`${gateway} unloaded ${name}`)))
      const weights = new Weights(ownedEngine(share, gateway), DRAIN_SECONDS)
      return { gateway, weights, random: randomOf(`${SEED} ${gateway}`) }
    })
    await Promise.all(
      gateways.map(async ({ gateway, weights, random }) => {
        for (let update = 1; update <= UPDATES / GATEWAYS.length; update += 1) {
          await updateOnce(weights, random, { update, directory })
          // Also after the other one looked at all that the engine holds.
          if (update % RESTART_EVERY === 0) await weights.reconcile()
          for (const scenario of SCENARIOS) {
            const adapter = weights.served(scenario)?.adapter ?? null
            if (adapter !== null && !engine.names.includes(`${gateway}.${adapter}`)) missing.push(`${gateway}: ${adapter}`)
          }
        }
      }),
    )
    expect(strangers, SEED).toEqual([])
    expect(missing, SEED).toEqual([])
    expect(engine.violations, SEED).toEqual([])
    expect(engine.callsOf('unload').length).toBeGreaterThan(UPDATES / 4)
  },
  60_000 + UPDATES * 20,
)

async function updateOnce(weights: Weights, random: Random, { update, directory }: { update: number; directory: string }): Promise<void> {
  const scenario = random.pick(SCENARIOS)
  const isBase = random.between(1, 9) === 1
  const lease = random.between(1, 3) === 1 ? await weights.lease(scenario, NEVER).catch(() => null) : null
  await weights.serve(scenario, { runtime_load_id: `ab12:${update}`, directory: isBase ? null : directory })
  lease?.end()
  if (random.between(1, 40) === 1) weights.forget(scenario)
}
