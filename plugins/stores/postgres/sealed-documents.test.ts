/** A whole service over PostgreSQL that encrypts: what steps make of bodies is in no file of the server in the clear, and is read back through the routes. */
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bearer, INBOX_RECIPE, named, rowsOf } from '../../../test/spec/support/helpers.ts'
import { fresh } from '../../../test/spec/support/trainee.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { ownWorld } from '../../../test/support/world.ts'

const [OLD, NEW] = [Buffer.alloc(32, 3).toString('base64'), Buffer.alloc(32, 4).toString('base64')]
const TOKEN = 'admin-token-of-the-test'

it(
  'bodies, proposals and step records are sealed in the database, over a step, a restart with a newer key in front, and forgetting',
  { timeout: 120_000 },
  async () => {
    const server = await startPostgres({ settings: { fsync: 'off' } })
    onTestFinished(() => server.stop())
    const folder = temporaryFolder()
    const settings = {
      recipe: INBOX_RECIPE,
      'svc.token': TOKEN,
      'evolution.proposals_dir': join(folder, 'proposals'),
      'evolution.step_record_dir': join(folder, 'steps'),
      'storage.record_backend': 'postgres',
      'storage.record_database_url': server.url,
      'storage.record_settings.schema': 'sealed',
      'storage.record_settings.connections': 3,
      'storage.encrypt_bodies': true,
    }
    const here = await ownWorld({ headers: bearer(TOKEN), settings: { ...settings, 'storage.secret_key': OLD } })
    /** Files of the server and of the service, whose objects are releases, that hold the word. */
    const filesWith = (word: string): readonly string[] => {
      server.sql('CHECKPOINT')
      return [server.folder, here.directory, folder]
        .flatMap((place) => globSync('**/*', { cwd: place }).map((file) => join(place, file)))
        .filter((file) => !file.includes('.git/') && statSync(file).isFile() && readFileSync(file).includes(word))
    }
    const s = await fresh(here)
    await here.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'anna-77 says hello' }] }, named(s.name))
    const mutations = [{ op: 'create', id: 'more', options: { name: 'rules', config: { text: 'Be violet.' } } }]
    const body = { mutations, reason: 'anna-77 asked for it', session: 's', release_id: 'r' }
    expect((await here.post('/svc/harness/proposals', body, named(s.name))).json).toMatchObject({ admitted: true })
    expect(server.sql('SELECT owner, path FROM sealed.document')).toContain('proposals')
    expect(filesWith('anna-77')).toEqual([])
    await s.consumer((await s.reported())[1])
    const mutated = async () => (await here.get('/svc/harness/releases/1/records?path=mutations.json', named(s.name))).text
    expect(await mutated()).toContain('Be violet.')
    expect([filesWith('Be violet.'), globSync(join(folder, '*/*'))]).toEqual([[], []])
    // What lies in the clear is found by this very search.
    server.sql("CREATE TABLE sealed.clear AS SELECT 'bert-88 in the clear' AS said")
    expect(filesWith('bert-88 in the clear')).not.toEqual([])

    await here.restart({ 'storage.secret_key': `${NEW},${OLD}` })
    expect(await mutated()).toContain('Be violet.')

    const other = { ...body, mutations: [{ ...mutations[0], id: 'other' }], reason: 'clara-99 asked for it' }
    expect((await here.post('/svc/harness/proposals', other, named(s.name))).json).toMatchObject({ admitted: true })
    const { json } = await here.post('/svc/forget', { name: 'user', value: 'clara-99', dry_run: false })
    expect(rowsOf({ json }, 'places').filter(({ found }) => found !== 0)).toEqual([
      { place: expect.stringMatching(/proposals\/.*\.json$/), searched: 'the value of the tag in what scenarios keep encrypted', found: 1 },
    ])
    expect(filesWith('clara-99')).toEqual([])
  },
)
