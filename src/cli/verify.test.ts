import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedFolder } from '../../test/support/folder.ts'
import { unavailable, type Damage } from '../contract/index.ts'
import { execute, fakeStore, fakeSurroundings } from './testing/surroundings.ts'
import type { ServiceModule } from './surroundings.ts'

const directory = sharedFolder()
const damage: Damage = { scenario: 'demo', agent_record_id: 'r-1', problem: 'the payload does not match its digest' }

const verify = (service: Partial<ServiceModule>, ...args: readonly string[]) =>
  execute(['verify', '--storage.agent_record_dir', directory, ...args], fakeSurroundings(service))

const storeWith = (damages: readonly Damage[]) => ({ openStore: () => Promise.resolve(fakeStore(damages)) })

test('a store without damage is fine, and is closed again', async () => {
  let closed = 0
  const store = fakeStore([], () => {
    closed += 1
  })
  expect(await verify({ openStore: () => Promise.resolve(store) })).toMatchObject({ exit: 0, out: '3 checked, none damaged', err: [] })
  expect(closed).toBe(1)
})

test('a bar shows how far it is, and is gone at the end', async () => {
  const surroundings = fakeSurroundings(storeWith([]), {}, { width: 80 })
  await execute(['verify', '--storage.agent_record_dir', directory], surroundings)
  expect(surroundings.shown).toEqual([`[${'#'.repeat(30)}] 100%  3 of 3`, ''])
})

test('damage is named record by record and exits 1', async () => {
  const out = 'demo  r-1  the payload does not match its digest\n3 checked, 1 damaged: restore them from a backup'
  expect(await verify(storeWith([damage]))).toMatchObject({ exit: 1, out })
})

test('totals that are not what the rows say are damage too', async () => {
  const wrong = { scenario: 'demo', agent_record_id: '', problem: 'step 4: its totals are not what the rows say' }
  const out = `demo    ${wrong.problem}\n3 checked, 1 damaged: restore them from a backup`
  expect(await verify({ ...storeWith([]), checkTotals: () => Promise.resolve([wrong]) })).toMatchObject({ exit: 1, out })
})

test('the same as JSON', async () => {
  const { exit, out } = await verify(storeWith([damage]), '--json')
  expect([exit, JSON.parse(out)]).toEqual([1, { checked: 3, damage: [damage] }])
})

test('a store that a service is using is refused', async () => {
  const error = unavailable('store_in_use', 'another process uses this record directory; stop it')
  expect(await verify({ openStore: () => Promise.reject(error) })).toMatchObject({
    exit: 2,
    err: [`another process uses this record directory (records are in ${directory}): stop it`],
  })
})

test('a directory that is not there is not made', async () => {
  const ended = await execute(['verify', '--storage.agent_record_dir', join(directory, 'absent')])
  expect(ended).toMatchObject({ exit: 2, err: [expect.stringContaining('there are no records in')] })
})

test('memory has nothing to verify', async () => {
  const ended = await verify({}, '--storage.record_backend', 'memory')
  expect(ended).toMatchObject({ exit: 2, err: [expect.stringContaining('nothing on disk to verify')] })
})
