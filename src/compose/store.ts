/** What the configured store is made with. */
import { hostname } from 'node:os'
import type { LoadedConfig } from '../config/index.ts'
import {
  invalid,
  UNFINISHED_COPY,
  unfinishedCopy,
  type ForgetOrder,
  type Forgotten,
  type JsonObject,
  type Kinds,
  type Store,
} from '../contract/index.ts'
import type { Load } from './load.ts'

/** What is not set, and the key of a store that encrypts nothing, is not passed on: a store may refuse settings that it does not know. */
export function storeSettings({ config: { storage } }: Pick<LoadedConfig, 'config'>, plugin: Pick<Kinds['store'], 'encrypts'>): JsonObject {
  const { agent_record_dir: directory, record_capacity_bytes: capacity_bytes, record_database_url: url, record_settings } = storage
  const { secret_key, encrypt_bodies: encrypt, record_backend } = storage
  if (encrypt && plugin.encrypts !== true)
    throw invalid('store_config', `storage.encrypt_bodies: the store ${record_backend} encrypts nothing; sqlite and postgres do`)
  if (encrypt && secret_key === null)
    throw invalid(
      'store_config',
      'storage.encrypt_bodies needs a key: set SVC_SECRET_KEY (storage.secret_key) to what openssl rand -base64 32 prints, and keep a copy of it, since nothing is read without it',
    )
  const seal = plugin.encrypts === true && secret_key !== null && { secret_key, encrypt }
  return { ...record_settings, directory, capacity_bytes, ...(url !== null && { url }), ...seal }
}

/** Opens the store that the configuration names. */
export async function makeStore(loaded: LoadedConfig, load: Load): Promise<Store> {
  const plugin = await load('store', loaded.config.storage.record_backend)
  return plugin.make(storeSettings(loaded, plugin))
}

/** Called once the changes of scenarios are followed: the gateways that share the store wait for each other when a head is moved. */
export const joinMembers = async ({ config: { svc } }: Pick<LoadedConfig, 'config'>, store: Store): Promise<void> =>
  store.members?.join(`${hostname()}:${svc.port}`)

/** Of a store that is being copied to a part may be missing. */
export async function refuseUnfinishedCopy(store: Store): Promise<void> {
  if ((await store.scenario(UNFINISHED_COPY).head()) !== null) throw unfinishedCopy()
}

/** Removes a person's records from the configured store, which nobody may have open. Null where the store cannot. */
export async function forgetIn(loaded: LoadedConfig, load: Load, order: ForgetOrder): Promise<Forgotten | null> {
  const plugin = await load('store', loaded.config.storage.record_backend)
  return (await plugin.forget?.(storeSettings(loaded, plugin), order)) ?? null
}
