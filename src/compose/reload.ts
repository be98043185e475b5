/** Takes a configuration that was read again into a running service: whole where it is valid, and not at all where it is not. */
import { ConfigProblem, reloadConfig, type LoadedConfig } from '../config/index.ts'
import type { Log, TlsPair } from '../http/index.ts'
import { Lane, wordsOf } from '../kit/index.ts'
import { readTls } from './tls.ts'

interface ReloadNeeds {
  /** What the service was started with. */
  readonly loaded: LoadedConfig
  readonly tls: TlsPair | null
  readonly log: Log
  /** Resolves once it is in force in every thread. Where it throws, nothing has changed. */
  readonly apply: (loaded: LoadedConfig, tls: TlsPair | null, before: LoadedConfig) => Promise<void>
}

/** One reload at a time; each says in one line what it did. */
export function makeReload({ log, apply, ...started }: ReloadNeeds): (read: () => Promise<LoadedConfig>) => Promise<void> {
  const lane = new Lane()
  let { loaded, tls } = started
  const reload = async (read: () => Promise<LoadedConfig>): Promise<void> => {
    const { applied, needsRestart, ...next } = reloadConfig(loaded, await read())
    const pair = await readTls(next.loaded)
    const isRenewed = pair?.certificate !== tls?.certificate || pair?.key !== tls?.key
    await apply(next.loaded, pair, loaded)
    ;[loaded, tls] = [next.loaded, pair]
    const changed = isRenewed && !applied.includes('svc.tls') ? [...applied, 'svc.tls'] : [...applied]
    log.write(needsRestart.length === 0 ? 'info' : 'warn', 'reloaded', {
      applied: changed,
      needs_restart: [...needsRestart],
      ...(pair !== null && { certificate_until: new Date(pair.expiresAt * 1000).toISOString() }),
    })
  }
  return (read) =>
    lane.run(() =>
      reload(read).catch((error: unknown) =>
        log.write('error', 'reload_failed', { message: 'the configuration stays as it was', problems: problemsOf(error) }),
      ),
    )
}

const problemsOf = (error: unknown): string[] => (error instanceof ConfigProblem ? [...error.problems] : [wordsOf(error)])
