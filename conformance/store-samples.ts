/** Records, commits and helpers of the store suite. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Appended, Commit, NewRecord, RecordRow, ScenarioStore, Store } from '../src/contract/index.ts'
import { withFolder, type Runner } from './support.ts'

export interface StoreSuite extends Runner {
  /** Opens the store of that folder, with the records of earlier stores there. */
  readonly open: (config: { readonly directory: string; readonly capacity_bytes: number }) => Store | Promise<Store>
  /** False for a store that keeps nothing after closing. */
  readonly isLasting: boolean
  /** True for a store whose scenarios have `search`. */
  readonly canSearch?: boolean
  /** What a small body takes besides its own bytes. */
  readonly addedBytes?: number
  /** True for a store that has `documents`. */
  readonly hasDocuments?: boolean
  /** True for a store that has `shares`. */
  readonly hasShares?: boolean
}

export const AMPLE_BYTES = 1024 * 1024

/** Deeper than a recursive walk can go. */
export const DEEP = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`

type StoreTest = (store: Store, reopen: () => Promise<Store>) => Promise<void>

/** Gives each test an empty store in a temporary folder, which it may reopen. */
export function overEmpty({ it, open }: StoreSuite, capacity_bytes = AMPLE_BYTES) {
  return (name: string, body: StoreTest): void =>
    it(name, () =>
      withFolder(async (directory) => {
        let store: Store | undefined
        const reopen = async (): Promise<Store> => {
          await store?.close()
          return (store = await open({ directory, capacity_bytes }))
        }
        try {
          await body(await reopen(), reopen)
        } finally {
          await store?.close()
        }
      }),
    )
}

interface Stored {
  readonly store: Store
  readonly a: ScenarioStore
  readonly b: ScenarioStore
  readonly reopen: () => Promise<Store>
}

/** Gives each test a store with two scenarios. */
export function over(suite: StoreSuite, capacity_bytes?: number) {
  const test = overEmpty(suite, capacity_bytes)
  return (name: string, body: (stored: Stored) => Promise<void>): void =>
    test(name, async (store, reopen) => body({ store, a: await create(store, 'a'), b: await create(store, 'b'), reopen }))
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
/** Every page after the one before it, until one is empty. */
export async function walk(pageAfter: (after: number) => Promise<readonly RecordRow[]>): Promise<number[][]> {
  const pages: number[][] = []
  for (;;) {
    const page = sequences(await pageAfter(pages.at(-1)?.at(-1) ?? 0))
    if (page.length === 0) return pages
    pages.push(page)
  }
}

/** 1, 2, 3 and so on. */
export const counted = (length: number): number[] => Array.from({ length }, (_, index) => index + 1)
export const settled = async (calls: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(calls)).map(({ status }) => status)
export const sequences = (found: readonly RecordRow[] | Appended): number[] =>
  ('rows' in found ? found.rows : found).map((row) => row.sequence)
export const steps = (commits: readonly Commit[]): number[] => commits.map((row) => row.step)
