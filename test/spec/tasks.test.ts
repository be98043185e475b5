/** The tasks of a scenario over HTTP: people list, show and decide; sessions of agents may not. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { sharedWorld } from '../support/world.ts'
import { expectRefusal, named } from './support/helpers.ts'
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
