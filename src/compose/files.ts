/** What scenarios keep beside the rows: in a folder of this machine, or with the store where all gateways share that. */
import type { LoadedConfig } from '../config/index.ts'
import type { Store } from '../contract/index.ts'
import { ScenarioFiles } from '../scenarios/index.ts'
import { openDocuments, sealingOf } from './sealed-documents.ts'

export const openScenarioFiles = (loaded: LoadedConfig, store: Pick<Store, 'documents'>): ScenarioFiles =>
  new ScenarioFiles(loaded.config.storage.agent_record_dir, { documents: openDocuments(loaded, store), sealing: sealingOf(loaded) })
