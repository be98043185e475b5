/** A program that holds a lock on the records of a running service: requests wait or are asked to come again, and nothing needs a restart. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../../src/cli/program.ts'
import { fakeSurroundings } from '../../src/cli/testing/surroundings.ts'
import { holdLock } from '../support/lock.ts'
import { ownWorld, type World } from '../support/world.ts'

const impatient = './test/fixtures/impatient-store.ts'
const scenario = { 'x-svc-scenario': 'locked' }

async function here(backend: string): Promise<World & { readonly lock: () => Promise<() => Promise<void>> }> {
  const service = await ownWorld({ settings: { 'storage.record_backend': backend } })
  return Object.assign(Object.create(service), { lock: () => holdLock(join(service.directory, 'records', 'records.sqlite3')) })
}

const chat = (service: World) => service.post('/v1/chat/completions', { model: 'm', messages: [] }, scenario)
const health = async (service: World) => {
  const { status, json } = await service.get('/healthz')
  return { status, ...json }
}

it('a lock that goes is waited for: the requests that met it are answered with receipts [routes.healthz]', async () => {
  const service = await here('sqlite')
  await service.exchange('locked')
  const release = await service.lock()
  const asked = [chat(service), chat(service)]
  await expect.poll(() => health(service)).toEqual({ status: 503, ok: false })
  await release()
  for (const answer of await Promise.all(asked)) expect([answer.status, answer.headers['x-svc-agent-record-id']]).not.toContain(undefined)
  expect(await health(service)).toEqual({ status: 200, ok: true })
  expect((await service.get('/svc/scenarios/locked/records')).json['records']).toHaveLength(3)
})

it('a lock that stays is a 503 with the time to come back, shown in health, status, metrics, the log and doctor, until it goes [routes.healthz] [errors.503-store]', async () => {
  const service = await here(impatient)
  await service.exchange('locked')
  const release = await service.lock()
  const refused = await chat(service)
  expect([refused.status, refused.headers['retry-after'], refused.headers['x-svc-agent-record-id']]).toEqual([503, '1', undefined])
  expect(refused.json).toMatchObject({ error: { code: 'store_busy' } })
  const report = await service.post('/svc/report', { score: 1, references: [] }, scenario)
  expect([report.status, report.headers['retry-after']]).toEqual([503, '1'])
  expect(await health(service)).toEqual({ status: 503, ok: false })
  expect((await service.get('/svc/status')).json).toMatchObject({ storage: { records: 1, error: { code: 'store_busy' } } })
  expect((await service.get('/metrics')).text).toContain('svc_store_writable 0')
  expect(service.log.filter(({ event }) => event === 'store_unwritable')).toMatchObject([{ code: 'store_busy' }])
  expect((await service.get('/svc/scenarios/locked/records')).status).toBe(200)
  const doctor = fakeSurroundings({}, {})
  const place = ['--svc.port', new URL(service.address).port, '--storage.record_backend', 'memory']
  expect(await runCli(['doctor', '--json', ...place], doctor)).toBe(2)
  expect(JSON.parse(doctor.printed.join('\n'))).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({ check: 'port', state: 'problem', found: expect.stringContaining('another program holds a lock') }),
    ]),
  })
  await release()
  await expect.poll(() => service.log.some(({ event }) => event === 'store_writable')).toBe(true)
  expect(await health(service)).toEqual({ status: 200, ok: true })
  expect((await chat(service)).status).toBe(200)
  expect((await service.get('/svc/status')).json).toMatchObject({ storage: { records: 2, error: null } })
})
