/** A provisional release in a whole service with two listener threads: who is served it, what the records say, and its end. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import git from '../../plugins/contents/git/index.ts'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { Commit, JsonObject, Release } from '../../src/contract/index.ts'
import { chanceOf } from '../../src/kit/index.ts'
import { dataPlaceIn } from '../support/settings.ts'
import { shared, world, type Answer, type World } from '../support/world.ts'

const NAME = 'canary'
/** So many connections meet both threads, but once in a million runs. */
const CONNECTIONS = 20

interface Planted {
  readonly here: World
  readonly head: Release
  readonly unproven: Release
  close(): Promise<void>
}

/** Created, and then a step whose candidate looks better. */
async function plant(): Promise<Planted> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-provisional-'))
  const { records, repository } = dataPlaceIn(directory)
  const contents = await git.plugin.make({ repository })
  const seal = async (text: string, parent: Release | null, step: number): Promise<Release> =>
    contents.seal(await contents.write({ kind: 'files', files: { 'rules.md': text } }), parent, { step, operation: 'train', at: 1 })
  const head = await seal('proved', null, 0)
  const unproven = await seal('unproven', head, 1)
  await contents.close()
  const store = await sqlite.plugin.make({ directory: records, capacity_bytes: 10_000_000 })
  await store.scenario(NAME).commit(row(0, { operation: 'create', release: head }))
  await store
    .scenario(NAME)
    .commit(row(1, { release: unproven, pending: true, outcome: 'pending', metrics: { provisional: { gain: 0.2 } } }))
  await store.close()
  const here = await world({
    backend: 'sqlite',
    settings: {
      'svc.listeners': 2,
      'recipes.canary.use': './test/fixtures/recipes.ts#canary',
      'storage.agent_record_dir': records,
      'storage.artifact_repository': repository,
    },
  })
  const close = async (): Promise<void> => {
    await here.close()
    await rm(directory, { recursive: true, force: true })
  }
  return { here, head, unproven, close }
}

const row = (step: number, more: Partial<Commit>): Commit => ({
  step,
  operation: 'train',
  recorded_at: 1_700_000_000 + step,
  release: null,
  pending: false,
  outcome: 'published',
  consumed_ids: [],
  metrics: {},
  state: { recipe: 'canary', folder: 'canary' },
  ...more,
})

const planted = shared(plant)
const here = (): World => planted.here

type Headers = Readonly<Record<string, string>>

const ask = (headers: Headers): Promise<Answer> =>
  here().post('/v1/chat/completions', { model: 'm', messages: [] }, { 'x-svc-scenario': NAME, ...headers })

interface Seen {
  readonly told: unknown
  readonly isMarked: boolean
  readonly recorded: unknown
}

/** What many calls were told and recorded as, each different answer once. */
async function seenBy(headers: Headers, connections = CONNECTIONS): Promise<readonly Seen[]> {
  const answers = await Promise.all(Array.from({ length: connections }, () => ask(headers)))
  const seen = await Promise.all(
    answers.map(async ({ headers: answered }): Promise<Seen> => {
      const { json } = await here().get(`/svc/scenarios/${NAME}/records/${String(answered['x-svc-agent-record-id'])}`)
      const isMarked = answered['x-svc-provisional'] === 'yes'
      return { told: answered['x-svc-release-id'], isMarked, recorded: json['artifact_ref'] }
    }),
  )
  return [...new Map(seen.map((each) => [JSON.stringify(each), each])).values()]
}

const sessionNamed = (isDrawn: boolean): string => {
  const names = Array.from({ length: 100 }, (_, n) => `s${n}`)
  return names.find((name) => chanceOf(`canary ${planted.unproven.release_id} ${name}`) < 0.5 === isDrawn) ?? ''
}

const servedBy = ({ release_id }: Release, isMarked: boolean): readonly Seen[] => [{ told: release_id, isMarked, recorded: release_id }]

const pull = (headers: Headers = {}, query = ''): Promise<Answer> =>
  here().get(`/svc/harness${query}`, { 'x-svc-scenario': NAME, ...headers })

describe('while it is served', () => {
  it('goes to whom asks for it, in every thread, and the records say so', async () => {
    const { head, unproven } = planted
    expect(await seenBy({ 'x-svc-provisional': 'yes' })).toEqual(servedBy(unproven, true))
    expect(await seenBy({})).toEqual(servedBy(head, false))
    expect(await seenBy({ 'x-svc-provisional': 'no', 'x-svc-tag-session': sessionNamed(true) })).toEqual(servedBy(head, false))
  })

  it('goes to the drawn sessions, each always the same', async () => {
    const { head, unproven } = planted
    expect(await seenBy({ 'x-svc-tag-session': sessionNamed(true) })).toEqual(servedBy(unproven, true))
    expect(await seenBy({ 'x-svc-tag-session': sessionNamed(false) })).toEqual(servedBy(head, false))
  })

  it('goes to no client that pins another release, and stays with one that holds it', async () => {
    const { head, unproven } = planted
    const session = sessionNamed(true)
    expect(await seenBy({ 'x-svc-tag-session': session, 'x-svc-tag-release': head.release_id })).toEqual(servedBy(head, false))
    expect(await seenBy({ 'x-svc-tag-session': sessionNamed(false), 'x-svc-tag-release': unproven.release_id })).toEqual(
      servedBy(unproven, true),
    )
  })

  it('is pulled by the same rules, marked, and by its id', async () => {
    const { head, unproven } = planted
    const [plain, asked, drawn, named] = await Promise.all([
      pull(),
      pull({ 'x-svc-provisional': 'yes' }),
      pull({ 'x-svc-tag-session': sessionNamed(true) }),
      pull({}, `?release_id=${unproven.release_id}`),
    ])
    expect(plain.json).toMatchObject({ release_id: head.release_id, files: { 'rules.md': 'proved' } })
    expect([plain.json['provisional'], plain.headers['x-svc-provisional']]).toEqual([undefined, undefined])
    for (const { json, headers } of [asked, drawn, named]) {
      expect(json).toMatchObject({ release_id: unproven.release_id, provisional: true, files: { 'rules.md': 'unproven' } })
      expect(headers).toMatchObject({ 'x-svc-release-id': unproven.release_id, 'x-svc-provisional': 'yes' })
    }
    expect((await pull({ 'x-svc-provisional': 'yes' }, `?release_id=${head.release_id}`)).json).toMatchObject({
      release_id: head.release_id,
    })
  })

  it('is called unproven by the lists and the status', async () => {
    const { unproven } = planted
    const { json: releases } = await here().get(`/svc/scenarios/${NAME}/releases`)
    expect(releases['releases']).toMatchObject([
      { release_id: unproven.release_id, provisional: true, current: false, restorable: false },
      {},
    ])
    const { json: status } = await here().get('/svc/status')
    const of: JsonObject = Object(Object(status['scenarios'])[NAME])
    expect(of['provisional']).toMatchObject({ release_id: unproven.release_id, step: 1, gain: 0.2, canary_share: 0.5 })
    const page = await here().get(`/svc/harness/releases/1/page?scenario=${NAME}`)
    expect(page.text).toContain('is not proved yet')
  })

  it('refuses what is neither yes nor no', async () => {
    for (const answer of [await ask({ 'x-svc-provisional': 'maybe' }), await pull({ 'x-svc-provisional': '1' })])
      expect([answer.status, Object(answer.json['error']).code]).toEqual([400, 'invalid_field'])
  })
})

describe('once it is withdrawn', () => {
  it('is served by no thread, from the answer on, and the reports of earlier exchanges are still taken', async () => {
    const { head, unproven } = planted
    const earlier = await ask({ 'x-svc-provisional': 'yes' })
    const withdraw = (id: string): Promise<Answer> => here().post(`/svc/scenarios/${NAME}/withdraw`, { release_id: id })
    expect(await withdraw(head.release_id)).toMatchObject({ status: 409, json: { error: { code: 'not_provisional' } } })
    expect(await withdraw(unproven.release_id)).toMatchObject({ status: 200, json: { release_id: head.release_id, step: 2 } })
    expect(await seenBy({ 'x-svc-provisional': 'yes' })).toEqual(servedBy(head, false))
    expect(await seenBy({ 'x-svc-tag-session': sessionNamed(true) })).toEqual(servedBy(head, false))
    // A client that still holds it is recorded as that, and told of the head.
    expect(await seenBy({ 'x-svc-tag-release': unproven.release_id })).toEqual([
      { told: head.release_id, isMarked: false, recorded: unproven.release_id },
    ])
    const references = [String(earlier.headers['x-svc-agent-record-id'])]
    expect((await here().post('/svc/report', { references, score: 1 }, { 'x-svc-scenario': NAME })).status).toBe(200)
    expect(await withdraw(unproven.release_id)).toMatchObject({ status: 200 })
    const { json } = await here().get(`/svc/scenarios/${NAME}/releases`)
    expect(json['releases']).toMatchObject([{ operation: 'withdraw', result: 'rejected' }, { provisional: false }, {}])
  })

  it('stays so after a restart', async () => {
    await here().restart()
    expect(await seenBy({ 'x-svc-provisional': 'yes' }, 4)).toEqual(servedBy(planted.head, false))
  })
})
