/** What the configured store is made with. */
import type { LoadedConfig } from '../config/index.ts'
import { UNFINISHED_COPY, unfinishedCopy, type ForgetOrder, type Forgotten, type JsonObject, type Store } from '../contract/index.ts'
import type { Load } from './load.ts'

/** An address that is not set is not passed on: a store may refuse settings that it does not know. */
export function storeSettings({ config: { storage } }: LoadedConfig): JsonObject {
  const { agent_record_dir: directory, record_capacity_bytes: capacity_bytes, record_database_url: url, record_settings } = storage
  return { ...record_settings, directory, capacity_bytes, ...(url !== null && { url }) }
}

/** Of a store that is being copied to a part may be missing. */
export async function refuseUnfinishedCopy(store: Store): Promise<void> {
  if ((await store.scenario(UNFINISHED_COPY).head()) !== null) throw unfinishedCopy()
}

/** Removes a person's records from the configured store, which nobody may have open. Null where the store cannot. */
export async function forgetIn(loaded: LoadedConfig, load: Load, order: ForgetOrder): Promise<Forgotten | null> {
  const plugin = await load('store', loaded.config.storage.record_backend)
  return (await plugin.forget?.(storeSettings(loaded), order)) ?? null
}
