/** The commands that examine: `svc verify` finds a single flipped bit, `svc doctor` names each problem with its fix. */
import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../support/command.ts'
import { mountDisk } from '../support/folder.ts'
import { freePort, listenOnLoopback } from '../support/listen.ts'
import { makePlace, type Place } from '../support/place.ts'
import { send } from '../support/world.ts'

const NEEDLE = 'needle-in-the-body'
const PAGE_BYTES = 4096

/** Two records, one of which can be found in the file; answers its id. */
async function keepTwo(place: Place): Promise<string> {
  const service = await place.start()
  const headers = { 'x-svc-scenario': 'examined' }
  await send(service.address, 'POST', '/v1/chat/completions', { headers, body: { model: 'm', messages: [] } })
  const { headers: answered } = await send(service.address, 'POST', '/v1/chat/completions', {
    headers,
    body: { model: 'm', messages: [], note: NEEDLE },
  })
  await service.close()
  return String(answered['x-svc-agent-record-id'])
}

function flipOneBit({ records }: Place): void {
  const path = join(records, 'records.sqlite3')
  const at = readFileSync(path).indexOf(NEEDLE)
  expect(at).toBeGreaterThan(0)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.from([NEEDLE.charCodeAt(0) ^ 1]), 0, 1, at)
  closeSync(file)
}

it('svc verify finds nothing in a whole store, names the record with a flipped bit, and ends with code 1', async () => {
  const place = await makePlace()
  const id = await keepTwo(place)
  expect(await runCommand(['verify', ...place.args()])).toMatchObject({ code: 0, out: '2 checked, none damaged\n' })
  flipOneBit(place)
  const { code, out } = await runCommand(['verify', ...place.args(), '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({
    checked: 2,
    damage: [{ scenario: 'examined', agent_record_id: id, problem: expect.stringContaining('checksum') as unknown }],
  })
})

it('svc verify lists pages that cannot be read as damage, beside what it finds in other scenarios', async () => {
  const place = await makePlace()
  const service = await place.start()
  for (const scenario of ['long', 'other'])
    await send(service.address, 'POST', '/v1/chat/completions', {
      headers: { 'x-svc-scenario': scenario },
      body: { model: 'm', messages: [], note: scenario === 'long' ? Array.from({ length: 60_000 }, () => randomUUID()).join('') : NEEDLE },
    })
  await service.close()
  const path = join(place.records, 'records.sqlite3')
  const file = openSync(path, 'r+')
  const pages = fstatSync(file).size / PAGE_BYTES
  // Most of the file is the one long body.
  for (const page of [0.4, 0.5, 0.6]) writeSync(file, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, Math.floor(page * pages) * PAGE_BYTES)
  closeSync(file)
  flipOneBit(place)
  const { code, out } = await runCommand(['verify', ...place.args(), '--json'])
  expect(code).toBe(1)
  const { damage }: { readonly damage: readonly { readonly scenario: string; readonly problem: string }[] } = JSON.parse(out)
  expect(damage.find(({ scenario }) => scenario === 'long')?.problem).toContain('not all of its records can be read')
  expect(damage.find(({ scenario }) => scenario === 'other')?.problem).toContain('checksum')
})

it('svc doctor names a busy port, an unwritable directory and an upstream that does not answer, each with its fix', async () => {
  const place = await makePlace()
  const taken = createServer((socket) => socket.destroy())
  onTestFinished(() => void taken.close())
  const port = await listenOnLoopback(taken)
  const directory = join(mountDisk('ro,size=64k'), 'records')
  const nobody = `http://127.0.0.1:${await freePort()}`
  const changes = { 'svc.port': port, 'storage.agent_record_dir': directory, 'inference.upstream_url': nobody }
  const { code, out } = await runCommand(['doctor', ...place.args(changes)])
  expect(code).toBe(2)
  expect(out).toMatch(new RegExp(`PROBLEM +port +port ${port} is in use\\n +fix: stop the other process or set svc\\.port`))
  expect(out).toMatch(/PROBLEM +storage\.agent_record_dir .* cannot be written\n +fix: /)
  expect(out).toMatch(/PROBLEM +upstream .* cannot be reached: ECONNREFUSED\n +fix: check the network, or set inference\.upstream_url/)
})

it('svc doctor finds everything fine where it is, and ends with code 0', async () => {
  const place = await makePlace()
  await keepTwo(place)
  const { code, out } = await runCommand(['doctor', ...place.args({ 'storage.record_capacity_bytes': 1 })])
  expect(out).toContain('sqlite, 2 records')
  expect([code, out.includes('PROBLEM')]).toEqual([0, false])
})
