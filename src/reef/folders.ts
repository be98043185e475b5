/** Imports into the folders of a stopped service: opens them, marks them until the import is complete, and closes them. */
import { invalid, type ContentStore, type Store } from '../contract/index.ts'
import type { ScenarioFiles } from '../scenarios/index.ts'
import type { TargetFolders } from './carry/target.ts'
import { beginImport, endImport, refuseOriginal, type StoragePlaces } from './detect.ts'
import { importReef, type ImportParts, type ImportReport, type ImportSource } from './import.ts'

export interface ImportRequest extends ImportSource {
  /** A configured recipe; null for the default one. */
  readonly recipe: string | null
  /** Checks everything and writes nothing. */
  readonly isTrial: boolean
}

export type ImportProgress = ImportParts['progress']

/** What an import needs of the service's configuration. */
export interface ImportServices extends Pick<ImportParts, 'recipe' | 'newId'> {
  readonly storage: StoragePlaces & { readonly record_backend: string; readonly keep_raw_streams: boolean }
  openStore(): Promise<Store>
  openContents(): Promise<ContentStore>
  filesOf(store: Store): ScenarioFiles
}

export async function importInto(services: ImportServices, request: ImportRequest, progress: ImportProgress): Promise<ImportReport> {
  const { storage, recipe, newId } = services
  if (storage.record_backend === 'memory')
    throw invalid('memory_backend', 'storage.record_backend is memory, which ends with this command; set it to sqlite')
  await refuseOriginal(storage)
  const common = { source: request, recipe, keepRaw: storage.keep_raw_streams, newId, progress }
  if (request.isTrial) return importReef({ ...common, places: null, begun: () => Promise.resolve() })
  const store = await services.openStore()
  try {
    const contents = await services.openContents()
    try {
      const places = { store, contents, writeModel: modelWriter(services.filesOf(store)) }
      const report = await importReef({ ...common, places, begun: () => beginImport(storage) })
      await endImport(storage)
      return report
    } finally {
      await contents.close()
    }
  } finally {
    await store.close()
  }
}

/** Settings changed after an import are kept when it runs again. */
function modelWriter(files: ScenarioFiles): TargetFolders['writeModel'] {
  return async (created, settings) => {
    if ((await files.readModel(created)) === null) await files.writeModel(created, settings)
  }
}
