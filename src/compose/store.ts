/** What the configured store is made with. */
import type { LoadedConfig } from '../config/index.ts'
import type { JsonObject } from '../contract/index.ts'

/** An address that is not set is not passed on: a store may refuse settings that it does not know. */
export function storeSettings({ config: { storage } }: LoadedConfig): JsonObject {
  const { agent_record_dir: directory, record_capacity_bytes: capacity_bytes, record_database_url: url, record_settings } = storage
  return { ...record_settings, directory, capacity_bytes, ...(url !== null && { url }) }
}
