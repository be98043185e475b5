/** What scenarios keep, encrypted: read as it was written, bound to its scenario, and readable with every key that is configured. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import type { Documents } from '../contract/index.ts'
import { FolderDocuments, Sealing } from '../kit/index.ts'
import { sealedDocuments } from './sealed-documents.ts'

const [OLD, NEW] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]

function keys(text: string): Sealing {
  const sealing = Sealing.read(text)
  if (sealing === null) throw new Error('no keys')
  return sealing
}

const opened = (folder: string, key = OLD, owner = 'scenarios/a/steps'): Documents =>
  sealedDocuments(new FolderDocuments(folder), keys(key), owner)
const textOf = async (documents: Documents, path: string, from?: number): Promise<string> =>
  Buffer.from((await documents.read(path, from)) ?? []).toString()

test('is read as it was written and added to, from any byte, and no file has its words', async () => {
  const folder = temporaryFolder()
  const documents = opened(folder)
  await documents.write('1/episode.json', '"violet"\n')
  await documents.append('lines.jsonl', '{"said":"violet"}\n')
  await documents.append('lines.jsonl', '{"said":"ä"}\n')
  expect(await textOf(documents, '1/episode.json')).toBe('"violet"\n')
  expect(await textOf(documents, 'lines.jsonl')).toBe('{"said":"violet"}\n{"said":"ä"}\n')
  expect(await textOf(documents, 'lines.jsonl', 18)).toBe('{"said":"ä"}\n')
  expect(await documents.read('none')).toBeNull()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain('violet')
})

test('changes only what is as it was read', async () => {
  const documents = opened(temporaryFolder())
  expect(await documents.write('a', 'one', null)).toBe(true)
  expect([await documents.write('a', 'two', null), await documents.write('a', 'two', 'other')]).toEqual([false, false])
  expect(await documents.write('a', 'two', 'one')).toBe(true)
  expect(await documents.move('a', 'b')).toBe(true)
  expect(await textOf(documents, 'b')).toBe('two')
})

test('a text from before the encryption is read as it is, also when something is added', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'a'), 'plain without an end')
  const documents = opened(folder)
  await documents.append('a', ' and more')
  expect(await textOf(documents, 'a')).toBe('plain without an end and more')
})

test('the first key writes and all read; without the one that is needed it is refused by its name', async () => {
  const folder = temporaryFolder()
  await opened(folder).write('a', 'old')
  const both = opened(folder, `${NEW},${OLD}`)
  expect(await textOf(both, 'a')).toBe('old')
  const [needed] = keys(OLD).keyIds
  await expect(opened(folder, NEW).read('a')).rejects.toMatchObject({
    code: 'document_sealed',
    message: expect.stringContaining(`another key (${needed}); set SVC_SECRET_KEY`),
  })
  await both.write('a', 'new')
  expect(await textOf(opened(folder, NEW), 'a')).toBe('new')
})

test('what was put into the place of another scenario, or changed, is refused', async () => {
  const folder = temporaryFolder()
  await opened(folder).write('a', 'words')
  await expect(opened(folder, OLD, 'scenarios/b/steps').read('a')).rejects.toMatchObject({ code: 'document_sealed' })
  const kept = readFileSync(join(folder, 'a'), 'utf8')
  writeFileSync(join(folder, 'a'), kept.replace(/.{6}\n$/, 'AAAAAA\n'))
  await expect(opened(folder).read('a')).rejects.toMatchObject({ message: expect.stringContaining('is damaged') })
})
