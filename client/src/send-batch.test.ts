/** Failures on the way: those that pass are waited for, the others are reported. */
import { describe, expect, it } from 'vitest'
import type { ImportBatch } from './batches.ts'
import { sendBatch } from './send-batch.ts'
import { fakeService } from './testing/fake-service.ts'
import type { FakeService } from './testing/fake-service.ts'
import { envelope } from './testing/files.ts'

const BATCH: ImportBatch = { end: 0, lines: ['a', 'b'].map((id, index) => ({ number: index + 7, id, text: envelope(id) })) }

describe('trouble that may pass', () => {
  it.each([408, 429, 500, 502, 503, 504])('such as %i is tried again with the same ids [importer.retries]', async (status) => {
    const service = await fakeService({ status }, { status })
    expect(await send(service)).toEqual([1, 2])
    expect(new Set(service.requests.map((request) => request.body)).size).toBe(1)
    expect([...service.stored.keys()]).toEqual(['a', 'b'])
  })

  it('such as a broken connection is tried again [importer.retries]', async () => {
    const service = await fakeService('drop')
    expect(await send(service)).toEqual([1])
    expect(service.stored.size).toBe(2)
  })

  it('after the records were stored, before the answer, stores nothing twice', async () => {
    const service = await fakeService('store and drop')
    expect(await send(service)).toEqual([1])
    expect(service.requests).toHaveLength(2)
    expect(service.stored.size).toBe(2)
  })

  it('such as a service that hangs is given up and tried again', async () => {
    const service = await fakeService('hang')
    expect(await send(service, { timeoutSeconds: 0.2 })).toEqual([1])
    expect(service.stored.size).toBe(2)
  })

  it('waits as long as the service asks, up to a minute', async () => {
    const soon = new Date(Date.now() + 20_000).toUTCString()
    const after = ['0', '7', '3600', soon, 'whenever'].map((value) => ({ status: 503, headers: { 'retry-after': value } }))
    const waits = await send(await fakeService(...after), { retries: 5 })
    expect(waits.slice(0, 3)).toEqual([0, 7, 60])
    expect(waits[3]).toBeGreaterThan(15)
    expect(waits[3]).toBeLessThanOrEqual(20)
    expect(waits[4]).toBe(16)
  })

  it('doubles its own waits up to half a minute', async () => {
    const waits = await send(await fakeService(...Array.from({ length: 7 }, () => ({ status: 500 }))), { retries: 7 })
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30])
  })

  it('ends after as many retries as asked for, saying what it was and where [importer.retries]', async () => {
    const service = await fakeService('drop', 'drop', 'drop')
    await expect(send(service, { retries: 2 })).rejects.toThrow(/lines 7 to 8: the service cannot be reached .*gave up after 3 attempts/)
    expect(service.requests).toHaveLength(3)
  })

  it('such as a closed port is reported by its code', async () => {
    const closed = { url: 'http://127.0.0.1:2', scenario: 's', token: null, retries: 0, onRetry: () => undefined }
    await expect(sendBatch(closed, BATCH)).rejects.toThrow(/cannot be reached \(ECONNREFUSED\)/)
  })
})

describe('trouble that will not pass', () => {
  it.each([
    [400, '{"error":{"message":"records[1]: bad"}}', /^line 8: the service answered 400: records\[1\]: bad$/],
    [409, '{"error":{"message":"record \\"a\\" is stored with other content"}}', /^line 7: the service answered 409/],
    [401, '{"error":{"message":"no"}}', /^lines 7 to 8: .*set SVC_TOKEN/],
    [413, '', /lower --max-batch-bytes/],
    [307, '', /redirects are not followed/],
    [404, 'plain words', /404: plain words/],
    [202, '{"records":[]}', /answered 202/],
    [501, 'x'.repeat(5000), /x{2000}$/],
  ])('such as %i is reported at once, with the line', async (status, body, message) => {
    const service = await fakeService({ status, body, headers: { location: '/elsewhere' } })
    await expect(send(service)).rejects.toThrow(message)
    expect(service.requests).toHaveLength(1)
  })

  it.each([
    ['too few receipts', { records: [{ agent_record_id: 'a' }] }],
    ['too many receipts', { records: ['a', 'b', 'c'].map((id) => ({ agent_record_id: id })) }],
    ['another order', { records: [{ agent_record_id: 'b' }, { agent_record_id: 'a' }] }],
    ['no receipts', { ok: true }],
    ['no object', 'fine'],
  ])('such as an answer with %s is not taken for success', async (_, answer) => {
    const service = await fakeService({ status: 200, body: JSON.stringify(answer) })
    await expect(send(service)).rejects.toThrow(/does not list exactly/)
  })
})

/** Sends the batch without really waiting; answers the waits. */
async function send(service: FakeService, more: { retries?: number; timeoutSeconds?: number } = {}): Promise<number[]> {
  const waits: number[] = []
  const wait = async (seconds: number): Promise<void> => void waits.push(seconds)
  await sendBatch({ url: service.url, scenario: 's', token: null, retries: 3, onRetry: () => undefined, wait, ...more }, BATCH)
  return waits
}
