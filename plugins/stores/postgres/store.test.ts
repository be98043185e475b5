import { afterAll, beforeAll, describe, it } from 'vitest'
import { storeConformance } from '../../../conformance/store.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import postgres from './index.ts'
import { schemaOf } from './testing/schemas.ts'

let server: PostgresServer
beforeAll(async () => {
  // What is durable is another test's: here every commit would wait for the disk.
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

storeConformance({
  describe,
  it,
  open: ({ directory, capacity_bytes }) => postgres.plugin.make({ url: server.url, schema: schemaOf(directory), capacity_bytes }),
  isLasting: true,
  hasDocuments: true,
  hasShares: true,
  canSearch: true,
})
