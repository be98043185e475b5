/** A scenario's own model settings: where they are kept, and that their key is not kept in clear. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { FolderDocuments, Sealing } from '../kit/index.ts'
import { ScenarioFiles } from './files.ts'

const CREATED = { state: { recipe: 'r', folder: 'f1' } }
const OTHER = { state: { recipe: 'r', folder: 'f2' } }
const OWN = { model: 'm', url: 'https://model.example', api_key: 'sk-the-key-of-this-scenario' }

const newKey = (): string => randomBytes(32).toString('base64')
const sealed = (text: string) => ({ sealing: Sealing.read(text) })
const fileIn = (folder: string): string => join(folder, 'scenarios/f1/model.json')
/** Documents that several services share, as files of one folder. */
function shared() {
  const folder = temporaryFolder()
  return { folder, documents: (owner: string) => new FolderDocuments(join(folder, owner)) }
}

describe('model settings on one machine', () => {
  it('are a file, as they were given, where no key is configured', async () => {
    const folder = temporaryFolder()
    await new ScenarioFiles(folder).writeModel(CREATED, OWN)
    expect(JSON.parse(readFileSync(fileIn(folder), 'utf8'))).toEqual(OWN)
    expect(await new ScenarioFiles(folder, sealed(newKey())).readModel(CREATED)).toEqual(OWN)
  })

  it('hold their key encrypted where one is configured, for their scenario alone', async () => {
    const [folder, key] = [temporaryFolder(), newKey()]
    const files = new ScenarioFiles(folder, sealed(key))
    await files.writeModel(CREATED, OWN)
    const text = readFileSync(fileIn(folder), 'utf8')
    expect(text).not.toContain(OWN.api_key)
    expect(await new ScenarioFiles(folder, sealed(`${newKey()},${key}`)).readModel(CREATED)).toEqual(OWN)
    await files.writeModel(OTHER, { model: 'n' })
    writeFileSync(join(folder, 'scenarios/f2/model.json'), text)
    await expect(files.readModel(OTHER)).rejects.toMatchObject({ code: 'settings_failed', message: expect.stringContaining('damaged') })
  })

  it('are unavailable without the key they were encrypted with, and say how to cure it', async () => {
    const folder = temporaryFolder()
    await new ScenarioFiles(folder, sealed(newKey())).writeModel(CREATED, OWN)
    for (const files of [new ScenarioFiles(folder), new ScenarioFiles(folder, sealed(newKey()))])
      await expect(files.readModel(CREATED)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('SVC_SECRET_KEY'),
      })
  })
})

describe('model settings of several gateways', () => {
  it('are the same for all of them, and none on a disk of their own', async () => {
    const [{ documents }, key] = [shared(), newKey()]
    const [here, there] = [temporaryFolder(), temporaryFolder()].map((folder) => new ScenarioFiles(folder, { documents, ...sealed(key) }))
    await here?.writeModel(CREATED, OWN)
    expect(await there?.readModel(CREATED)).toEqual(OWN)
    await there?.writeModel(CREATED, null)
    expect(await here?.readModel(CREATED)).toBeNull()
  })

  it('take no key in clear: it is refused with the fix, and settings without one are kept', async () => {
    const { folder, documents } = shared()
    const files = new ScenarioFiles(temporaryFolder(), { documents })
    await expect(files.writeModel(CREATED, OWN)).rejects.toMatchObject({ kind: 'unsupported', code: 'no_secret_key' })
    await files.writeModel(CREATED, { model: 'm' })
    expect(await files.readModel(CREATED)).toEqual({ model: 'm' })
    expect(readFileSync(join(folder, 'scenarios/f1/own/model.json'), 'utf8')).not.toContain('sk-')
  })
})
