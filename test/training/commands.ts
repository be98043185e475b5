/** The commands of the property test as plain data, so that a failing sequence can be replayed, and how they are run. */
import * as fc from 'fast-check'
import { isRefusal, type NewRecord, type RefusalKind, type TrainingMode } from '../../src/contract/index.ts'
import { emptyExchange } from '../support/services.ts'
import { NAME, type ScenarioWorld, type Settings } from './world.ts'
import { VERDICTS } from './attempt.ts'
import { BREAKABLE, type Breakable } from './power.ts'
import type { Line } from './trainer.ts'

export type Simple =
  /** New exchanges and a report that quotes them, and an earlier exchange if there is one. */
  | { readonly do: 'report'; readonly exchanges: number; readonly shared: number | null }
  | { readonly do: 'infer' }
  | { readonly do: 'instruct' }
  | { readonly do: 'choose'; readonly mode: TrainingMode }
  | { readonly do: 'promote' | 'rollback'; readonly pick: number }
  | { readonly do: 'finish'; readonly pick: number }
  | { readonly do: 'remove' }
  | { readonly do: 'call elsewhere' }
export type Command =
  | Simple
  | { readonly do: 'together'; readonly all: readonly Simple[] }
  | { readonly do: 'later' }
  | { readonly do: 'fail next'; readonly what: Breakable }
  | { readonly do: 'restart' }
  | { readonly do: 'crash'; readonly during: Simple; readonly calls: number; readonly isLastDone: boolean }

const MODES: readonly TrainingMode[] = ['auto', 'manual', 'hybrid']
const pick = fc.nat({ max: 30 })
const as = <T extends string>(word: T): fc.Arbitrary<T> => fc.constant(word)

const simple: fc.Arbitrary<Simple> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: as('report'), exchanges: fc.constantFrom(1, 1, 1, 2, 0), shared: fc.option(pick, { freq: 2 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: as('infer') }) },
  { weight: 4, arbitrary: fc.record({ do: as('instruct') }) },
  { weight: 3, arbitrary: fc.record({ do: as('choose'), mode: fc.constantFrom(...MODES) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('promote' as const, 'rollback' as const), pick }) },
  { weight: 5, arbitrary: fc.record({ do: as('finish'), pick: fc.nat({ max: 1 }) }) },
  { weight: 1, arbitrary: fc.record({ do: as('remove') }) },
  { weight: 1, arbitrary: fc.record({ do: as('call elsewhere') }) },
)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 20, arbitrary: simple },
  { weight: 5, arbitrary: fc.record({ do: as('together'), all: fc.array(simple, { minLength: 2, maxLength: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ do: as('later') }) },
  { weight: 2, arbitrary: fc.record({ do: as('fail next'), what: fc.constantFrom(...BREAKABLE) }) },
  { weight: 1, arbitrary: fc.record({ do: as('restart') }) },
  { weight: 2, arbitrary: fc.record({ do: as('crash'), during: simple, calls: fc.nat({ max: 15 }), isLastDone: fc.boolean() }) },
)

export const commands = (maxLength: number): fc.Arbitrary<readonly Command[]> => fc.array(command, { maxLength, size: 'max' })

const line: fc.Arbitrary<Line> = fc.record({
  verdict: fc.constantFrom('publish', 'publish', 'publish', 'throw', ...VERDICTS),
  isSlow: fc.boolean(),
})
export const script: fc.Arbitrary<readonly Line[]> = fc.array(line, { maxLength: 30, size: 'max' })

export const settings: fc.Arbitrary<Settings> = fc.record({
  components: fc.constantFrom([''], ['alpha', 'beta'], ['alpha', 'beta']),
  batchSize: fc.integer({ min: 1, max: 4 }),
  maxSteps: fc.constantFrom(0, 0, 0, 3),
  stale: fc.constantFrom('merge' as const, 'reevaluate' as const, 'refuse' as const),
  configuredMode: fc.constantFrom(...MODES),
  turns: fc.integer({ min: 1, max: 2 }),
  delays: fc.array(fc.nat({ max: 4 }), { maxLength: 20 }),
})

/** Runs the commands with a check after each, then waits for all remaining work. */
export async function live(world: ScenarioWorld, all: readonly Command[]): Promise<void> {
  await world.start()
  for (const each of all) {
    await take(world, each)
    await world.check()
  }
  world.power.heal()
  await settle(world)
  if (world.exists) await finishAll(world)
}

/** Without further failures, all due work must finish by itself. */
async function settle(world: ScenarioWorld): Promise<void> {
  world.host.behave()
  await world.power.quiet()
  world.later()
  await world.check()
}

/** Repeated instructions finish everything, including steps that waited after stale results. */
async function finishAll(world: ScenarioWorld): Promise<void> {
  for (let before = -1; before !== world.model.rows.length;) {
    before = world.model.rows.length
    await world.choose('hybrid')
    await settle(world)
  }
  world.model.forgive()
  await world.check()
}

async function take(world: ScenarioWorld, each: Command): Promise<void> {
  switch (each.do) {
    case 'together':
      return void (await Promise.allSettled(each.all.map((one) => run(world, one))))
    case 'later':
      return world.later()
    case 'fail next':
      return world.power.fail(each.what)
    case 'restart':
      return restart(world)
    case 'crash':
      world.power.cutAfter(each.calls, each.isLastDone)
      await run(world, each.during).catch(() => undefined)
      await world.power.quiet()
      world.power.cut()
      return restart(world)
    default:
      await run(world, each).catch(refusedOrBroken)
  }
}

async function restart(world: ScenarioWorld): Promise<void> {
  await world.stop()
  await world.start()
}

/** An injected failure may fail the command; any other error must be a refusal. */
function refusedOrBroken(error: unknown): RefusalKind {
  if (isRefusal(error)) return error.kind
  if (error instanceof Error && error.message.startsWith('injected failure')) return 'unavailable'
  throw error
}

async function run(world: ScenarioWorld, each: Simple): Promise<void> {
  switch (each.do) {
    case 'report':
      return world.append(reported(world, each))
    case 'infer':
      return world.append([recordOf('inference', world.newId('x'), [])])
    case 'instruct':
      return world.append([recordOf('train', world.newId('t'), [])])
    case 'choose':
      return world.choose(each.mode)
    case 'promote':
    case 'rollback':
      return move(world, each.do, each.pick)
    case 'finish':
      return world.host.finish(each.pick)
    case 'remove':
      return void (await world.registry.remove(NAME))
    case 'call elsewhere':
      return world.callElsewhere()
  }
}

function reported(world: ScenarioWorld, { exchanges, shared }: Extract<Simple, { do: 'report' }>): readonly NewRecord[] {
  const fresh = Array.from({ length: exchanges }, () => recordOf('inference', world.newId('x'), []))
  const earlier = world.exists && shared !== null ? world.model.records.filter(({ type }) => type === 'inference') : []
  const again = earlier.length === 0 ? [] : [earlier[(shared ?? 0) % earlier.length]?.id ?? '']
  const references = [...again, ...fresh.map(({ agent_record_id: id }) => id)]
  return [...fresh, recordOf('report', world.newId('r'), references)]
}

/** Any release of the scenario, or an unknown one. */
async function move(world: ScenarioWorld, operation: 'promote' | 'rollback', which: number): Promise<void> {
  if (!world.exists) return
  const { model } = world
  const made = model.rows.flatMap(({ release }) => release?.release_id ?? [])
  const releaseId = [...made.toReversed(), 'never made'][which % (made.length + 1)] ?? ''
  const [expected, before] = [model.expectMove(releaseId, operation), model.rows.length]
  const refusal = await world.registry.move(NAME, releaseId, operation).then(() => null, refusedOrBroken)
  const since = model.rows.slice(before)
  // Concurrent changes may affect the answer; every row was checked when it landed.
  if (refusal === 'unavailable' || since.some((row) => row.operation !== operation || row.rollback_target_release_id !== releaseId)) return
  const result = refusal ?? (since.length === 0 ? 'stayed' : 'moved')
  if (result !== expected) model.wrongs.push(`${operation}: ${result} instead of ${expected}`)
}

function recordOf(request_type: NewRecord['request_type'], id: string, references: readonly string[]): NewRecord {
  const payload = request_type === 'train' ? { text: 'do', session: 's', release_id: 'r', requires: [] } : { id, references }
  return { ...emptyExchange(id), request_type, references, payload: Buffer.from(JSON.stringify(payload)) }
}
