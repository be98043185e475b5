/** Crashes between two durable steps of making or removing a scenario, which random kills rarely hit. */
import { readdirSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { REF } from '../../src/contract/index.ts'
import { serveCommand } from '../support/command.ts'
import { makePlace, type Place } from '../support/place.ts'
import { send, type Answer } from '../support/world.ts'

const store = './test/fixtures/dying-store.ts'
const NAME = 'doomed'
const pointer = REF.scenarios + Buffer.from(NAME).toString('base64url')

const create = (address: string): Promise<Answer> => send(address, 'POST', '/svc/scenarios', { body: { name: NAME } })
const remove = (address: string): Promise<Answer> => send(address, 'DELETE', `/svc/scenarios/${NAME}`, {})
const list = async (address: string): Promise<unknown> => (await send(address, 'GET', '/svc/scenarios', {})).json['scenarios']
const rowsOf = async (address: string): Promise<unknown> =>
  (await send(address, 'GET', `/svc/scenarios/${NAME}/records`, {})).json['records']
const releasesOf = async (address: string): Promise<unknown> =>
  (await send(address, 'GET', `/svc/scenarios/${NAME}/releases`, {})).json['releases']

const exchange = (address: string): Promise<Answer> =>
  send(address, 'POST', '/v1/chat/completions', { headers: { 'x-svc-scenario': NAME }, body: { model: 'm', messages: [] } })

/** Runs the service until it dies at that failpoint; the request gets no answer. */
async function dieAt(place: Place, point: string, act: (address: string) => Promise<Answer>): Promise<void> {
  mkdirSync(place.records, { recursive: true })
  writeFileSync(join(place.records, 'die-at'), point)
  const { command, address } = await serveCommand(place.args({ 'storage.record_backend': store }))
  await expect(act(address)).rejects.toThrow()
  expect((await command.ended).code).toBe(null)
  rmSync(join(place.records, 'die-at'))
}

/** One exchange, then the removal; answers the receipt. */
async function dieRemoving(place: Place, point: string): Promise<string> {
  let receipt = ''
  await dieAt(place, point, async (address) => {
    receipt = String((await exchange(address)).headers['x-svc-agent-record-id'])
    return remove(address)
  })
  return receipt
}

const archives = ({ records }: Place): readonly string[] => readdirSync(join(records, 'archived'))

describe('a crash while a scenario is made', () => {
  it('before its row: there is none, and it can be made', async () => {
    const place = await makePlace()
    await dieAt(place, 'before-creation-row', create)
    const service = await place.start()
    expect(await list(service.address)).toEqual([])
    expect((await create(service.address)).status).toBe(201)
  })

  it('between its row and its pointer: it is there with its first release, and loading points at it [scenario.restart]', async () => {
    const place = await makePlace()
    await dieAt(place, 'after-creation-row', create)
    expect(place.refs().has(pointer)).toBe(false)
    const service = await place.start()
    const { status, json } = await create(service.address)
    expect(status).toBe(200)
    expect(await releasesOf(service.address)).toMatchObject([{ step: 0, operation: 'create', release_id: json['release_id'] }])
    await service.close()
    expect(place.refs().get(pointer)).toBe(json['release_id'])
  })
})

describe('a crash while a scenario is removed', () => {
  it('between the rename of its pointer and the archive of its rows: it is whole, and can be removed again [delete.rule-1]', async () => {
    const place = await makePlace()
    const receipt = await dieRemoving(place, 'before-archive')
    expect(place.refs().has(pointer)).toBe(false)
    const service = await place.start()
    expect(await rowsOf(service.address)).toMatchObject([{ sequence: 1, agent_record_id: receipt }])
    await service.close()
    expect(place.refs().has(pointer)).toBe(true)
    const again = await place.start()
    expect((await remove(again.address)).status).toBe(200)
    expect(await list(again.address)).toEqual([])
    await again.close()
    expect(await place.damage()).toEqual([])
  })

  it('between the export of its rows and its mark: it is whole, the export is gone, and it can be removed again [delete.rule-1]', async () => {
    const place = await makePlace()
    const receipt = await dieRemoving(place, 'exported')
    expect(archives(place)).toEqual([expect.stringMatching(/\.sqlite3$/)])
    expect(stateOf(place)).toEqual({ name: NAME, isClosing: 1 })
    const service = await place.start()
    expect(archives(place)).toEqual([])
    expect(await rowsOf(service.address)).toMatchObject([{ sequence: 1, agent_record_id: receipt }])
    expect((await exchange(service.address)).status).toBe(200)
    expect(await remove(service.address)).toMatchObject({
      status: 200,
      json: { archived: [`archived/${archives(place)[0]}`, expect.anything()] },
    })
    await service.close()
    expect(await place.damage()).toEqual([])
  })

  it('after its rows were set aside: it is gone, its archive is whole, and its name is free [delete.name-free]', async () => {
    const place = await makePlace()
    const receipt = await dieRemoving(place, 'after-archive')
    const service = await place.start()
    expect(await list(service.address)).toEqual([])
    expect(archivedIds(place)).toEqual([receipt])
    expect((await create(service.address)).status).toBe(201)
    expect(await rowsOf(service.address)).toEqual([])
    await service.close()
    expect(await place.damage()).toEqual([])
  })
})

function stateOf({ records }: Place): unknown {
  const db = new DatabaseSync(join(records, 'records.sqlite3'), { readOnly: true })
  const row = db.prepare('SELECT name, archive IS NOT NULL AS isClosing FROM scenario').get()
  db.close()
  return { ...row }
}

function archivedIds(place: Place): readonly unknown[] {
  return archives(place).flatMap((file) => {
    const db = new DatabaseSync(join(place.records, 'archived', file), { readOnly: true })
    const rows = db.prepare('SELECT r.agent_record_id AS id FROM record r JOIN body b ON b.age = r.age').all()
    db.close()
    return rows.map(({ id }) => id)
  })
}
