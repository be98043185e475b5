/** Settings of a service under test, isolated from the machine's environment and local models. */
import { join } from 'node:path'
import { loadConfig, readCommandLine, type LoadedConfig } from '../../src/config/index.ts'

/** `section.key` to value, as on the command line; null leaves a usual one out. */
export type Settings = Readonly<Record<string, string | number | boolean | null>>

/** Where a service under test keeps its data. */
export interface DataPlace {
  readonly records: string
  readonly repository: string
}

export function dataPlaceIn(folder: string): DataPlace {
  return { records: join(folder, 'records'), repository: join(folder, 'artifacts.git') }
}

/** How many threads accept connections, whatever the machine has; `TEST_LISTENERS=2 npm test -- test/spec` runs a suite with two. */
const LISTENERS = Number(process.env['TEST_LISTENERS'] ?? 1)

/** Threads cannot share a store in memory. */
export const USUAL_BACKEND = LISTENERS === 1 ? 'memory' : 'sqlite'

/** In front of that provider, on any free port. */
export function settingsOf({ records, repository }: DataPlace, upstreamUrl: string): Settings {
  return {
    'svc.port': 0,
    'svc.listeners': LISTENERS,
    'inference.runtime': 'provider',
    'inference.upstream_url': upstreamUrl,
    'storage.agent_record_dir': records,
    'storage.artifact_repository': repository,
  }
}

export function argumentsOf(settings: Settings): readonly string[] {
  return Object.entries(settings).flatMap(([key, value]) => (value === null ? [] : [`--${key}`, String(value)]))
}

export function loadArguments(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<LoadedConfig> {
  return loadConfig({ commandLine: readCommandLine(args), environment, probe: () => Promise.resolve(null) })
}
