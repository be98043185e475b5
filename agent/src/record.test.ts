import { createHash } from 'node:crypto'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { anInstallation, makeHome } from './testing/harness-home.ts'
import { inFolder } from './places.ts'
import { readRecord, recordFile, recordOf } from './record.ts'
import { writeWhole } from './whole-file.ts'

test('a record holds digests in place of texts, is private, and is read back as it was', async () => {
  const { path } = makeHome()
  const record = recordOf(anInstallation(), '/harness', '/prefix')
  expect(record.files['AGENTS.md']).toBe(createHash('sha256').update('be brief\n').digest('hex'))
  await writeWhole(recordFile(path, record))
  expect(await readRecord(path)).toEqual(record)
  expect(statSync(inFolder(path).record).mode & 0o777).toBe(0o600)
})

test.each([
  ['is gone', null],
  ['is half', '{"format":1,'],
  ['is of another version', '{"format":2,"destination":"/d"}'],
  ['is no object', 'null'],
])('a record that %s stops with one line that names the way out', async (_case, text) => {
  const { path } = makeHome()
  if (text !== null) writeFileSync(inFolder(path).record, text)
  await expect(readRecord(path)).rejects.toThrow(/^[^\n]*run the install script of the service again$/)
})

test('a record that cannot be read stops with one line', async () => {
  const { path } = makeHome()
  mkdirSync(inFolder(path).record)
  await expect(readRecord(path)).rejects.toThrow(/^the record of this install cannot be read[^\n]*$/)
})
