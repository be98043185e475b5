/** Records in a bucket of a real server, as Parquet that an independent reader reads, written once by runs that are killed and by two at once. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importInference } from '../../../test/spec/support/helpers.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { BUCKET, startS3, type S3Server } from '../../../test/support/s3.ts'
import { argumentsOf } from '../../../test/support/settings.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { typeCommand } from '../testing/surroundings.ts'
import type { ExportManifest } from './manifest.ts'

const here = sharedWorld()
let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
  for (let at = 1; at <= 9; at += 1) await importInference(here, 'support', `id-${at}`, { text: `Zeile ä ${at}` })
})
afterAll(() => s3.stop())

const exported = (to: string, ...more: string[]) =>
  typeCommand(here.address, ['export', '--to', to, '--scenario', 'support', ...more, ...argumentsOf(s3.settings)])
const manifestIn = (folder: string): ExportManifest =>
  JSON.parse(readFileSync(join(s3.folder, BUCKET, folder, 'support/manifest.json'), 'utf8'))

test('an export to a bucket goes on behind the last record, and two at once write every record once', async () => {
  const to = `s3://${BUCKET}/lines`
  const ends = await Promise.all([exported(to), exported(to)])
  expect(ends.some(({ exit }) => exit === 0)).toBe(true)
  expect(await exported(to)).toMatchObject({ exit: 0 })
  const { files } = manifestIn('lines')
  expect(files.map(({ first, last }) => [first, last])).toEqual([[1, 9]])
  expect(readdirSync(join(s3.folder, BUCKET, 'lines/support')).sort()).toEqual(['manifest.json', files[0]?.name])
})

test('a bucket that is away is told in one line', async () => {
  await s3.kill()
  const { exit, err } = await exported(`s3://${BUCKET}/away`)
  await s3.start()
  expect([exit, err.length]).toEqual([1, 1])
})

const READ = `
import json, sys, pyarrow.parquet as p
t = p.read_table(sys.argv[1])
print(json.dumps({'rows': t.num_rows, 'types': [str(f.type) for f in t.schema], 'ids': t['agent_record_id'].to_pylist(), 'texts': [json.loads(x)['text'] for x in t['payload'].to_pylist()], 'scores': t['score'].to_pylist()}))
`

/** A Python that has pyarrow, where `PYARROW_PYTHON` or the path names one. */
const PYTHON = process.env['PYARROW_PYTHON'] ?? 'python3'
const hasPyarrow = spawnSync(PYTHON, ['-c', 'import pyarrow']).status === 0

test.skipIf(!hasPyarrow)('Parquet is read by pyarrow, whose Python PYARROW_PYTHON names', { timeout: 60_000 }, async () => {
  const to = temporaryFolder()
  expect(await exported(to, '--format', 'parquet')).toMatchObject({ exit: 0 })
  const file = readdirSync(join(to, 'support')).find((name) => name.endsWith('.parquet')) ?? ''
  const read: unknown = JSON.parse(execFileSync(PYTHON, ['-c', READ, join(to, 'support', file)], { encoding: 'utf8' }))
  expect(read).toMatchObject({
    rows: 9,
    ids: Array.from({ length: 9 }, (_, at) => `id-${at + 1}`),
    texts: Array.from({ length: 9 }, (_, at) => `Zeile ä ${at + 1}`),
    scores: Array.from({ length: 9 }, () => null),
  })
})
