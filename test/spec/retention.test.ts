/** Bodies that are older than the days of their scenario are removed; what is known about the record stays, and the service says so. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { sharedWorld } from '../support/world.ts'
import { expectRefusal, importInference, recordIds } from './support/helpers.ts'

const YEAR_SECONDS = 365 * 86_400
const here = sharedWorld({ backend: 'sqlite', settings: { 'recording.retention_days': 30 } })

describe('a record that is older than recording.retention_days', () => {
  it('loses its words at the next start, and keeps its row; the newer one stays', async () => {
    await importInference(here, 'a', 'old', { text: 'long ago' })
    await importInference(here, 'a', 'new', { text: 'today' })
    const [file = ''] = globSync(join(here.directory, '**/records.sqlite3'))
    const db = new DatabaseSync(file, { timeout: 10_000 })
    db.exec(`UPDATE record SET created_at = created_at - ${YEAR_SECONDS} WHERE agent_record_id = 'old'`)
    db.close()
    await here.restart()
    await until(async () => (await here.get('/svc/scenarios/a/records/old')).status === 404)
    expectRefusal(await here.get('/svc/scenarios/a/records/old'), 404, 'record_expired', /older than recording\.retention_days/)
    expect((await here.get('/svc/scenarios/a/records/new')).status).toBe(200)
    expect(await recordIds(here, 'a')).toEqual(['old', 'new'])
  })

  it('is counted in the status, the metrics and the log, and not as a loss', async () => {
    expect((await here.get('/svc/status')).json).toMatchObject({ storage: { expired_records: 1, lost_records: 0 } })
    expect((await here.get('/metrics')).text).toContain('svc_records_expired_total 1')
    await until(() => here.log.some(({ event }) => event === 'records_expired'))
    expect(here.log.find(({ event }) => event === 'records_expired')).toMatchObject({ scenario: 'a', records: 1, days: 30 })
  })
})
