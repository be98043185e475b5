/** A service that cannot start says why in one line that names the cure, ends with code 2, and leaves everything as it was. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../support/command.ts'
import { fillDisk, mountDisk, temporaryFolder } from '../support/folder.ts'
import { listenOnLoopback } from '../support/listen.ts'
import { makePlace, type Place } from '../support/place.ts'
import { send } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'kept' }

/** The one line that `svc serve` says with these settings before it ends with code 2. */
async function complaint(place: Place, settings: Readonly<Record<string, string | number>> = {}, path?: string): Promise<string> {
  const ended = await runCommand(['serve', ...place.args(settings)], path === undefined ? {} : { PATH: path })
  expect(ended).toMatchObject({ code: 2, out: '' })
  const lines = ended.err.trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  return lines[0] ?? ''
}

/** One acknowledged exchange; answers a check that it is still there. */
async function keepOne(place: Place): Promise<() => Promise<void>> {
  const service = await place.start()
  const answer = await send(service.address, 'POST', '/v1/chat/completions', { headers: scenario, body: { model: 'm', messages: [] } })
  const path = `/svc/scenarios/kept/records/${String(answer.headers['x-svc-agent-record-id'])}`
  await service.close()
  return async () => {
    const again = await place.start()
    expect((await send(again.address, 'GET', path, {})).status).toBe(200)
  }
}

describe('svc serve', () => {
  it('names a port that is in use', async () => {
    const place = await makePlace()
    const isThere = await keepOne(place)
    const server = createServer()
    onTestFinished(() => void server.close())
    const port = await listenOnLoopback(server)
    expect(await complaint(place, { 'svc.port': port })).toBe(`svc: port ${port} is in use: stop the other process or set svc.port`)
    await isThere()
  })

  it.each([
    ['a record directory', 'storage.agent_record_dir', 'configure another one'],
    ['an artifact repository', 'storage.artifact_repository', 'set storage.artifact_repository to another folder'],
  ])('names %s that cannot be written', async (_, setting, cure) => {
    const directory = join(mountDisk('ro,size=64k'), 'data')
    const line = await complaint(await makePlace(), { [setting]: directory })
    expect(line).toContain(directory)
    expect(line).toMatch(/cannot be written/)
    expect(line.endsWith(`: give its owner write access or ${cure}`)).toBe(true)
  })

  it.each([
    ['an entry that breaks a rule', 'rules', { text: ' ' }, /evolution\.seed\[0\].*config\.text/],
    ['a secret in a text', 'rules', { text: `use sk-${'a'.repeat(20)}` }, /evolution\.seed\[0\].*credential/],
    ['a kind the agent has no place for', 'native_tool', {}, /evolution\.seed\[0\].*must be a kind that pi renders/],
  ])('names the entry of a seed with %s, and never quotes it', async (_, name, config, words) => {
    const place = await makePlace()
    const seed = JSON.stringify([{ id: 'first', name, config }])
    const evolution = { 'recipes.mine.evolution.adapter': 'pi', 'recipes.mine.evolution.seed': seed }
    const line = await complaint(place, { recipe: 'mine', 'recipes.mine.use': 'harness', ...evolution })
    expect(line).toMatch(words)
    expect(line).toMatch(/^svc: recipe mine: evolution\.seed\[0\]: first: .*: (?:correct the entry in the configuration|take it out, .*)$/)
    expect(line).not.toContain('sk-aaaa')
  })

  it('names an unknown adapter, with the nearest one', async () => {
    const line = await complaint(await makePlace(), { recipe: 'harness', 'evolution.adapter': 'claud' })
    expect(line).toMatch(/adapter plug-in claud.*did you mean claude\?/)
  })

  it('names a store written by a newer version, and leaves it as it is', async () => {
    const place = await makePlace()
    const isThere = await keepOne(place)
    const written = setVersion(place, 99)
    const before = readFileSync(join(place.records, 'records.sqlite3'))
    expect(await complaint(place)).toMatch(/format 99, this version reads up to \d.*: start the version that wrote it$/)
    expect(readFileSync(join(place.records, 'records.sqlite3')).equals(before)).toBe(true)
    setVersion(place, written)
    await isThere()
  })

  it('names a store that is no database, and leaves it as it is', async () => {
    const place = await makePlace()
    mkdirSync(place.records)
    const file = join(place.records, 'records.sqlite3')
    writeFileSync(file, 'these are not the records you look for')
    expect(await complaint(place)).toMatch(/not a whole database.*: restore it from a backup, or move it away to start empty$/)
    expect(readFileSync(file, 'utf8')).toBe('these are not the records you look for')
  })

  it('names the full disk of the records, and starts with all of them once there is space', async () => {
    const disk = mountDisk('size=2m')
    const place = await makePlace(disk)
    const isThere = await keepOne(place)
    const free = fillDisk(disk)
    const line = await complaint(place)
    expect(line).toContain(place.records)
    expect(line).toMatch(/is full.*: free space and start again$/)
    free()
    await isThere()
  })

  it('names the full disk of the artifact repository, and makes it once there is space', async () => {
    const disk = mountDisk('size=2m')
    const free = fillDisk(disk)
    const place = await makePlace()
    const repository = join(disk, 'artifacts.git')
    const line = await complaint(place, { 'storage.artifact_repository': repository })
    expect(line).toContain(repository)
    expect(line).toMatch(/is full.*: free space and start again$/)
    free()
    expect(readdirSync(disk)).toEqual([])
    await place.start({ settings: { 'storage.artifact_repository': repository } })
  })

  it('names an artifact repository that is none, and leaves it as it is', async () => {
    const place = await makePlace()
    mkdirSync(place.repository)
    writeFileSync(join(place.repository, 'thesis.txt'), 'mine')
    const line = await complaint(place)
    expect(line).toContain(place.repository)
    expect(line).toMatch(/not a bare git repository.*: set storage\.artifact_repository to one, or to a folder that does not exist yet$/)
    expect(readdirSync(place.repository)).toEqual(['thesis.txt'])
  })

  it('names a git that is not on the PATH', async () => {
    const place = await makePlace()
    expect(await complaint(place, {}, temporaryFolder())).toMatch(/git could not be started: install git 2\.36 or newer$/)
  })

  it('names a record directory that another service uses, which goes on undisturbed', async () => {
    const place = await makePlace()
    const first = await place.start()
    expect(await complaint(place)).toMatch(
      /another process uses this record directory.*: stop it, or give each service a directory of its own$/,
    )
    expect((await send(first.address, 'GET', '/healthz', {})).status).toBe(200)
  })
})

/** Answers the version it had. */
function setVersion({ records }: Place, version: number): number {
  const db = new DatabaseSync(join(records, 'records.sqlite3'))
  const before = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  db.exec(`PRAGMA user_version = ${version}`)
  db.close()
  return before
}
