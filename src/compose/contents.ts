/** Opens the configured releases. */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { isBucket, type ContentStore } from '../contract/index.ts'
import type { Load } from './load.ts'
import { proxySetting } from './runtime.ts'

export async function openContents({ config: { storage }, proxies }: LoadedConfig, load: Load): Promise<ContentStore> {
  const { artifact_repository: repository, agent_record_dir, s3 } = storage
  const common = { repository, cache: join(agent_record_dir, '..', 'artifacts-cache') }
  // Records in memory are lost with the process, so their releases are kept in memory too.
  if (storage.record_backend === 'memory') return (await load('contents', 'memory')).make(common)
  // Records in a database may be those of several gateways, which then share a remote repository as well.
  if (!isBucket(repository)) return (await load('contents', 'git')).make({ ...common, shared: storage.record_database_url !== null })
  return (await load('contents', 's3')).make({ ...common, s3: { ...s3 }, ...proxySetting(proxies) })
}
