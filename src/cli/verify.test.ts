import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedFolder } from '../../test/support/folder.ts'
import { unavailable, type Damage } from '../contract/index.ts'
import { fakeStore, fakeSurroundings } from './testing/surroundings.ts'
import { runCli } from './program.ts'
import type { ServiceModule } from './surroundings.ts'

const directory = sharedFolder()
const damage: Damage = { scenario: 'demo', agent_record_id: 'r-1', problem: 'the payload does not match its digest' }

async function verify(service: Partial<ServiceModule>, ...args: readonly string[]) {
  const surroundings = fakeSurroundings(service)
  const exit = await runCli(['verify', '--storage.agent_record_dir', directory, ...args], surroundings)
  return { exit, out: surroundings.printed, err: surroundings.complaints }
}

test('a store without damage is fine, and is closed again', async () => {
  let closed = 0
  const store = fakeStore([], () => {
    closed += 1
  })
  expect(await verify({ openStore: () => Promise.resolve(store) })).toEqual({ exit: 0, out: ['3 checked, none damaged'], err: [] })
  expect(closed).toBe(1)
})

test('a bar shows how far it is, and is gone at the end', async () => {
  const surroundings = fakeSurroundings({ openStore: () => Promise.resolve(fakeStore([])) }, {}, { width: 80 })
  await runCli(['verify', '--storage.agent_record_dir', directory], surroundings)
  expect(surroundings.shown).toEqual([`[${'#'.repeat(30)}] 100%  3 of 3`, ''])
})

test('damage is named record by record and exits 1', async () => {
  const { exit, out } = await verify({ openStore: () => Promise.resolve(fakeStore([damage])) })
  expect(exit).toBe(1)
  expect(out).toEqual(['demo  r-1  the payload does not match its digest', '3 checked, 1 damaged: restore them from a backup'])
})

test('the same as JSON', async () => {
  const { exit, out } = await verify({ openStore: () => Promise.resolve(fakeStore([damage])) }, '--json')
  expect(exit).toBe(1)
  expect(JSON.parse(out.join('\n'))).toEqual({ checked: 3, damage: [damage] })
})

test('a store that a service is using is refused', async () => {
  const error = unavailable('store_in_use', 'another process uses this record directory; stop it')
  const { exit, err } = await verify({ openStore: () => Promise.reject(error) })
  expect(exit).toBe(2)
  expect(err).toEqual([`another process uses this record directory (records are in ${directory}): stop it`])
})

test('a directory that is not there is not made', async () => {
  const surroundings = fakeSurroundings()
  expect(await runCli(['verify', '--storage.agent_record_dir', join(directory, 'absent')], surroundings)).toBe(2)
  expect(surroundings.complaints.join('')).toContain('there are no records in')
})

test('memory has nothing to verify', async () => {
  const { exit, err } = await verify({}, '--storage.record_backend', 'memory')
  expect(exit).toBe(2)
  expect(err.join('')).toContain('nothing on disk to verify')
})
