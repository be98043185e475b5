/** A hanging disk: only requests that need it wait, and nothing is acknowledged before it is stored. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { ownWorld } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'slow' }

async function onStallingDisk() {
  const here = await ownWorld({ settings: { 'storage.record_backend': './test/fixtures/stalling-store.ts' } })
  const records = join(here.directory, 'records')
  const flag = join(records, 'stalled')
  const waiting = join(records, 'waiting')
  return {
    here,
    stall: () => writeFileSync(flag, ''),
    goOn: () => rmSync(flag, { force: true }),
    /** How many appends hang. */
    waiting: () => (existsSync(waiting) ? readFileSync(waiting).length : 0),
  }
}

it('while the writer is stuck, reads and health are answered, and the write is answered once it is durable [decisions.streams-durable]', async () => {
  const { here, stall, goOn, waiting } = await onStallingDisk()
  const before = await here.exchange('slow')
  stall()
  const answered: string[] = []
  const writes = [
    here.post('/v1/chat/completions', { model: 'm', messages: [] }, scenario),
    here.post('/v1/chat/completions', { model: 'm', messages: [], stream: true }, scenario),
    here.post('/svc/report', { score: 1, references: [before] }, scenario),
    here.post('/svc/records', { agent_record_id: 'i', request_type: 'inference', payload: {} }, scenario),
  ].map(async (write, index) => {
    const answer = await write
    answered.push(`write ${index}`)
    return answer.status
  })
  await expect.poll(waiting).toBe(4)
  const records = '/svc/scenarios/slow/records'
  for (const path of ['/healthz', '/svc/scenarios', '/svc/status', '/metrics', records, `${records}/${before}`])
    expect([path, (await here.get(path)).status]).toEqual([path, 200])
  expect(answered).toEqual([])
  expect((await here.get(records)).json['records']).toHaveLength(1)
  goOn()
  expect(await Promise.all(writes)).toEqual([200, 200, 200, 200])
  expect((await here.get(records)).json['records']).toHaveLength(5)
})

it('a client that goes while the disk hangs does not take the record with it, and stopping waits for it', async () => {
  const { here, stall, goOn, waiting } = await onStallingDisk()
  await here.exchange('slow')
  stall()
  const gone = new AbortController()
  const body = JSON.stringify({ model: 'm', messages: [] })
  const asked = fetch(`${here.address}/v1/chat/completions`, { method: 'POST', headers: scenario, body, signal: gone.signal })
  await expect.poll(waiting).toBe(1)
  gone.abort()
  await expect(asked).rejects.toThrow()
  const restarted = here.restart()
  // A stop that does not wait for the record would close the store with the listener.
  await until(async () => (await here.get('/healthz').catch(() => null)) === null)
  goOn()
  await restarted
  expect((await here.get('/svc/scenarios/slow/records')).json['records']).toHaveLength(2)
})
