/** What the store suite is made of: records, commits, and the few verbs its sentences share. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../src/contract/index.ts'
import type { Commit, NewRecord, RecordRow, RefusalKind, ScenarioStore, Store } from '../src/contract/index.ts'

export interface StoreSuite {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
  /** A store of its own, empty, that keeps so many bytes of bodies. */
  readonly make: (capacityBytes: number) => Store | Promise<Store>
  /** Closes the store and opens what it left behind. Absent for a store that lives in memory alone. */
  readonly reopen?: (store: Store) => Promise<Store>
}

export const AMPLE_BYTES = 1024 * 1024

/** Deeper than a recursive walk can go. */
export const DEEP = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`

/** Each test has a store of its own and leaves none open. */
export function over({ it, make }: StoreSuite, capacityBytes = AMPLE_BYTES) {
  return (name: string, body: (store: Store) => Promise<void>): void =>
    it(name, async () => {
      const store = await make(capacityBytes)
      try {
        await body(store)
      } finally {
        await store.close()
      }
    })
}

export async function create(store: Store, name: string): Promise<ScenarioStore> {
  const scenario = store.scenario(name)
  await scenario.commit(commit(0))
  return scenario
}

/** Eviction may follow an append at its own pace. */
export async function evicted(store: Store): Promise<void> {
  for (;;) {
    const { body_bytes, capacity_bytes } = await store.usage()
    if (body_bytes <= capacity_bytes) break
    await nextTurn()
  }
  await nextTurn()
}

export async function refused(kind: RefusalKind, code: string, work: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Refusal, `expected a refusal ${code}, got ${String(error)}`)
  assert.deepEqual({ kind: error.kind, code: error.code }, { kind, code })
  return error
}

export function record(agent_record_id: string, change: Partial<NewRecord> = {}): NewRecord {
  const usual = { request_type: 'inference', created_at: 1.5, references: [], artifact_ref: 'release', score: null } as const
  return { agent_record_id, ...usual, payload: bytes('{"a":1}'), ...change }
}

export function commit(step: number, consumed_ids: readonly string[] = []): Commit {
  const usual = { recorded_at: 2.5, release: null, pending: false, metrics: {}, state: {} } as const
  return { step, operation: step === 0 ? 'create' : 'train', outcome: 'published', consumed_ids, ...usual }
}

/** A record of ten bytes. */
export const ten = (id: string) => record(id, { payload: bytes('{"ten":10}') })

export function plain<T extends { readonly payload: Uint8Array | null }>(stored: T | null) {
  return stored === null ? null : { ...stored, payload: stored.payload === null ? null : Buffer.from(stored.payload).toString() }
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const sequences = (rows: readonly RecordRow[]): number[] => rows.map((row) => row.sequence)
export const steps = (commits: readonly Commit[]): number[] => commits.map((row) => row.step)
