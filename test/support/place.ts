/** Where one service of a test keeps its data, and how it is started there: as a command, or in this process. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import { loadConfig, readCommandLine } from '../../src/config/index.ts'
import type { Damage } from '../../src/contract/index.ts'
import { startService, type Service } from '../../src/main.ts'
import { settingsOf } from './command.ts'
import { temporaryFolder } from './folder.ts'
import { startUpstream, type Upstream } from './upstream.ts'

type Settings = Readonly<Record<string, string | number>>

export interface Place {
  readonly upstream: Upstream
  readonly records: string
  readonly repository: string
  /** The settings of the service here, as on the command line. */
  readonly args: (more?: Settings) => readonly string[]
  /** In this process, and stopped with the test at the latest. */
  readonly start: (options?: { readonly settings?: Settings; readonly graceSeconds?: number }) => Promise<Service>
  /** What is wrong with the records, once no service runs. */
  readonly damage: () => Promise<readonly Damage[]>
  /** The refs of the artifact repository: name to commit. */
  readonly refs: () => ReadonlyMap<string, string>
}

const silent = { write: () => undefined, flush: () => undefined }

export async function makePlace(folder = temporaryFolder()): Promise<Place> {
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const [records, repository] = [join(folder, 'records'), join(folder, 'artifacts.git')]
  const base = {
    'svc.port': 0,
    'inference.runtime': 'provider',
    'inference.upstream_url': upstream.url,
    'storage.agent_record_dir': records,
    'storage.artifact_repository': repository,
  }
  const args: Place['args'] = (more = {}) => settingsOf({ ...base, ...more })
  return {
    upstream,
    records,
    repository,
    args,
    async start({ settings = {}, graceSeconds } = {}) {
      const commandLine = readCommandLine(args(settings))
      const loaded = await loadConfig({ commandLine, environment: {}, probe: () => Promise.resolve(null) })
      const service = await startService(loaded, silent, graceSeconds)
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
