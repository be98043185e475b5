/** Followers of the PostgreSQL store under random appends, landings, archives and settings. */
import { afterAll, beforeAll, it } from 'vitest'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { liveAndFollow, TIME_LIMIT_MS } from '../testing/followers.ts'
import postgres from './index.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

it(
  'followers of the postgres store end with what the rows say, whatever happened and whoever joined or died meanwhile',
  async () => {
    let lives = 0
    const open = () => postgres.plugin.make({ url: server.url, schema: `life_${(lives += 1)}`, connections: 4 })
    await liveAndFollow({ name: 'postgres', plugin: postgres.plugin, open })
  },
  TIME_LIMIT_MS,
)
