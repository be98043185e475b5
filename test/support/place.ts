/** The data folder of a test's service, and how it is started: as a command or in this process. */
import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { Damage } from '../../src/contract/index.ts'
import { startService } from '../../src/main.ts'
import { temporaryFolder } from './folder.ts'
import { argumentsOf, dataPlaceIn, loadArguments, settingsOf, type Settings } from './settings.ts'
import { startUpstream } from './upstream.ts'

export type Place = Awaited<ReturnType<typeof makePlace>>

export async function makePlace(folder = temporaryFolder()) {
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const data = dataPlaceIn(folder)
  const { records, repository } = data
  /** The settings of the service here, as on the command line. */
  const args = (more: Settings = {}): readonly string[] => argumentsOf({ ...settingsOf(data, upstream.url), ...more })
  return {
    upstream,
    records,
    repository,
    args,
    /** In this process; stopped after the test at the latest. */
    async start({ settings = {}, ...options }: { readonly settings?: Settings; readonly graceSeconds?: number } = {}) {
      const log = { write: () => undefined, flush: () => undefined }
      const service = await startService(await loadArguments(args(settings)), { log, trainersGiveWay: false, ...options })
      onTestFinished(() => service.close())
      return service
    },
    damage: () => damageIn(records),
    /** The refs of the artifact repository: name to commit. */
    refs(): ReadonlyMap<string, string> {
      const printed = execFileSync('git', [`--git-dir=${repository}`, 'for-each-ref', '--format=%(refname) %(objectname)']).toString()
      return new Map([...printed.matchAll(/^(\S+) (\S+)$/gm)].map(([, name = '', commit = '']) => [name, commit]))
    },
  }
}

/** Problems of the records, when no service runs. */
export async function damageIn(records: string): Promise<readonly Damage[]> {
  const store = await sqlite.plugin.make({ directory: records })
  const damage = await store.verify(() => undefined)
  await store.close()
  return damage
}
