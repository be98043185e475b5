/** Everything that was stored, as a file: whole or not at all, and continued where it ended. */
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { importInference, named } from '../../../test/spec/support/helpers.ts'
import { fillDisk, mountDisk, temporaryFolder } from '../../../test/support/folder.ts'
import { ownWorld, sharedWorld } from '../../../test/support/world.ts'
import { execute, fakeSurroundings, typeCommand } from '../testing/surroundings.ts'

const here = sharedWorld()
let receipt = ''
beforeAll(async () => {
  for (let at = 1; at <= 70; at += 1) await importInference(here, 'support', `id-${at}`, { text: `line\u2028${at}` })
  const exact = '{"model": "m",\n\t"messages": [], "temperature": 1.0}'
  const { headers } = await here.post('/v1/chat/completions', exact, named('support'))
  receipt = String(headers['x-svc-agent-record-id'])
  await importInference(here, 'other', 'elsewhere')
})

const exportTo = (file: string, scenario = 'support') => typeCommand(here.address, ['records', scenario, '--export', file])
const linesIn = (file: string): readonly string[] => readFileSync(file, 'utf8').trimEnd().split('\n')
const idsIn = (file: string): readonly unknown[] => linesIn(file).map((line) => JSON.parse(line).agent_record_id)
const newFile = (): string => join(temporaryFolder(), 'all.jsonl')
const terminal = () => fakeSurroundings({}, { SVC_URL: here.address }, { width: 80 })
const all = (): readonly unknown[] => [...Array.from({ length: 70 }, (_, at) => `id-${at + 1}`), receipt]

describe('an export', () => {
  test('writes every record in its order, for its owner alone, and says how many', async () => {
    const file = newFile()
    expect(await exportTo(file)).toMatchObject({ exit: 0, out: `71 records of support written to ${file}` })
    expect(idsIn(file)).toEqual(all())
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.partial`)).toBe(false)
    expect(JSON.parse(linesIn(file)[0] ?? '')).toMatchObject({ sequence: 1, request_type: 'inference', payload: { text: 'line\u20281' } })
  })

  test('is word for word what the service says of each record', async () => {
    const file = newFile()
    await exportTo(file)
    const { text } = await here.get(`/svc/scenarios/support/records/${receipt}`)
    expect(linesIn(file).at(-1)).toBe(text.replaceAll(/[\n\t]/g, ' '))
    expect(text).toContain('"temperature": 1.0')
  })

  test('shows a bar that goes to the end', async () => {
    const surroundings = terminal()
    await execute(['records', 'support', '--export', newFile()], surroundings)
    expect(surroundings.shown.at(-2)).toMatch(/^\[#{30}\] 100% {2}71 of 71/)
    expect(surroundings.shown.at(-1)).toBe('')
  })

  test('as JSON names the file and the number of records', async () => {
    const file = newFile()
    const { out } = await typeCommand(here.address, ['records', 'support', '--export', file, '--json'])
    expect(JSON.parse(out)).toEqual({ scenario: 'support', file, records: 71 })
  })

  test('writes over no file that is there', async () => {
    const file = newFile()
    writeFileSync(file, 'mine')
    expect(await exportTo(file)).toMatchObject({ exit: 1, err: [`${file} is there already: move it away, or name another file`] })
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })
})

/** What a run that was killed left: whole lines, and a piece of the next. */
async function partial(lines: number, rest: string): Promise<string> {
  const file = newFile()
  const whole = `${file}.whole`
  await exportTo(whole)
  const kept = readFileSync(whole, 'utf8').split('\n').slice(0, lines)
  writeFileSync(`${file}.partial`, `${kept.join('\n')}\n${rest}`)
  return file
}

describe('an export that was cut off', () => {
  test.each([
    ['in the middle of a line', 30, '{"sequence":31,"agent_rec'],
    ['right before the end of a line', 30, '{"sequence":31,"agent_record_id":"id-31"}'],
    ['between two lines', 30, ''],
    ['after a line that is not the next', 30, '{"sequence":44,"agent_record_id":"id-44"}\n{"sequence":32}\n'],
  ])('%s goes on after the last whole record', async (_, lines, rest) => {
    const file = await partial(lines, rest)
    expect(await exportTo(file)).toMatchObject({ exit: 0, out: `71 records of support written to ${file} (30 of them by an earlier run)` })
    expect(idsIn(file)).toEqual(all())
  })

  test('is not continued with the records of another scenario', async () => {
    const file = await partial(1, '')
    expect(await exportTo(file, 'other')).toMatchObject({
      exit: 1,
      err: [`${file}.partial was begun for other records: remove it, or name another file`],
    })
    expect(existsSync(file)).toBe(false)
  })

  test('by a full disk reports it, and continues once there is room', async () => {
    const disk = mountDisk('size=256k')
    const file = join(disk, 'all.jsonl')
    const free = fillDisk(disk)
    expect(await exportTo(file)).toMatchObject({
      exit: 1,
      err: [`${file}.partial cannot be written (ENOSPC): fix that, then run this again; it continues where it stopped`],
    })
    expect(existsSync(file)).toBe(false)
    free()
    expect((await exportTo(file)).exit).toBe(0)
    expect(idsIn(file)).toEqual(all())
  })
})

test('two exports into one file leave the right lines there, or none', async () => {
  const file = newFile()
  await Promise.all([exportTo(file), exportTo(file)])
  if (!existsSync(file)) await exportTo(file)
  expect(idsIn(file)).toEqual(all())
})

test('an export notices that another program writes to its file', async () => {
  const file = newFile()
  const meddling = { ...terminal(), progress: () => appendFileSync(`${file}.partial`, 'x') }
  const err = ['another export writes to the same file: wait until it is done, and run this again']
  expect(await execute(['records', 'support', '--export', file], meddling)).toMatchObject({ exit: 1, err })
  expect(existsSync(file)).toBe(false)
})

test('a body that was evicted to make room is null, and the rest is there', async () => {
  const small = await ownWorld({ backend: 'sqlite', settings: { 'storage.record_capacity_bytes': 4000 } })
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await importInference(small, 'small', id, { text: 'x'.repeat(1000) })
  await vi.waitFor(async () => expect((await small.get('/svc/scenarios/small/records/a')).status).toBe(404), { timeout: 20_000 })
  const file = newFile()
  expect((await typeCommand(small.address, ['records', '--export', file])).exit).toBe(0)
  const [first = '', ...others] = linesIn(file)
  expect(JSON.parse(first)).toMatchObject({ agent_record_id: 'a', payload: null })
  expect(JSON.parse(others.at(-1) ?? '')).toMatchObject({ agent_record_id: 'f', payload: { text: 'x'.repeat(1000) } })
})
