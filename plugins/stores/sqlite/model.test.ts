/** The store against a plain map, under whatever sequence of retries, conflicts, evictions, restarts and archives the generator finds. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'vitest'
import { Refusal, type Commit, type NewRecord } from '../../../src/contract/index.ts'
import { bytes, commit, create, evicted, record, sequences } from '../../../conformance/store-samples.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { IS_SHORT } from '../../../test/support/short.ts'
import { openStore } from './store.ts'

/** Small bodies lie as they came; large ones that begin alike refer to each other. */
const SIZES = [
  { bodies: 'small', capacityBytes: 100, text: '', numRuns: IS_SHORT ? 8 : 30 },
  {
    bodies: 'large',
    capacityBytes: 70_000,
    text: Array.from({ length: 5000 }, (_, index) => `word${(index * index) % 997}`).join(' '),
    numRuns: IS_SHORT ? 3 : 10,
  },
] as const
const SCENARIOS = ['a', 'b'] as const
const COMPONENTS = ['', 'p'] as const

type Name = (typeof SCENARIOS)[number]
type Component = (typeof COMPONENTS)[number]
type Step =
  | { readonly verb: 'append'; readonly scenario: Name; readonly batches: readonly (readonly (readonly [id: string, content: number])[])[] }
  | {
      readonly verb: 'commit'
      readonly scenario: Name
      readonly ahead: number
      readonly component: Component
      readonly ids: readonly string[]
    }
  | { readonly verb: 'archive'; readonly scenario: Name }
  | { readonly verb: 'reopen' }

const scenario = fc.constantFrom(...SCENARIOS)
const someId = fc.constantFrom('p', 'q', 'r', 's', 't', 'u', 'v')
const batch = fc.array(fc.tuple(someId, fc.integer({ min: 0, max: 1 })), { maxLength: 4 })
const ahead = fc.integer({ min: 0, max: 2 })
const component = fc.constantFrom(...COMPONENTS)
const ids = fc.array(someId, { maxLength: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ verb: fc.constant('append' as const), scenario, batches: fc.array(batch, { maxLength: 4 }) }) },
  { weight: 6, arbitrary: fc.record({ verb: fc.constant('commit' as const), scenario, ahead, component, ids }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('archive' as const), scenario }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('reopen' as const) }) },
)

for (const { bodies, capacityBytes, text, numRuns } of SIZES) {
  it(`behaves like a map that never forgets what an id was, nor which component consumed it, with ${bodies} bodies`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const world = await makeWorld(capacityBytes, text)
        for (const each of steps) await world.take(each)
        await world.close()
      }),
      { numRuns, interruptAfterTimeLimit: 25_000 },
    )
  })
}

interface Known {
  readonly sequence: number
  readonly content: number
}

interface Model {
  readonly known: Map<string, Known>
  readonly consumed: Set<string>
  newest: number
}

const newModel = (): Model => ({ known: new Map(), consumed: new Set(), newest: 0 })

/** The store and beside it the map; after each step both must say the same. */
async function makeWorld(capacityBytes: number, text: string) {
  const directory = temporaryFolder()
  const open = () => openStore({ directory, capacityBytes })
  const sample = ([id, content]: readonly [string, number]): NewRecord =>
    record(id, { payload: bytes(`{${text === '' ? '' : `"text":"${text}",`}"id":"${id}","content":${content}}`) })
  const model = new Map<Name, Model>()
  let store = await open()
  for (const name of SCENARIOS) await restart(name)

  async function restart(name: Name): Promise<void> {
    await create(store, name)
    model.set(name, newModel())
  }

  /** Side by side, so that one call's conflict has neighbours it might spoil; answered in the order asked. */
  async function append({ scenario: name, batches }: Extract<Step, { verb: 'append' }>): Promise<void> {
    const { known } = model.get(name) ?? newModel()
    const expected = batches.map((each) => appendToModel(known, each))
    const answers = batches.map((each) => store.scenario(name).append(each.map(sample)).then(sequences, codeOf))
    assert.deepEqual(await Promise.all(answers), expected)
  }

  /** Twice at once: of two alike, one at most lands. */
  async function land({ scenario: name, ahead: by, component: who, ids: consumed }: Extract<Step, { verb: 'commit' }>): Promise<void> {
    const known = model.get(name) ?? newModel()
    const stored = store.scenario(name)
    const row = { ...commit(known.newest + by, consumed), component: who }
    const expected = [row, row].map((each) => commitToModel(known, each))
    const answers = [row, row].map((each) => stored.commit(each).then(() => null, codeOf))
    assert.deepEqual(await Promise.all(answers), expected)
  }

  async function check(): Promise<void> {
    await evicted(store)
    for (const [name, { known, consumed }] of model) {
      const rows = await store.scenario(name).records({ after: 0, limit: 100 })
      const listed = rows.map((row) => [row.agent_record_id, row.sequence])
      assert.deepEqual(
        listed,
        Array.from(known, ([id, { sequence }]) => [id, sequence]),
      )
      for (const [id, { content }] of known) {
        const payload = (await store.scenario(name).get(id))?.payload ?? null
        if (payload !== null) assert.deepEqual(Buffer.from(payload), Buffer.from(sample([id, content]).payload))
      }
      for (const who of COMPONENTS) {
        const pending = await store.scenario(name).pending({ component: who, types: ['inference'], after: 0, limit: 100 })
        const expected = [...known].filter(([id]) => !consumed.has(`${who}/${id}`)).map(([, { sequence }]) => sequence)
        assert.deepEqual(sequences(pending), expected)
      }
    }
  }

  return {
    async take(each: Step): Promise<void> {
      if (each.verb === 'append') await append(each)
      if (each.verb === 'commit') await land(each)
      if (each.verb === 'archive') {
        await store.archive(each.scenario)
        await restart(each.scenario)
      }
      if (each.verb === 'reopen') {
        await store.close()
        store = await open()
      }
      await check()
    },
    async close(): Promise<void> {
      assert.deepEqual(await store.verify(() => undefined), [])
      await store.close()
    },
  }
}

/** All or none: the sequences, or the code of the refusal and no change. */
function appendToModel(known: Map<string, Known>, entries: readonly (readonly [string, number])[]): readonly number[] | string {
  const next = new Map(known)
  for (const [id, content] of entries) {
    const before = next.get(id)
    if (before === undefined) next.set(id, { sequence: next.size + 1, content })
    else if (before.content !== content) return 'record_conflict'
  }
  for (const [id, entry] of next) known.set(id, entry)
  return entries.map(([id]) => next.get(id)?.sequence ?? 0)
}

/** Null, or the code of the refusal and no change. */
function commitToModel(model: Model, { step: number, component: who = '', consumed_ids }: Commit): string | null {
  if (number !== model.newest + 1) return 'step_conflict'
  const consumed = consumed_ids.map((id) => `${who}/${id}`)
  if (consumed.some((each) => model.consumed.has(each))) return 'already_consumed'
  for (const each of consumed) model.consumed.add(each)
  model.newest = number
  return null
}

const codeOf = (error: unknown) => (error instanceof Refusal ? error.code : String(error))
