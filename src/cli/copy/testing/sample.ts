/** Verbs for the tests of this folder: a store that holds some of everything, and what a store holds, as plain data. */
import { bytes, commit, create, record } from '../../../../conformance/store-samples.ts'
import type { Store } from '../../../contract/index.ts'
import { Slots } from '../../../kit/index.ts'

const release = (step: number) => ({ release_id: `release-${step}`, parent_release_id: null, content_id: `content-${step}` })

/** Names and ids of every kind, quoted records, rows of several components, consumed ids, metrics with a NUL. */
export async function fill(store: Store, records: number, names: readonly string[] = ['support', 'ünïcode 𝄞 \u0000']): Promise<void> {
  for (const name of names) {
    const scenario = await create(store, name)
    const all = Array.from({ length: records }, (_, at) =>
      record(`r ${at} é\u0000`, {
        created_at: 1_763_180_000.123456 + at,
        payload: bytes(JSON.stringify({ at, text: 'x'.repeat(at % 977) })),
        ...(at % 3 === 0 && { summary: { latency_ms: 1.5, session: `s${at % 7}` } }),
        ...(at % 5 === 4 && { request_type: 'report' as const, references: [`r ${at - 1} é\u0000`], artifact_ref: null, score: at / 7 }),
      }),
    )
    for (let at = 0; at < all.length; at += 100) await scenario.append(all.slice(at, at + 100))
    await scenario.commit({
      ...commit(1, ['r 0 é\u0000']),
      release: release(1),
      metrics: { text: 'a\u0000b', n: 0.1 },
      totals: { steps: 1 },
    })
    await scenario.commit({ ...commit(2, ['r 1 é\u0000']), component: 'harness', release: release(2), outcome: 'pending', pending: true })
    await scenario.commit({
      ...commit(3),
      operation: 'promote',
      release: release(3),
      rollback_target_release_id: 'release-2',
      state: { deep: [1] },
    })
  }
}

/** Every row and record, with its body as text. */
export async function holdings(store: Store): Promise<unknown> {
  const scenarios = await Promise.all(
    (await store.scenarios()).toSorted().map(async (name) => {
      const scenario = store.scenario(name)
      const rows = await scenario.records({ after: 0, limit: 100_000 })
      const slots = new Slots(2)
      const bodies = await Promise.all(rows.map(({ agent_record_id }) => slots.run(() => scenario.get(agent_record_id))))
      const payloads = bodies.map((body) => (body?.payload ? Buffer.from(body.payload).toString() : null))
      const pending = await scenario.pending({ component: '', types: ['inference', 'report'], after: 0, limit: 5 })
      return {
        name,
        rows,
        payloads,
        commits: await scenario.commits({ after: -1, limit: 1000 }),
        waits: pending.map(({ sequence }) => sequence),
      }
    }),
  )
  return scenarios
}
