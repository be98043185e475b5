/** Copies what a scenario keeps beside its records and rows. What is there already is left as it is. */
import type { LoadedConfig } from '../../config/index.ts'
import type { Commit, DocumentKind, Documents, Store } from '../../contract/index.ts'
import type { ServiceModule } from '../surroundings.ts'
import type { Place } from './places.ts'

const KINDS: readonly DocumentKind[] = ['own', 'proposals', 'steps']
/** Of a scenario's own folder: model settings are copied apart, and the adapters and the marker of a weight job follow from the trainer. */
const OWN = /^(?:episodes\.jsonl|spending|unplayed.*\.json)$/

/** A side of the copy. */
export interface DocumentSide extends Pick<Place, 'isDeployment'> {
  readonly files: ReturnType<ServiceModule['openScenarioFiles']>
  readonly loaded: LoadedConfig
}

export const sideOf = (service: ServiceModule, { loaded, isDeployment }: Place, store: Store): DocumentSide => ({
  files: service.openScenarioFiles(loaded, store),
  loaded,
  isDeployment,
})

/** Answers how many were copied. A scenario that a service did not make has no folder, and none. */
export async function copyDocuments(from: DocumentSide, to: DocumentSide, created: Commit): Promise<number> {
  if (typeof created.state['folder'] !== 'string') return 0
  let copied = await copyModel(from, to, created)
  for (const kind of KINDS) {
    const [source, target] = [documentsOf(from, created, kind), documentsOf(to, created, kind)]
    if (source !== null && target !== null) copied += await copyFolder(source, target, '', (name) => kind !== 'own' || OWN.test(name))
  }
  return copied
}

/** Read and written as settings: each side encrypts the key with its own. */
async function copyModel(from: DocumentSide, to: DocumentSide, created: Commit): Promise<number> {
  const own = await from.files.readModel(created)
  if (own === null || (await to.files.readModel(created)) !== null) return 0
  await to.files.writeModel(created, own)
  return 1
}

/** Folders outside the records are named in a configuration. */
const documentsOf = ({ files, loaded, isDeployment }: DocumentSide, created: Commit, kind: DocumentKind): Documents | null =>
  files.documentsOf(created, kind, isDeployment ? loaded.config.recipes : {})

async function copyFolder(from: Documents, to: Documents, folder: string, isWanted: (name: string) => boolean): Promise<number> {
  let copied = 0
  for (const { name, isFolder } of await from.list(folder)) {
    if (!isWanted(name)) continue
    const path = folder === '' ? name : `${folder}/${name}`
    if (isFolder) copied += await copyFolder(from, to, path, () => true)
    else if (await to.write(path, Buffer.from((await from.read(path)) ?? []).toString(), null)) copied += 1
  }
  return copied
}
