/** A disk that fills up under a running service: no receipt without a stored record, nothing lost, and work continues afterwards. */
import { describe, expect, it } from 'vitest'
import { rowsOf } from '../spec/support/helpers.ts'
import { fillDisk, mountDisk } from '../support/folder.ts'
import { makePlace } from '../support/place.ts'
import { send, type Answer } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'full' }
const PADDING = 'x'.repeat(32 * 1024)
const ATTEMPTS_MAX = 200

const chat = (address: string, stream = false): Promise<Answer> =>
  send(address, 'POST', '/v1/chat/completions', {
    headers: scenario,
    body: { model: 'm', messages: [], padding: PADDING, ...(stream && { stream }) },
  })
const receiptOf = ({ headers }: Answer): string => String(headers['x-svc-agent-record-id'] ?? '')

/** Exchanges until the first is refused: some room may be left inside files that were larger once. Answers the receipts of the others. */
async function exchangeUntilFull(address: string): Promise<{ readonly receipts: readonly string[]; readonly refused: Answer }> {
  const receipts: string[] = []
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const answer = await chat(address)
    if (answer.status !== 200) return { receipts, refused: answer }
    receipts.push(receiptOf(answer))
  }
  throw new Error('the disk never filled up')
}

async function onSmallDisk() {
  const disk = mountDisk('size=8m')
  const place = await makePlace(disk)
  const service = await place.start()
  return { place, service, address: service.address, fill: () => fillDisk(disk) }
}

describe('a disk that is full', () => {
  it('refuses what it cannot keep with 503 and without a receipt, goes on reading, and recovers when space returns [errors.503-store]', async () => {
    const { place, service, address, fill } = await onSmallDisk()
    const first = receiptOf(await chat(address))
    const free = fill()
    const { receipts, refused } = await exchangeUntilFull(address)
    expect([refused.status, receiptOf(refused), refused.text.includes('free space')]).toEqual([503, '', true])
    const report = { headers: scenario, body: { score: 1, references: [first], feedback: PADDING } }
    const envelope = { agent_record_id: 'i', request_type: 'inference', payload: { padding: PADDING } }
    expect((await send(address, 'POST', '/svc/report', report)).status).toBe(503)
    expect((await send(address, 'POST', '/svc/records', { headers: scenario, body: envelope })).status).toBe(503)
    expect((await send(address, 'POST', '/svc/records/batch', { headers: scenario, body: { records: [envelope] } })).status).toBe(503)
    await expect(chat(address, true)).rejects.toThrow()
    for (const path of ['/svc/status', '/metrics', `/svc/scenarios/full/records/${first}`])
      expect([path, (await send(address, 'GET', path, {})).status]).toEqual([path, 200])
    expect(await send(address, 'GET', '/healthz', {})).toMatchObject({ status: 503, json: { ok: false } })
    expect((await send(address, 'GET', '/svc/status', {})).json).toMatchObject({ storage: { error: { code: 'disk_full' } } })
    free()
    expect(await send(address, 'GET', '/healthz', {})).toMatchObject({ status: 200, json: { ok: true } })
    const after = receiptOf(await chat(address))
    expect((await send(address, 'POST', '/svc/records', { headers: scenario, body: envelope })).status).toBe(200)
    const listed = await send(address, 'GET', '/svc/scenarios/full/records?limit=100', {})
    expect(rowsOf(listed, 'records').map((row) => row['agent_record_id'])).toEqual([first, ...receipts, after, 'i'])
    await service.close()
    expect(await place.damage()).toEqual([])
  })

  it('makes no scenario that it cannot keep, with 503, and makes it when space returns [errors.503-store]', async () => {
    const { address, fill } = await onSmallDisk()
    await chat(address)
    const free = fill()
    await exchangeUntilFull(address)
    const body = { name: 'late', model: { url: 'http://127.0.0.1:9', api_key: 'k' } }
    const create = (): Promise<Answer> => send(address, 'POST', '/svc/scenarios', { body })
    const refused = await create()
    expect([refused.status, refused.text.includes('internal_error')]).toEqual([503, false])
    expect((await send(address, 'GET', '/svc/scenarios', {})).text).not.toContain('late')
    free()
    expect((await create()).status).toBe(201)
  })

  it('leaves a scenario whole that it cannot archive, and archives it when space returns [errors.503-store]', async () => {
    const { address, fill } = await onSmallDisk()
    const first = receiptOf(await chat(address))
    const free = fill()
    await exchangeUntilFull(address)
    const remove = (): Promise<Answer> => send(address, 'DELETE', '/svc/scenarios/full', {})
    expect((await remove()).status).toBe(503)
    expect((await send(address, 'GET', `/svc/scenarios/full/records/${first}`, {})).status).toBe(200)
    free()
    expect((await remove()).status).toBe(200)
    expect((await send(address, 'GET', '/svc/scenarios', {})).json['scenarios']).toEqual([])
  })
})
