/** Records in files of a folder: written once, named after what they hold, gone on with after a kill, and read by others. */
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { importInference, named } from '../../../test/spec/support/helpers.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { ownWorld, sharedWorld } from '../../../test/support/world.ts'
import { typeCommand } from '../testing/surroundings.ts'
import type { ExportManifest } from './manifest.ts'
import { parquetFile } from './parquet.ts'

const here = sharedWorld()
beforeAll(async () => {
  for (let at = 1; at <= 12; at += 1) await importInference(here, 'support', `id-${at}`, { text: `line\u2028${at}` })
  await here.post('/v1/chat/completions', '{"model": "m",\n\t"messages": [], "temperature": 1.0}', named('support'))
  await importInference(here, '.other é', 'elsewhere')
})

const exported = (to: string, ...more: string[]) => typeCommand(here.address, ['export', '--to', to, ...more])
const manifestIn = (to: string, scenario = 'support'): ExportManifest =>
  JSON.parse(readFileSync(join(to, scenario, 'manifest.json'), 'utf8'))
const filesIn = (to: string, scenario = 'support'): readonly string[] => readdirSync(join(to, scenario)).sort()
const linesIn = (to: string): readonly string[] =>
  manifestIn(to).files.flatMap(({ name }) =>
    readFileSync(join(to, 'support', name), 'utf8')
      .trimEnd()
      .split('\n'),
  )
const idsIn = (to: string): readonly unknown[] => linesIn(to).map((line) => JSON.parse(line).agent_record_id)

async function wholeExport(): Promise<string> {
  const to = temporaryFolder()
  await exported(to, '--scenario', 'support')
  return to
}

describe('an export to a folder', () => {
  test('has every scenario in a folder of its own, with a manifest that says what each file holds', async () => {
    const to = temporaryFolder()
    expect(await exported(to)).toMatchObject({ exit: 0, out: expect.stringContaining(`14 records written to ${to}`) })
    expect(readdirSync(to).sort()).toEqual(['%2Eother%20%C3%A9', 'support'])
    expect(filesIn(to)).toEqual(['manifest.json', 'records-000000000001-000000000013.jsonl'])
    const { files, writing } = manifestIn(to)
    const bytes = readFileSync(join(to, 'support', files[0]?.name ?? ''))
    expect(files).toEqual([
      {
        name: 'records-000000000001-000000000013.jsonl',
        first: 1,
        last: 13,
        records: 13,
        bytes: bytes.length,
        sha256: hash('sha256', bytes),
      },
    ])
    expect(writing).toBeNull()
    expect(statSync(join(to, 'support', files[0]?.name ?? '')).mode & 0o777).toBe(0o600)
    expect(linesIn(to).at(-1)).toContain('"temperature": 1.0')
  })

  test('goes on behind the last record, writes nothing where nothing came, and says so as JSON', async () => {
    const own = await ownWorld()
    const to = temporaryFolder()
    const run = async () => JSON.parse((await typeCommand(own.address, ['export', '--to', to, '--scenario', 'support', '--json'])).out)
    for (const id of ['a', 'b']) await importInference(own, 'support', id)
    expect(await run()).toMatchObject({ records: 2, scenarios: [{ scenario: 'support', files: 1, through_sequence: 2 }] })
    expect(await run()).toMatchObject({ records: 0, scenarios: [{ files: 0, through_sequence: 2 }] })
    await importInference(own, 'support', 'c')
    expect(await run()).toMatchObject({ records: 1, scenarios: [{ files: 1, through_sequence: 3 }] })
    expect(idsIn(to)).toEqual(['a', 'b', 'c'])
  })

  test.each([
    ['before its file was written', false],
    ['after it', true],
  ])('that was killed %s is finished under the same name', async (_, isWritten) => {
    const to = temporaryFolder()
    await exported(to, '--scenario', 'support')
    const whole = manifestIn(to)
    const again = temporaryFolder()
    await exported(again, '--scenario', 'support')
    // As it was when the first five records were about to be written.
    const begun = { ...whole, files: [], last_record_id: null, writing: { first: 1, last: 5 } }
    const name = 'records-000000000001-000000000005.jsonl'
    const folder = join(to, 'support')
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(begun))
    const five = `${linesIn(again).slice(0, 5).join('\n')}\n`
    if (isWritten) writeFileSync(join(folder, name), five)
    expect(await exported(to, '--scenario', 'support')).toMatchObject({ exit: 0 })
    expect(manifestIn(to).files.map(({ first, last }) => [first, last])).toEqual([
      [1, 5],
      [6, 13],
    ])
    expect(readFileSync(join(folder, name), 'utf8')).toBe(five)
    expect(idsIn(to)).toEqual(idsIn(again))
  })

  test('begins with what was stored since a time', async () => {
    const to = temporaryFolder()
    const rows = linesIn(await wholeExport()).map((line) => JSON.parse(line).created_at)
    const since = new Date(rows[4] * 1000 + 0.0005).toISOString()
    await exported(to, '--scenario', 'support', '--since', since)
    expect(idsIn(to).length).toBe(rows.filter((at) => at >= Date.parse(since) / 1000).length)
  })

  test('refuses another format at the same place, another scenario of the same name, and what is no manifest', async () => {
    const to = await wholeExport()
    expect(await exported(to, '--scenario', 'support', '--format', 'parquet')).toMatchObject({
      exit: 2,
      err: [expect.stringContaining('--format jsonl')],
    })
    const own = await ownWorld()
    await importInference(own, 'support', 'a')
    const other = await typeCommand(own.address, ['export', '--to', to, '--scenario', 'support'])
    expect(other).toMatchObject({ exit: 1, err: [expect.stringContaining('of another scenario named support')] })
    writeFileSync(join(to, 'support', 'manifest.json'), '{"format":')
    expect(await exported(to, '--scenario', 'support')).toMatchObject({ exit: 2, err: [expect.stringContaining('is no manifest')] })
  })

  test('says in one line when the folder cannot be written', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    expect(await exported(join(file, 'in'), '--scenario', 'support')).toMatchObject({
      exit: 1,
      err: [expect.stringContaining('cannot be written (ENOTDIR)')],
    })
  })

  test('two at once write every record once', async () => {
    const to = temporaryFolder()
    const ends = await Promise.all([exported(to, '--scenario', 'support'), exported(to, '--scenario', 'support')])
    expect(ends.some(({ exit }) => exit === 0)).toBe(true)
    for (const { exit, err } of ends) if (exit !== 0) expect(err).toEqual([expect.stringContaining('another export')])
    expect(idsIn(to)).toEqual(idsIn(await wholeExport()))
  })
})

it('a table ends with its footer, whose length stands behind it', () => {
  const file = parquetFile([
    { name: 'a', kind: 'integer', values: [1, null] },
    { name: 'b', kind: 'text', values: ['x', 'ä'] },
  ])
  expect([file.toString('latin1', 0, 4), file.toString('latin1', file.length - 4)]).toEqual(['PAR1', 'PAR1'])
  const footer = file.subarray(file.length - 8 - file.readUInt32LE(file.length - 8), file.length - 8)
  for (const name of ['schema', 'a', 'b', 'svc']) expect(footer.includes(name)).toBe(true)
})
