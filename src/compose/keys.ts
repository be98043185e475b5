/** The key that signs releases: in a file beside the records, or in the database where all gateways share it. */
import type { LoadedConfig } from '../config/index.ts'
import { DEPLOYMENT_OWNER, type Store } from '../contract/index.ts'
import { checkKey, openSigner, rotateShownKey, showKey, type DeploymentSigner, type SharedPlace, type ShownKey } from '../keys/index.ts'
import { sealingOf } from './sealed-documents.ts'
import { clock } from './traffic.ts'

export function openDeploymentKey(loaded: LoadedConfig, store: Store): Promise<DeploymentSigner> {
  const { record_backend, agent_record_dir } = loaded.config.storage
  return openSigner(record_backend === 'memory' ? null : agent_record_dir, placeIn(loaded, store))
}

/** Throws where a start would; makes nothing. */
export async function checkDeploymentKey(loaded: LoadedConfig, store: Store): Promise<void> {
  const { record_backend, agent_record_dir } = loaded.config.storage
  if (record_backend !== 'memory') await checkKey(agent_record_dir, placeIn(loaded, store))
}

export const readKey = (loaded: LoadedConfig, open: () => Promise<Store>): Promise<ShownKey> =>
  withPlace(loaded, open, (shared) => showKey(loaded.config.storage.agent_record_dir, shared))

export const rotateKey = (loaded: LoadedConfig, open: () => Promise<Store>): Promise<ShownKey> =>
  withPlace(loaded, open, (shared) => rotateShownKey(loaded.config.storage.agent_record_dir, shared, clock()))

/** Null where it is a file: the key is not put into a database in clear. */
function placeIn(loaded: LoadedConfig, { documents }: Pick<Store, 'documents'>): SharedPlace | null {
  const sealing = sealingOf(loaded)
  return documents === undefined || sealing === null ? null : { documents: documents(DEPLOYMENT_OWNER), sealing }
}

/** A store in a file may be in use by a service; its key is in a file too, so it is not opened. */
async function withPlace<T>(
  loaded: LoadedConfig,
  open: () => Promise<Store>,
  work: (shared: SharedPlace | null) => Promise<T>,
): Promise<T> {
  const { record_backend, secret_key } = loaded.config.storage
  if (record_backend === 'sqlite' || secret_key === null) return work(null)
  const store = await open()
  try {
    return await work(placeIn(loaded, store))
  } finally {
    await store.close()
  }
}
