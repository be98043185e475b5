/** Training concurrent with other work: requests and reads during a step, deletion, eviction, and restart. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal, LEDGER_RECIPE, named, recordIds, scenarioNames } from './support/helpers.ts'
import { fresh, trainee } from './support/trainee.ts'

const here = sharedWorld({ backend: 'sqlite', settings: { recipe: LEDGER_RECIPE } })

/** A scenario with one release of a step behind it and another step under way. */
async function running(at = here) {
  const s = await fresh(at, 'hybrid')
  await s.asked('add')
  return { s, ...(await s.paused()) }
}

describe('while a step runs', () => {
  it('exchanges, reports and instructions are accepted, and wait for their turn [training.threads]', async () => {
    const { s, open } = await running()
    const [receipt, report] = await s.reported()
    const next = await s.ask('skip')
    expect(await recordIds(here, s.name)).toEqual(expect.arrayContaining([receipt, report, next]))
    expect(await s.rows()).toHaveLength(1)
    await open()
    expect((await s.row(3))['consumed_ids']).toEqual([receipt, report, next].sort())
  })

  it('releases, commits, records, contract, catalog and status can be read, as they were [training.reads]', async () => {
    const { s, open } = await running()
    const own = ['releases', 'commits', 'records', 'contract'].map((what) => `/svc/scenarios/${s.name}/${what}`)
    for (const path of [...own, '/svc/harness/releases', '/svc/status', '/svc/scenarios'])
      expect([path, (await here.get(path, named(s.name))).status]).toEqual([path, 200])
    expect(await s.head()).toMatchObject({ step: 1 })
    await open()
    await s.row(2)
    expect(await s.head()).toMatchObject({ step: 2 })
  })

  it('another scenario trains too [training.threads]', async () => {
    const { s, open } = await running()
    const other = await fresh(here)
    await other.reported()
    expect(await other.row(1)).toMatchObject({ operation: 'train' })
    expect(await s.rows()).toHaveLength(1)
    await open()
    await s.row(2)
  })

  it('its scenario keeps its place: another that needs it is 503 with Retry-After until the step has landed [scenario.max-loaded-busy]', async () => {
    const small = await ownWorld({ backend: 'sqlite', settings: { recipe: LEDGER_RECIPE, 'svc.max_loaded_scenarios': 1 } })
    const { s, open } = await running(small)
    const refused = await small.post('/svc/scenarios', { name: 'other' })
    expectRefusal(refused, 503, 'too_many_loaded')
    expect(refused.headers['retry-after']).toBe('1')
    await open()
    await s.row(2)
    await until(async () => (await small.post('/svc/scenarios', { name: 'other' })).status < 300)
  })
})

it('the catalog of the files that a scenario serves has every row, oldest first, with the numbers of the step and the path of its page [harness.catalog] [release.lifted]', async () => {
  const s = await fresh(here, 'manual')
  for (const word of ['won', 'reject', 'hold']) await s.consumer(await s.ask(word))
  const rows = await s.listed()
  expect(rows.map(({ step, result }) => [step, result])).toEqual([
    [0, 'published'],
    [1, 'published'],
    [2, 'rejected'],
    [3, 'pending'],
  ])
  expect(rows[1]).toMatchObject({ wins: 3, losses: 1, current_score: 1, candidate_score: 3, current: true })
  expect(rows.map(({ page_path }) => page_path)).toEqual(rows.map((_, at) => `/svc/harness/releases/${at}/page?scenario=${s.name}`))
  const page = async (query: string) => (await here.get(`/svc/harness/releases?${query}`, named(s.name))).json
  expect(await page('limit=2')).toEqual({ scenario: s.name, releases: rows.slice(0, 2), next_after_step: 1 })
  expect(await page('after_step=1')).toEqual({ scenario: s.name, releases: rows.slice(2), next_after_step: null })
  expect(await page('after_step=99')).toEqual({ scenario: s.name, releases: [], next_after_step: null })
  expectRefusal(await here.get('/svc/harness/releases?limit=0', named(s.name)), 400, 'invalid_query')
  expect(rows).toMatchObject((await s.releases()).toReversed())
})

/** The steps that the archive of a deleted scenario holds. */
const archivedRows = ({ json }: Answer): readonly unknown[] => {
  const [file] = Array.isArray(json['archived']) ? json['archived'] : []
  const archive = new DatabaseSync(join(here.directory, 'records', String(file)), { readOnly: true })
  const rows = archive.prepare('SELECT step FROM commit_row ORDER BY step').all()
  archive.close()
  return rows.map(({ step }) => step)
}

describe('a scenario deleted under its step', () => {
  it('ends it without a row, at once, and leaves the next of its name alone [delete.rule-2]', async () => {
    const { s, open } = await running()
    const answer = await s.remove()
    expect(answer.status).toBe(200)
    expect(archivedRows(answer)).toEqual([0, 1])
    await here.post('/svc/scenarios', { name: s.name })
    await open()
    const [receipt, report] = await s.reported()
    expect(await s.row(1)).toMatchObject({ consumed_ids: [receipt, report].sort() })
    expect(await s.rows()).toHaveLength(1)
  })

  it('twice at once is deleted once [delete.rule-2]', async () => {
    const { s, open } = await running()
    const answers = await Promise.all([s.remove(), s.remove()])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]))
    await open()
  })

  it('answers 404 for everything about its training from then on [delete.answer]', async () => {
    const { s, open, id: asked } = await running()
    await s.remove()
    const progress = await here.get(`/svc/harness/requests/${asked}/progress`, named(s.name))
    expectRefusal(progress, 404, 'unknown_scenario')
    expectRefusal(await s.useMode('auto'), 404, 'unknown_scenario')
    expectRefusal(await here.post('/svc/train', { text: 'x', session: 's', release_id: 'r' }, named(s.name)), 404, 'unknown_scenario')
    expectRefusal(await s.move('rollback', 'any'), 404, 'unknown_scenario')
    expectRefusal(await here.get('/svc/harness/releases', named(s.name)), 404, 'unknown_scenario')
    await open()
  })
})

it('with a remote artifact repository a scenario cannot be deleted: 501, and its step continues [delete.rule-4] [errors.501]', async () => {
  const folder = temporaryFolder()
  execFileSync('git', ['init', '--bare', '--quiet', folder])
  const remote = await ownWorld({
    backend: 'sqlite',
    settings: { recipe: LEDGER_RECIPE, 'storage.artifact_repository': pathToFileURL(folder).href },
  })
  const { s, open, id: asked } = await running(remote)
  expectRefusal(await s.remove(), 501, 'remote_repository')
  expect(await scenarioNames(remote)).toEqual([s.name])
  await open()
  expect(await s.row(2)).toMatchObject({ consumed_ids: [asked] })
  expect(await s.head()).toMatchObject({ step: 2 })
})

describe('after a restart', () => {
  it('what was left unread is trained without waiting for new traffic [training.resumes]', async () => {
    const s = await fresh(here, 'manual')
    const [receipt, report] = await s.reported()
    await here.restart()
    expect(await s.row(1)).toMatchObject({ consumed_ids: [receipt, report].sort() })
  })

  it('a scenario goes on with the state its method left [training.resumes]', async () => {
    const s = trainee(here, 'stateful')
    await s.reported()
    await s.row(1)
    await here.restart()
    await s.reported()
    expect(await s.row(2)).toMatchObject({ metrics: { saw: { state: { steps: 1 } } } })
  })

  it('scenarios beyond what may be loaded at once are trained too, one after the other [training.resumes]', async () => {
    const small = await ownWorld({ backend: 'sqlite', settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual' } })
    const three = [await fresh(small), await fresh(small), await fresh(small)]
    for (const s of three) await s.reported()
    await small.restart({ 'data.training_mode': 'auto', 'svc.max_loaded_scenarios': 1 })
    await until(() => small.log.filter(({ event, result }) => event === 'step' && result === 'published').length === 3)
  })
})
