/** The data folder of a test's service, and how it is started: as a command or in this process. */
import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { Damage } from '../../src/contract/index.ts'
import { startService, type RunningService } from '../../src/main.ts'
import { temporaryFolder } from './folder.ts'
import { argumentsOf, dataPlaceIn, loadArguments, settingsOf, type DataPlace, type Settings } from './settings.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export interface Place extends DataPlace {
  readonly upstream: Upstream
  /** The settings of the service here, as on the command line. */
  readonly args: (more?: Settings) => readonly string[]
  /** In this process; stopped after the test at the latest. */
  readonly start: (options?: { readonly settings?: Settings; readonly graceSeconds?: number }) => Promise<RunningService>
  /** Problems of the records, when no service runs. */
  readonly damage: () => Promise<readonly Damage[]>
  /** The refs of the artifact repository: name to commit. */
  readonly refs: () => ReadonlyMap<string, string>
}

const silent = { write: () => undefined, flush: () => undefined }

export async function makePlace(folder = temporaryFolder()): Promise<Place> {
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const data = dataPlaceIn(folder)
  const { records, repository } = data
  const args: Place['args'] = (more = {}) => argumentsOf({ ...settingsOf(data, upstream.url), ...more })
  return {
    upstream,
    records,
    repository,
    args,
    async start({ settings = {}, graceSeconds } = {}) {
      const service = await startService(await loadArguments(args(settings)), {
        log: silent,
        ...(graceSeconds !== undefined && { graceSeconds }),
      })
      onTestFinished(() => service.close())
      return service
    },
    async damage() {
      const store = await sqlite.plugin.make({ directory: records })
      try {
        return await store.verify(() => undefined)
      } finally {
        await store.close()
      }
    },
    refs() {
      const printed = execFileSync('git', [`--git-dir=${repository}`, 'for-each-ref', '--format=%(refname) %(objectname)']).toString()
      return new Map(printed.split('\n').flatMap((line) => (line === '' ? [] : [[line.split(' ')[0] ?? '', line.split(' ')[1] ?? '']])))
    },
  }
}
