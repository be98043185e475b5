/** With encrypted bodies, what steps make of them is encrypted too, and read back through the routes as before. */
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { sharedWorld } from '../support/world.ts'
import { bearer, INBOX_RECIPE, named, rowsOf } from './support/helpers.ts'
import { fresh } from './support/trainee.ts'

const [OLD, NEW] = [Buffer.alloc(32, 3).toString('base64'), Buffer.alloc(32, 4).toString('base64')]
const TOKEN = 'admin-token-of-the-test'
const folder = sharedFolder()
const here = sharedWorld({
  backend: 'sqlite',
  headers: bearer(TOKEN),
  settings: {
    recipe: INBOX_RECIPE,
    'svc.token': TOKEN,
    'evolution.proposals_dir': join(folder, 'proposals'),
    'evolution.step_record_dir': join(folder, 'steps'),
    'storage.encrypt_bodies': true,
    'storage.secret_key': OLD,
  },
})

/** Files outside the repository, whose objects are releases, that hold the word. */
const filesWith = (word: string): readonly string[] =>
  [here.directory, folder]
    .flatMap((place) => globSync('**/*', { cwd: place }).map((file) => join(place, file)))
    .filter((file) => !file.includes('.git/') && statSync(file).isFile() && readFileSync(file).includes(word))

it('proposals and step records are in no file in the clear, over a step, and a restart with a newer key in front', async () => {
  const s = await fresh(here)
  const mutations = [{ op: 'create', id: 'more', options: { name: 'rules', config: { text: 'Be violet.' } } }]
  const body = { mutations, reason: 'anna-77 asked for it', session: 's', release_id: 'r' }
  expect((await here.post('/svc/harness/proposals', body, named(s.name))).json).toMatchObject({ admitted: true })
  expect(filesWith('anna-77')).toEqual([])
  await s.consumer((await s.reported())[1])
  const records = (query = '') => here.get(`/svc/harness/releases/1/records${query}`, named(s.name))
  expect(rowsOf(await records(), 'files').length).toBeGreaterThan(1)
  expect((await records('?path=mutations.json')).text).toContain('Be violet.')
  expect([filesWith('Be violet.'), globSync(join(folder, '*/*'))]).toEqual([[], []])
  await here.restart({ 'storage.secret_key': `${NEW},${OLD}` })
  expect((await records('?path=mutations.json')).text).toContain('Be violet.')
})

it('who is forgotten is looked for in what is encrypted too', async () => {
  const s = await fresh(here)
  const mutations = [{ op: 'create', id: 'more', options: { name: 'rules', config: { text: 'More.' } } }]
  const body = { mutations, reason: 'bert-88 asked for it', session: 's', release_id: 'r' }
  await here.post('/svc/harness/proposals', body, named(s.name))
  const { json } = await here.post('/svc/forget', { name: 'user', value: 'bert-88', dry_run: false })
  expect(rowsOf({ json }, 'places').filter(({ found }) => found !== 0)).toEqual([
    { place: expect.stringMatching(/: proposals\/.*\.json$/), searched: 'the value of the tag in what scenarios keep encrypted', found: 1 },
  ])
})
