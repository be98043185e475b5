/** Records, commits and helpers of the store suite. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isRefusal } from '../src/contract/index.ts'
import type { Commit, NewRecord, RecordRow, Refusal, RefusalKind, ScenarioStore, Store } from '../src/contract/index.ts'

export interface StoreSuite {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
  /** Opens the store of that folder, with the records of earlier stores there. */
  readonly open: (config: { readonly directory: string; readonly capacity_bytes: number }) => Store | Promise<Store>
  /** False for a store that keeps nothing after closing. */
  readonly isLasting: boolean
}

export const AMPLE_BYTES = 1024 * 1024

/** Deeper than a recursive walk can go. */
export const DEEP = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`

/** Gives each test a store in a temporary folder, which it may reopen. */
export function over({ it, open }: StoreSuite, capacity_bytes = AMPLE_BYTES) {
  return (name: string, body: (store: Store, reopen: () => Promise<Store>) => Promise<void>): void =>
    it(name, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'store-'))
      const opened: Store[] = []
      const openOne = async (): Promise<Store> => {
        await opened.at(-1)?.close()
        const store = await open({ directory, capacity_bytes })
        opened.push(store)
        return store
      }
      try {
        await body(await openOne(), openOne)
      } finally {
        await opened.at(-1)?.close()
        await rm(directory, { recursive: true, force: true })
      }
    })
}

export async function create(store: Store, name: string): Promise<ScenarioStore> {
  const scenario = store.scenario(name)
  await scenario.commit(commit(0))
  return scenario
}

/** Waits, since eviction may follow an append later. */
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
  assert.ok(isRefusal(error), `expected a refusal ${code}, got ${String(error)}`)
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
