import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { isWaiting, markBegun, markStored, openCapture, sessionsOf, unreported, type SessionHead } from './captures.ts'

const SESSION = '00000000-0000-4000-8000-000000000001'
const id = (last: number): string => SESSION.slice(0, -1) + String(last)
const about = { url: 'http://service', scenario: 'Prüfung' }

const folderOf = (): string => join(temporaryFolder(), 'captures')

function head(changes: Partial<SessionHead> = {}): SessionHead {
  const { pid } = process
  return { ...about, adapter: 'pi', release_id: 'release-1', session: SESSION, pid, started_at: 1_700_000_000.5, ...changes }
}

function capture(folder: string, receipts: readonly string[], changes: Partial<SessionHead> = {}): void {
  const open = openCapture(folder, head(changes))
  for (const receipt of receipts) open.keep(receipt)
  open.close()
}

it('a session is a file of its own, for its person alone, with a line per receipt', async () => {
  const folder = folderOf()
  capture(folder, ['r-1', 'r-2', 'r-1'])
  const [name = ''] = readdirSync(folder)
  expect(name).toBe(`${createHash('sha256').update('Prüfung').digest('hex')}-01700000000500000000-${SESSION}.jsonl`)
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder, name), 'utf8').split('\n').length).toBe(5)
  expect(await sessionsOf(folder, about)).toMatchObject([{ ...head(), isLive: true, receipts: ['r-1', 'r-2'], reports: [] }])
})

it('a session without receipts leaves nothing behind', () => {
  const folder = folderOf()
  capture(folder, [])
  expect(readdirSync(folder)).toEqual([])
})

it('sessions are kept apart by scenario and service, and come newest first', async () => {
  const folder = folderOf()
  capture(folder, ['a'], { session: id(2), started_at: 10 })
  capture(folder, ['b'], { session: id(3), started_at: 20 })
  capture(folder, ['c'], { session: id(4), scenario: 'another' })
  capture(folder, ['d'], { session: id(5), url: 'http://another' })
  expect((await sessionsOf(folder, about)).map(({ receipts }) => receipts)).toEqual([['b'], ['a']])
})

it('a file that was cut short at any byte loses no receipt but the one it was cut in', async () => {
  const folder = folderOf()
  capture(folder, ['r-1', 'r-2'])
  const path = join(folder, readdirSync(folder)[0] ?? '')
  const whole = readFileSync(path)
  const headBytes = whole.indexOf('\n')
  for (let bytes = whole.length; bytes >= 0; bytes -= 1) {
    writeFileSync(path, whole)
    truncateSync(path, bytes)
    const [session] = await sessionsOf(folder, about)
    const expected = ['r-1', 'r-2'].filter((receipt) => whole.subarray(0, bytes).includes(`{"receipt":"${receipt}"}`))
    expect(session?.receipts ?? null).toEqual(bytes < headBytes ? null : expected)
  }
})

it('a receipt that cannot be written is counted, and the next one is kept whole', async () => {
  const folder = folderOf()
  const open = openCapture(folder, head())
  rmSync(folder, { recursive: true })
  open.keep('lost')
  expect(open.lost).toMatchObject({ count: 1, cause: { code: 'ENOENT' } })
  openCapture(folder, head()).close()
  open.keep('kept')
  open.close()
  expect((await sessionsOf(folder, about))[0]?.receipts).toEqual(['kept'])
})

it('receipts in a report that was begun are in no other, and wait until the service has it', async () => {
  const folder = folderOf()
  capture(folder, ['r-1', 'r-2', 'r-3'])
  const read = async () => {
    const [session] = await sessionsOf(folder, about)
    if (session === undefined) throw new Error('no session')
    return session
  }
  await markBegun(await read(), { id: 'one', receipts: ['r-1', 'r-2'] })
  expect(unreported(await read())).toEqual(['r-3'])
  await markBegun(await read(), { id: 'two', receipts: ['r-3'] })
  await markStored(await read(), 'two')
  expect(isWaiting(await read())).toBe(true)
  appendFileSync(`${(await read()).path}.reported`, '\n{"stored":"on')
  await markStored(await read(), 'one')
  expect(isWaiting(await read())).toBe(false)
})
