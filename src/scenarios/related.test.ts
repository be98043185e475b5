/** The rows that a page about one row refers to. */
import { describe, expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import { keptChain } from '../../test/support/chain.ts'
import type { Commit, JsonObject } from '../contract/index.ts'
import { replacedRequests } from '../presentation/replaces.ts'
import { listedRows } from './catalog.ts'
import { relatedRows } from './related.ts'

const ASKED: JsonObject = { training_request: { id: 'first', text: 'Look parcels up.' } }
const changes = (op: string, id: string): JsonObject => ({ mutations: [{ op, id }] })

function made(step: number, metrics: JsonObject, more: Partial<Commit> = {}): Commit {
  const release = { release_id: `r${step}`, parent_release_id: step === 0 ? null : `r${step - 1}`, content_id: `c${step}` }
  return { ...commit(step), recorded_at: step, release, metrics, ...more }
}

const learned = (count: number): readonly Commit[] =>
  Array.from({ length: count }, (_, at) => made(at + 2, changes('update', `other-${at}`)))

/** As the page of the last row says it. */
async function saidOf(rows: readonly Commit[], component?: string): Promise<readonly string[]> {
  const chain = await keptChain(rows, component)
  const [last] = (await listedRows(chain, { step: 0 }, rows.length)).slice(-1)
  if (last === undefined) return []
  const related = await relatedRows(chain, last.row)
  const nameOf = (row: object): string => `v${[...related].find(([, each]) => each === row)?.[0]}`
  return replacedRequests([...related.values()], last.row, nameOf)
}

describe('what was asked for and is taken away', () => {
  it.each([0, 1, 250])('is found %i releases behind the parent', async (between) => {
    const rows = [made(0, {}), made(1, { ...ASKED, ...changes('create', 'parcel') }), ...learned(between)]
    const last = (op: string): Commit => made(rows.length, changes(op, 'parcel'))
    expect(await saidOf([...rows, last('update')])).toEqual(['It replaces parcel, which was asked for in v1.'])
    expect(await saidOf([...rows, last('remove')])).toEqual(['It removes parcel, which was asked for in v1.'])
  })

  it('is not what a later release learned, nor what was never served', async () => {
    const asked = made(1, { ...ASKED, mutation: { op: 'create', id: 'parcel' } })
    expect(await saidOf([made(0, {}), asked, made(2, changes('update', 'parcel')), made(3, changes('update', 'parcel'))])).toEqual([])
    const held: Commit = { ...asked, outcome: 'pending', pending: true }
    expect(await saidOf([made(0, {}), held, made(2, {}), made(3, changes('update', 'parcel'))])).toEqual([])
    const promoted = made(2, {}, { operation: 'promote', rollback_target_release_id: 'r1' })
    expect(await saidOf([made(0, {}), held, promoted, made(3, changes('update', 'parcel'))])).toEqual([
      'It replaces parcel, which was asked for in v1.',
    ])
  })

  it('is bounded: rows that are no changes are passed over, and a long history is not read to its end', async () => {
    const odd: JsonObject = { mutations: [7, null, { op: 'update' }, { id: 'parcel' }] }
    const far = Array.from({ length: 1200 }, (_, at) => made(at + 2, at === 0 ? odd : {}))
    const rows = [made(0, {}), made(1, { ...ASKED, ...changes('create', 'parcel') }), ...far]
    expect(await saidOf([...rows, made(rows.length, changes('remove', 'parcel'))])).toEqual([])
  })
})
