/** `svc forget`: counts first, removes with --yes, and prints where it looked. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import * as main from '../main.ts'
import { execute, fakeSurroundings } from './testing/surroundings.ts'

const { forgetRecords, openStore, openArtifacts, openScenarioFiles } = main

/** One record of each of two people, and a copy of the records. */
async function deployment() {
  const folder = temporaryFolder()
  const place = ['--storage.agent_record_dir', join(folder, 'records'), '--storage.artifact_repository', join(folder, 'artifacts.git')]
  const run = (...args: readonly string[]) =>
    execute(['forget', ...args, ...place], fakeSurroundings({ forgetRecords, openStore, openArtifacts, openScenarioFiles }))
  const store = await openTestStore(join(folder, 'records'))
  await store.close()
  cpSync(join(folder, 'records'), join(folder, 'backup'), { recursive: true })
  return { run, records: join(folder, 'records'), backup: join(folder, 'backup') }
}

const said = (user: string): Buffer => Buffer.from(JSON.stringify({ messages: [], said: `words of ${user}`, metadata: { tags: { user } } }))

async function openTestStore(directory: string) {
  const { default: sqlite } = await import('../../plugins/stores/sqlite/index.ts')
  const store = await sqlite.plugin.make({ directory, search: false })
  const row = { request_type: 'inference', created_at: 1, references: [], artifact_ref: null, score: null } as const
  const creation = { step: 0, operation: 'create', recorded_at: 1, release: null, pending: false, outcome: 'published' } as const
  await store.scenario('s').commit({ ...creation, consumed_ids: [], metrics: {}, state: { folder: 'folder-of-s', recipe: 'record-only' } })
  await store
    .scenario('s')
    .append(['anna-77', 'bert-88'].map((user) => ({ ...row, agent_record_id: `r-${user.slice(0, 4)}`, payload: said(user) })))
  const step = { ...creation, step: 1, operation: 'train', metrics: {}, state: {} } as const
  await store.scenario('s').commit({ ...step, consumed_ids: ['r-anna'] })
  await store.scenario('s').commit({ ...step, step: 2, consumed_ids: ['r-bert'] })
  return store
}

test('counts without --yes, and removes with it, also from a backup, with the places as proof', async () => {
  const { run, records, backup } = await deployment()
  const trial = await run('--tag', 'user=anna-77')
  expect(trial).toMatchObject({ exit: 0, out: '1 records and 0 reports about them, in 1 scenarios; add --yes to remove them' })
  const { exit, out } = await run('--tag', 'user=anna-77', '--backup', backup, '--yes', '--json')
  const proof = JSON.parse(out)
  expect([exit, proof.records, proof.left]).toEqual([0, 2, 0])
  expect(proof.places).toContainEqual({ place: 'records.sqlite3-wal', searched: 'bytes in the write-ahead log', found: 0 })
  for (const folder of [records, backup]) {
    const bytes = readFileSync(join(folder, 'records.sqlite3')).toString('latin1')
    expect([bytes.includes('anna-77'), bytes.includes('bert-88')]).toEqual([false, true])
  }
  expect(await run('--tag', 'user=anna-77', '--yes')).toMatchObject({ exit: 0, out: expect.stringContaining('nothing is left') })
})

test('tasks and the files of steps that were made of the records go with them, and others stay', async () => {
  const { run, records } = await deployment()
  const [tasks, steps] = [join(records, '../tasks'), join(records, '../steps')]
  for (const [name, receipt] of [
    ['of-anna', 'r-anna'],
    ['of-bert', 'r-bert'],
  ] as const) {
    mkdirSync(join(tasks, name), { recursive: true })
    writeFileSync(join(tasks, name, 'mined.yaml'), `from:\n  receipts: [${receipt}]\n`)
  }
  for (const step of ['1', '1-2', '10', '2']) {
    mkdirSync(join(steps, 'folder-of-s', step), { recursive: true })
    writeFileSync(join(steps, 'folder-of-s', step, 'episode.json'), '"what she said"')
  }
  const folders = ['--evolution.tasks_dir', tasks, '--evolution.step_record_dir', steps]
  const trial = await run('--tag', 'user=anna-77', '--yes', '--dry-run', ...folders)
  expect(trial.out).toBe(
    '1 records and 0 reports about them, in 1 scenarios, 1 tasks and the files of 2 steps made of them; add --yes to remove them',
  )
  expect(readdirSync(tasks)).toEqual(['of-anna', 'of-bert'])
  const { exit, out } = await run('--tag', 'user=anna-77', '--yes', '--json', ...folders)
  expect([exit, JSON.parse(out)]).toEqual([0, expect.objectContaining({ records: 1, tasks: 1, step_records: 2, left: 0 })])
  expect([readdirSync(tasks), readdirSync(join(steps, 'folder-of-s'))]).toEqual([['of-bert'], ['10', '2']])
})

test('a backup that is not there is told before anything is removed', async () => {
  const { run, records } = await deployment()
  const { exit, err } = await run('--tag', 'user=anna-77', '--backup', join(records, 'elsewhere'), '--yes')
  expect([exit, err]).toEqual([2, [expect.stringContaining('there are no records in')]])
  expect(await run('--tag', 'user=anna-77')).toMatchObject({ out: expect.stringMatching(/^1 records/) })
})

test('what is left in files is found as it is spelled in JSON too, and a link that leads nowhere stops nothing', async () => {
  const { run, records } = await deployment()
  mkdirSync(join(records, 'scenarios'))
  writeFileSync(join(records, 'scenarios', 'step.json'), JSON.stringify({ said: 'for an"na, again' }))
  writeFileSync(join(records, 'scenarios', 'other.json'), JSON.stringify({ said: 'for an"nabel' }))
  symlinkSync(join(records, 'nowhere'), join(records, 'scenarios', 'link'))
  const { exit, out } = await run('--tag', 'user=an"na', '--yes', '--json')
  expect([exit, JSON.parse(out).left]).toEqual([1, 1])
})

test('a tag without a value, and a store that cannot, are said so', async () => {
  const { run } = await deployment()
  expect(await run('--tag', 'user')).toMatchObject({ exit: 2, err: ['--tag must be a name and a value, such as user=u7'] })
  const cannot = await execute(['forget', '--tag', 'a=b', '--storage.record_backend', 'memory'], fakeSurroundings())
  expect(cannot).toMatchObject({
    exit: 2,
    err: [expect.stringMatching(/^the store memory cannot remove records by their tag .*sqlite and postgres can$/)],
  })
})
