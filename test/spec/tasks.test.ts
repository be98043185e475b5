/** The tasks of a scenario over HTTP: people list, show and decide; sessions of agents may not. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { typeCommand } from '../../src/cli/testing/surroundings.ts'
import { sharedFolder } from '../support/folder.ts'
import { sharedWorld } from '../support/world.ts'
import { expectRefusal, named, textAt } from './support/helpers.ts'
import { fresh } from './support/trainee.ts'

const directory = sharedFolder()
mkdirSync(join(directory, 'hello'))
writeFileSync(join(directory, 'hello', 'task.json'), '{"prompt":"Say hello.","answer":"hello"}')
mkdirSync(join(directory, 'mined'))
writeFileSync(join(directory, 'mined', 'task.json'), '{"prompt":"Say bye.","answer":"bye"}')
writeFileSync(join(directory, 'mined', 'mined.yaml'), 'status: proposed\norigin: commit 1a2b\n')

const here = sharedWorld({
  settings: { recipe: 'harness', 'evolution.tasks_dir': directory, 'data.training_mode': 'manual' },
})
const plain = sharedWorld({ settings: { recipe: 'harness', 'data.training_mode': 'manual' } })

it('are listed, shown and decided on, by the rules of svc tasks', async () => {
  const headers = named((await fresh(here)).name)
  const mined = { name: 'mined', role: 'gate', family: 'mined', status: 'proposed', origin: 'commit 1a2b', check: null, problem: null }
  expect((await here.get('/svc/harness/tasks', headers)).json['tasks']).toEqual([
    expect.objectContaining({ name: 'hello', status: null }),
    mined,
  ])
  const files = { workspace: [], verify: [], reference: [] }
  expect((await here.get('/svc/harness/tasks/mined', headers)).json).toEqual({ ...mined, prompt: 'Say bye.', ...files })
  const changed = await here.post('/svc/harness/tasks/mined', { status: 'accepted', role: 'train' }, headers)
  expect(changed.json).toMatchObject({ status: 'accepted', role: 'train' })
  expect((await here.get('/svc/harness/tasks/mined', headers)).json).toMatchObject({ status: 'accepted', role: 'train' })
})

it('refuse what is no task, no status and no role, and a decision on one written by hand', async () => {
  const headers = named((await fresh(here)).name)
  expectRefusal(await here.get('/svc/harness/tasks/..%2Fhello', headers), 404, 'unknown_task', 'no task')
  expectRefusal(await here.post('/svc/harness/tasks/hello', { status: 'dropped' }, headers), 400, 'not_mined', 'written by hand')
  expect((await here.post('/svc/harness/tasks/mined', { status: 'burnt' }, headers)).status).toBe(400)
  expect((await here.post('/svc/harness/tasks/mined', { role: 'king' }, headers)).status).toBe(400)
})

it('are nothing for the session of an agent, nor where no folder is set', async () => {
  const headers = { ...named((await fresh(here)).name), 'x-svc-tag-session': 'a' }
  for (const path of ['', '/mined']) expect((await here.get(`/svc/harness/tasks${path}`, headers)).status).toBe(401)
  expect((await here.post('/svc/harness/tasks/mined', { status: 'dropped' }, headers)).status).toBe(401)
  expectRefusal(await plain.get('/svc/harness/tasks', named((await fresh(plain)).name)), 404, 'no_tasks', 'evolution.tasks_dir')
})

it('are made of records, by people and once', async () => {
  const { name } = await fresh(here)
  const headers = named(name)
  const messages = [{ role: 'user', content: 'How long is the way to the island?' }]
  const { headers: answered } = await here.post('/v1/chat/completions', { model: 'm', messages }, headers)
  const record_id = String(answered['x-svc-agent-record-id'])
  const made = await here.post('/svc/harness/tasks', { record_id, rubric: 'Gives the days.' }, headers)
  expect(made).toMatchObject({ status: 200, json: { role: 'gate', status: 'accepted', origin: `record:${record_id}` } })
  const task = textAt(made.json, 'name')
  expect((await here.get(`/svc/harness/tasks/${task}`, headers)).json).toMatchObject({ prompt: 'How long is the way to the island?' })
  expectRefusal(await here.post('/svc/harness/tasks', { record_id }, headers), 409, 'task_exists', task)
  expectRefusal(await here.post('/svc/harness/tasks', { record_id: 'none' }, headers), 404, 'unknown_record', 'no record')
  const report = await here.post('/svc/report', { score: 0, references: [record_id] }, headers)
  const notAsked = { record_id: textAt(report.json, 'agent_record_id') }
  expectRefusal(await here.post('/svc/harness/tasks', notAsked, headers), 400, 'not_an_inference', 'exchange')
  for (const body of [{}, { record_id: ' ' }, { record_id, role: 'king' }, { record_id, rubric: 7 }])
    expect((await here.post('/svc/harness/tasks', body, headers)).status).toBe(400)
  expect((await here.post('/svc/harness/tasks', { record_id }, { ...headers, 'x-svc-tag-session': 'a' })).status).toBe(401)
})

it('are made of records from the terminal', async () => {
  const { name } = await fresh(here)
  const messages = [{ role: 'user', content: 'Which shops are open on Sunday afternoons?' }]
  const { headers } = await here.post('/v1/chat/completions', { model: 'm', messages }, named(name))
  const receipt = String(headers['x-svc-agent-record-id'])
  const type = (...args: readonly string[]) => typeCommand(here.address, ['tasks', 'add', ...args, '--scenario', name])
  const made = await type(receipt, '--rubric', 'Names the shops.', '--role', 'regression', '--json')
  expect(made).toMatchObject({ exit: 0, err: [] })
  expect(JSON.parse(made.out)).toMatchObject({ role: 'regression', status: 'accepted', origin: `record:${receipt}` })
  expect(await type(receipt)).toMatchObject({ exit: 1, out: '', err: [expect.stringContaining('already')] })
  expect((await type(receipt, '--role', 'king')).exit).toBe(2)
})
