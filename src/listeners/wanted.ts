/** Whether listener threads accept the connections, and how many. */
import { availableParallelism } from 'node:os'
import type { LoadedConfig } from '../config/index.ts'
import type { Store } from '../contract/index.ts'
import { Listeners, type ListenerOptions } from './listeners.ts'

interface ListenersNeeds extends Pick<ListenerOptions, 'entry' | 'log' | 'metrics' | 'limits' | 'group'> {
  readonly store: Store
  /** Whether plug-ins were given to the main thread that another thread cannot load. */
  readonly hasOwnPlugins: boolean
}

/** Null where the main thread accepts the connections itself: by the configuration, or since other threads could not do its work. */
export function listenersOf(loaded: LoadedConfig, { store, hasOwnPlugins, ...others }: ListenersNeeds): Listeners | null {
  const { storage } = loaded.config
  const { runtime } = loaded.upstream
  const wanted = listenersWanted(loaded)
  if (wanted === 1) return null
  const alone = (reason: string): null => {
    others.log.write('info', 'one_listener', { reason, configured: wanted })
    return null
  }
  if (process.platform !== 'linux') return alone('threads share a port on Linux only')
  const share = store.share?.bind(store)
  if (share === undefined) return alone(`no other thread can use the store ${storage.record_backend}`)
  if (runtime !== 'provider') return alone(`only one thread can use the runtime ${runtime}`)
  if (hasOwnPlugins) return alone('plug-ins were given to this thread alone')
  return new Listeners({ wanted, share, ...others })
}

/** More of them wait for the one thread that writes records. */
const USUAL_LISTENERS_MAX = 8

/** Each thread takes connections of a database: there are several only where they are asked for. */
export const listenersWanted = ({ config: { svc, storage } }: LoadedConfig): number =>
  svc.listeners ?? (storage.record_database_url === null ? usualListeners() : 1)

const usualListeners = (): number => Math.min(Math.max(availableParallelism() - 1, 1), USUAL_LISTENERS_MAX)
