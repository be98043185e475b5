/** Tokens of several gateways over one PostgreSQL: what is made, replaced or revoked at one counts at the others, and all have one audit. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bearer, named, rowsOf, textAt } from '../../../test/spec/support/helpers.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { until } from '../../../test/support/wait.ts'
import { ownWorld, type World } from '../../../test/support/world.ts'

const TOKEN = 'admin-token-of-all-gateways'
const ADMIN = bearer(TOKEN)

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

async function gateways(): Promise<readonly [World, World]> {
  const repository = join(temporaryFolder(), 'releases.git')
  execFileSync('git', ['init', '-q', '--bare', repository])
  const start = (): Promise<World> =>
    ownWorld({
      settings: {
        'svc.token': TOKEN,
        'storage.record_backend': 'postgres',
        'storage.record_database_url': server.url,
        'storage.record_settings.connections': 3,
        'storage.artifact_repository': `file://${repository}`,
        'storage.agent_record_dir': join(temporaryFolder(), 'records'),
      },
    })
  return [await start(), await start()]
}

it(
  'a token that one gateway makes, rotates and revokes opens the other, changes there and is refused there, in one audit',
  { timeout: 120_000 },
  async () => {
    const [here, there] = await gateways()
    await here.post('/svc/scenarios', { name: 's' }, ADMIN)
    const asked = async (token: string, scenario = 's') =>
      (await there.post('/v1/chat/completions', { model: 'm', messages: [] }, { ...bearer(token), ...named(scenario) })).status
    const made = textAt((await here.post('/svc/tokens', { name: 'one', role: 'serve', scenarios: ['s'] }, ADMIN)).json, 'token')
    await until(async () => (await asked(made)) === 200)
    expect(await asked(made, 'other')).toBe(401)
    const rotated = textAt((await here.post('/svc/tokens/one/rotate', {}, ADMIN)).json, 'token')
    await until(async () => (await asked(made)) === 401)
    await until(async () => (await asked(rotated)) === 200)
    await here.ask('DELETE', '/svc/tokens/one', { headers: ADMIN })
    await until(async () => (await asked(rotated)) === 401)
    const entries = rowsOf(await there.get('/svc/audit?limit=100', ADMIN), 'audit')
    expect(entries.filter(({ target }) => target === 'one')).toHaveLength(3)
    server.sql('CHECKPOINT')
    // The name is there, so that the search would find a secret too.
    expect([filesWith('"one"').length > 0, filesWith(made), filesWith(rotated)]).toEqual([true, [], []])
  },
)

const filesWith = (word: string): readonly string[] =>
  globSync('**/*', { cwd: server.folder })
    .map((file) => join(server.folder, file))
    .filter((file) => statSync(file).isFile() && readFileSync(file).includes(word))
