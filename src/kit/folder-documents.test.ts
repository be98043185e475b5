import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentsConformance } from '../../conformance/documents.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { FolderDocuments } from './folder-documents.ts'

documentsConformance({ describe, it, open: (folder) => new FolderDocuments(folder) })

it('a document is a file of its name and mode, and a failed write leaves nothing beside it', async () => {
  const folder = temporaryFolder()
  const documents = new FolderDocuments(folder, { mode: 0o600 })
  await documents.write('a/b.json', '1')
  await documents.write('a/b.json', '2', null)
  await expect(documents.write('a/b.json/c', '3')).rejects.toThrow()
  expect(readdirSync(join(folder, 'a'))).toEqual(['b.json'])
  expect(statSync(join(folder, 'a/b.json')).mode & 0o777).toBe(0o600)
})
