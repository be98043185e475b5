/** A scenario with a history: rows of training, written into the stores before the service starts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import git from '../../../plugins/contents/git/index.ts'
import sqlite from '../../../plugins/stores/sqlite/index.ts'
import type { Commit, ContentStore, NewRecord, Release } from '../../../src/contract/index.ts'
import { dataPlaceIn, type Settings } from '../../support/settings.ts'
import { world, type World } from '../../support/world.ts'

export interface Planted {
  readonly here: World
  /** Created, trained, held for review, only in an engine, and served. */
  readonly releases: Readonly<Record<'created' | 'trained' | 'held' | 'live' | 'head', Release>>
  /** Where its releases are. */
  readonly repository: string
  close(): Promise<void>
}

export const PLANTED = 'planted'
const AT = 1_700_000_000.5

/** Steps 0 to 5: created, trained on r1 and r2, rejected on r3, held, live weights, trained on r1 by another component. */
export async function plantHistory(settings: Settings = {}): Promise<Planted> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-planted-'))
  const { records, repository } = dataPlaceIn(directory)
  const releases = await plantReleases(await git.plugin.make({ repository }))
  await plantRows(records, releases)
  const here = await world({
    backend: 'sqlite',
    settings: { 'storage.agent_record_dir': records, 'storage.artifact_repository': repository, ...settings },
  })
  const close = async (): Promise<void> => {
    await here.close()
    await rm(directory, { recursive: true, force: true })
  }
  return { here, releases, repository, close }
}

async function plantReleases(contents: ContentStore): Promise<Planted['releases']> {
  const seal = async (text: string, parent: Release | null, step: number): Promise<Release> =>
    contents.seal(await contents.write({ kind: 'files', files: { 'rules.md': text } }), parent, { step, operation: 'train', at: AT })
  const created = await seal('first', null, 0)
  const trained = await seal('second', created, 1)
  const held = await seal('third', trained, 3)
  const live = { release_id: 'live:1:2:4', parent_release_id: trained.release_id, content_id: 'weights:1:2' }
  const head = await seal('second', trained, 5)
  await contents.close()
  return { created, trained, held, live, head }
}

async function plantRows(directory: string, releases: Planted['releases']): Promise<void> {
  const store = await sqlite.plugin.make({ directory, capacity_bytes: 1_000_000 })
  const scenario = store.scenario(PLANTED)
  await scenario.commit(row(0, { operation: 'create', release: releases.created }))
  await scenario.append(['r1', 'r2', 'r3'].map(record))
  await scenario.commit(row(1, { release: releases.trained, consumed_ids: ['r2', 'r1'], metrics: { wins: 3, losses: 1, own: { x: 1 } } }))
  await scenario.commit(row(2, { outcome: 'rejected', consumed_ids: ['r3'], metrics: { current_score: 0.5 } }))
  await scenario.commit(row(3, { release: releases.held, pending: true, outcome: 'pending' }))
  await scenario.commit(row(4, { release: releases.live }))
  await scenario.commit(row(5, { release: releases.head, consumed_ids: ['r1'], component: 'other' }))
  await store.close()
}

const row = (step: number, more: Partial<Commit>): Commit => ({
  step,
  operation: 'train',
  recorded_at: AT + step,
  release: null,
  pending: false,
  outcome: 'published',
  consumed_ids: [],
  metrics: {},
  state: { recipe: 'record-only', folder: 'planted', secret_of_the_method: true },
  ...more,
})

const record = (id: string): NewRecord => ({
  agent_record_id: id,
  request_type: 'inference',
  created_at: AT,
  references: [],
  artifact_ref: null,
  score: null,
  payload: Buffer.from(JSON.stringify({ id, filler: 'x'.repeat(500) })),
})
