/** The store against a plain map, under whatever sequence of retries, conflicts, evictions, restarts and archives the generator finds. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterAll, it } from 'vitest'
import { Refusal, type NewRecord, type RecordRow } from '../../../src/contract/index.ts'
import { bytes, create, record } from '../../../conformance/store-samples.ts'
import { openStore } from './store.ts'

const CAPACITY_BYTES = 100
const SCENARIOS = ['a', 'b'] as const
const root = mkdtempSync(join(tmpdir(), 'store-'))

afterAll(() => rmSync(root, { recursive: true, force: true }))

type Name = (typeof SCENARIOS)[number]
type Step =
  | { readonly verb: 'append'; readonly scenario: Name; readonly batches: readonly (readonly (readonly [id: string, content: number])[])[] }
  | { readonly verb: 'archive'; readonly scenario: Name }
  | { readonly verb: 'reopen' }

const scenario = fc.constantFrom(...SCENARIOS)
const batch = fc.array(fc.tuple(fc.constantFrom('p', 'q', 'r', 's', 't', 'u', 'v'), fc.integer({ min: 0, max: 1 })), { maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ verb: fc.constant('append' as const), scenario, batches: fc.array(batch, { maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('archive' as const), scenario }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('reopen' as const) }) },
)

it('behaves like a map that never forgets what an id was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const world = await makeWorld()
      for (const each of steps) await world.take(each)
      await world.close()
    }),
    { numRuns: 30, interruptAfterTimeLimit: 40_000 },
  )
})

interface Known {
  readonly sequence: number
  readonly content: number
}

/** The store and beside it the map; after each step both must say the same. */
async function makeWorld() {
  const directory = mkdtempSync(join(root, 'case-'))
  const open = () => openStore({ directory, capacityBytes: CAPACITY_BYTES })
  const model = new Map<Name, Map<string, Known>>()
  let store = await open()
  for (const name of SCENARIOS) await restart(name)

  async function restart(name: Name): Promise<void> {
    await create(store, name)
    model.set(name, new Map())
  }

  /** Side by side, so that one call's conflict has neighbours it might spoil; answered in the order asked. */
  async function append({ scenario: name, batches }: Extract<Step, { verb: 'append' }>): Promise<void> {
    const known = model.get(name) ?? new Map<string, Known>()
    const expected = batches.map((each) => appendToModel(known, each))
    const answers = batches.map((each) => store.scenario(name).append(each.map(sample)).then(sequences, codeOf))
    assert.deepEqual(await Promise.all(answers), expected)
  }

  async function check(): Promise<void> {
    while ((await store.usage()).body_bytes > CAPACITY_BYTES) await nextTurn()
    for (const [name, known] of model) {
      const rows = await store.scenario(name).records({ after: 0, limit: 100 })
      assert.deepEqual(
        rows.map((row) => [row.agent_record_id, row.sequence]),
        [...known].map(([id, { sequence }]) => [id, sequence]),
      )
      for (const [id, { content }] of known) {
        const payload = (await store.scenario(name).get(id))?.payload ?? null
        if (payload !== null) assert.deepEqual(Buffer.from(payload), Buffer.from(sample([id, content]).payload))
      }
    }
  }

  return {
    async take(each: Step): Promise<void> {
      if (each.verb === 'append') await append(each)
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

const sample = ([id, content]: readonly [string, number]): NewRecord =>
  record(id, { payload: bytes(`{"id":"${id}","content":${content}}`) })
const sequences = (rows: readonly RecordRow[]) => rows.map((row) => row.sequence)
const codeOf = (error: unknown) => (error instanceof Refusal ? error.code : String(error))
