/** Forgetting somebody while the service runs, on the store and the contents that it has open. */
import type { LoadedConfig } from '../config/index.ts'
import { forgetPerson } from '../forgetting/index.ts'
import type { HttpServices } from '../http/index.ts'
import type { Registry, Services } from '../scenarios/index.ts'
import { clock } from './traffic.ts'

const RUNNING = 'steps that run now: what they read before may be in what they write; forget again once they are over'
const ELSEWHERE = 'backups and exports: svc forget looks at those that --backup and --export name'

export function makeForget(
  { config }: LoadedConfig,
  { store, contents, files }: Pick<Services, 'store' | 'contents' | 'files'>,
  registry: Pick<Registry, 'allLoaded'>,
): HttpServices['forget'] {
  return (body, actor) =>
    forgetPerson(
      {
        recordsFolder: config.storage.agent_record_dir,
        recipes: config.recipes,
        isEncrypted: config.storage.encrypt_bodies,
        backend: config.storage.record_backend,
        forgetRecords: async (order) => (store.forget === undefined ? null : [await store.forget(order)]),
        useStore: (work) => work(store, files),
        useContents: (work) => work(contents),
        unsearched: () => [...(registry.allLoaded.some((scenario) => scenario.running().length > 0) ? [RUNNING] : []), ELSEWHERE],
        actor,
        clock,
      },
      body,
    )
}
