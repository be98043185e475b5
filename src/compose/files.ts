/** What scenarios keep beside the rows: in a folder of this machine, or with the store where all gateways share that. */
import type { LoadedConfig } from '../config/index.ts'
import type { Store } from '../contract/index.ts'
import { Sealing } from '../kit/index.ts'
import { ScenarioFiles } from '../scenarios/index.ts'

export const openScenarioFiles = (loaded: LoadedConfig, { documents }: Pick<Store, 'documents'>): ScenarioFiles =>
  new ScenarioFiles(loaded.config.storage.agent_record_dir, { documents, sealing: sealingOf(loaded) })

/** Null where no key is configured. */
export function sealingOf({ config: { storage } }: LoadedConfig): Sealing | null {
  return storage.secret_key === null ? null : Sealing.read(storage.secret_key)
}
