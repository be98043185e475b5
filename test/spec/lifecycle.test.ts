/** Deleting and restarting: what is archived, what comes back, and what a new scenario of an old name inherits. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { answerPlainly } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal, importInference, inference, named, OPEN_RECIPE, recordIds, scenarioNames } from './support/helpers.ts'

const KEY = 'key-of-the-old-scenario'
const chat = { model: 'm', messages: [] }

const here = sharedWorld({ backend: 'sqlite', settings: { recipe: OPEN_RECIPE } })

const remove = (name: string): Promise<Answer> => here.ask('DELETE', `/svc/scenarios/${encodeURIComponent(name)}`)
const git = (...args: readonly string[]): string =>
  execFileSync('git', [`--git-dir=${join(here.directory, 'artifacts.git')}`, ...args], { encoding: 'utf8' }).trim()

/** Where a deletion says that rows and ref went. */
function archivedOf({ json }: Answer): readonly [rows: string, ref: string] {
  const { archived } = json
  const [rows, ref] = Array.isArray(archived) ? archived : []
  return [String(rows), String(ref)]
}

describe('a deleted scenario', () => {
  it('is archived whole: rows under archived/, the ref under refs/svc/archived/ [delete.answer] [delete.rule-1]', async () => {
    const created = await here.post('/svc/scenarios', { name: 'gone', model: { api_key: KEY } })
    await importInference(here, 'gone', 'a')
    await importInference(here, 'gone', 'b')
    const answer = await remove('gone')
    expect(answer).toMatchObject({ status: 200, json: { scenario: 'gone' } })
    const [rows, ref] = archivedOf(answer)
    expect(rows).toMatch(/^archived\//)
    expect(ref).toMatch(/^refs\/svc\/archived\//)
    const archive = new DatabaseSync(join(here.directory, 'records', rows), { readOnly: true })
    const kept = archive.prepare('SELECT agent_record_id AS id FROM record ORDER BY sequence').all()
    expect(kept.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(archive.prepare('SELECT count(*) AS commits FROM commit_row').get()).toMatchObject({ commits: 1 })
    archive.close()
    expect(git('rev-parse', ref)).toBe(created.json['release_id'])
    expect(git('for-each-ref', 'refs/svc/scenarios')).not.toContain(created.json['release_id'])
  })

  it('takes its model settings along, still readable by the owner alone [delete.rule-1] [decisions.model-file]', async () => {
    await here.post('/svc/scenarios', { name: 'filed', model: { api_key: KEY } })
    const [rows] = archivedOf(await remove('filed'))
    const file = join(here.directory, 'records', `${rows}.files`, 'model.json')
    expect(await readFile(file, 'utf8')).toContain(KEY)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('is unknown to every route, and to a second deletion [delete.answer] [evaluation.deleted]', async () => {
    await importInference(here, 'past', 'a')
    await remove('past')
    expectRefusal(await remove('past'), 404, 'unknown_scenario')
    expectRefusal(await here.get('/svc/scenarios/past/records/a'), 404, 'unknown_scenario')
    expectRefusal(await here.post('/svc/scenarios/past/evaluation/v1/chat/completions', chat), 404, 'unknown_scenario')
    expect(await scenarioNames(here)).not.toContain('past')
  })

  it('frees its name, and the next of that name inherits nothing [delete.name-free]', async () => {
    await here.post('/svc/scenarios', { name: 'heir', model: { api_key: KEY, model: 'mine' } })
    await here.post('/svc/scenarios/heir/update', { training_mode: 'manual' })
    await importInference(here, 'heir', 'a')
    await remove('heir')
    const created = await here.post('/svc/scenarios', { name: 'heir' })
    expect(created).toMatchObject({ status: 201, json: { model: { has_api_key: false, model: null } } })
    expect(await recordIds(here, 'heir')).toEqual([])
    expect((await here.get('/svc/scenarios/heir/contract')).json['training_mode']).toBe('auto')
    await here.post('/v1/chat/completions', chat, named('heir'))
    expect(here.upstream.received.at(-1)?.headers.authorization).toBeUndefined()
    expect((await here.post('/svc/records', inference('a', { other: true }), named('heir'))).status).toBe(200)
  })

  it('may be deleted again under the same name, each to a place of its own [delete.rule-1]', async () => {
    const places: (readonly string[])[] = []
    for (let round = 0; round < 2; round += 1) {
      await importInference(here, 'twice', 'a')
      places.push(archivedOf(await remove('twice')))
    }
    expect(new Set(places.flat()).size).toBe(4)
    for (const [rows, ref] of places) {
      expect(existsSync(join(here.directory, 'records', String(rows)))).toBe(true)
      expect(git('rev-parse', '--verify', String(ref))).toMatch(/^[0-9a-f]{40}$/)
    }
  })
})

describe('a call under way', () => {
  it.each([false, true])(
    'when its scenario is deleted leaves nothing in the next of that name (stream: %j) [delete.name-free]',
    async (stream) => {
      const release = here.upstream.hold()
      const calling = here.post('/v1/chat/completions', { ...chat, stream }, named('reborn')).catch(() => null)
      await until(() => here.upstream.open === 1)
      await remove('reborn')
      expect((await here.post('/svc/scenarios', { name: 'reborn' })).status).toBe(201)
      release()
      const answer = await calling
      // A stream that has begun is cut.
      expect(answer?.status).toBe(stream ? undefined : 404)
      expect(answer?.text ?? '').not.toContain('agent_record_id')
      expect(answer?.headers['x-svc-agent-record-id']).toBeUndefined()
      expect(await recordIds(here, 'reborn')).toEqual([])
      await remove('reborn')
      here.upstream.answer(answerPlainly)
    },
  )

  it('of an evaluation still ends when its scenario is deleted, and the next is 404 [evaluation.deleted]', async () => {
    await here.post('/svc/scenarios', { name: 'under' })
    const release = here.upstream.hold()
    const playing = here.post('/svc/scenarios/under/evaluation/v1/chat/completions', chat)
    await until(() => here.upstream.open === 1)
    expect((await remove('under')).status).toBe(200)
    release()
    expect((await playing).status).toBe(200)
    expectRefusal(await here.post('/svc/scenarios/under/evaluation/v1/chat/completions', chat), 404, 'unknown_scenario')
    here.upstream.answer(answerPlainly)
  })
})

describe('a restart', () => {
  it('keeps scenarios, records, model settings and releases [scenario.restart]', async () => {
    const created = await here.post('/svc/scenarios', { name: 'kept', model: { model: 'mine', api_key: KEY } })
    const receipt = await here.exchange('kept')
    await here.post('/svc/report', { agent_record_id: 'r', references: [receipt] }, named('kept'))
    const before = await here.get(`/svc/scenarios/kept/records/${receipt}`)
    await here.restart()
    expect((await here.get(`/svc/scenarios/kept/records/${receipt}`)).json).toEqual(before.json)
    expect(await recordIds(here, 'kept')).toEqual([receipt, 'r'])
    expect((await here.post('/svc/scenarios', { name: 'kept' })).json).toEqual(created.json)
    await here.exchange('kept')
    expect(here.upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`)
    expect((await here.get('/svc/status')).json['preload_errors']).toEqual({})
  })

  it('forgets a chosen mode: the configured one counts again [mode.restart]', async () => {
    await here.post('/svc/scenarios', { name: 'moded' })
    expect((await here.post('/svc/scenarios/moded/update', { training_mode: 'hybrid' })).status).toBe(200)
    await here.restart()
    expect((await here.get('/svc/scenarios/moded/contract')).json['training_mode']).toBe('auto')
  })

  it('lists what it has not loaded, with its recipe [scenario.list] [decisions.scenario-list]', async () => {
    await here.post('/svc/scenarios', { name: 'aaa' })
    await here.post('/svc/scenarios', { name: 'zzz' })
    await here.restart({ 'svc.max_loaded_scenarios': 1 })
    const { json } = await here.get('/svc/scenarios')
    expect(json['scenarios']).toEqual(expect.arrayContaining([{ scenario: 'zzz', loaded: false, recipe: OPEN_RECIPE }]))
    await here.restart({ 'svc.max_loaded_scenarios': 256 })
  })

  it('does not bring back what was deleted [delete.answer]', async () => {
    await importInference(here, 'deleted', 'a')
    await remove('deleted')
    await here.restart()
    expect(await scenarioNames(here)).not.toContain('deleted')
  })
})
