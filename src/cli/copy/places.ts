/** The two sides of a copy: a folder of SQLite, a PostgreSQL database, or a whole deployment by its configuration file. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig, readCommandLine, type LoadedConfig } from '../../config/index.ts'
import { invalid } from '../../contract/index.ts'
import { addressesIn } from '../../kit/index.ts'
import type { Surroundings } from '../surroundings.ts'

const FORMS = 'sqlite:DIR, postgres://user@host/database, or the configuration file of a deployment'
/** A store that is opened for a copy evicts nothing. */
const CAPACITY_BYTES = Number.MAX_SAFE_INTEGER

export interface Place {
  readonly loaded: LoadedConfig
  /** A configuration names releases too. */
  readonly isDeployment: boolean
  /** Two places with the same one are the same. */
  readonly identity: string
}

export async function readPlace(option: '--from' | '--to', given: string, { environment }: Surroundings): Promise<Place> {
  const load = (args: readonly string[], file?: string): Promise<LoadedConfig> =>
    loadConfig({ ...(file !== undefined && { file }), commandLine: readCommandLine(args), environment, probe: () => Promise.resolve(null) })
  const [, folder] = /^sqlite:(.+)$/.exec(given) ?? []
  if (folder !== undefined) {
    const directory = resolve(folder)
    if (option === '--from' && !existsSync(directory))
      throw invalid('no_store', `${option}: there is no folder ${directory}; name the one with the records`)
    return placeOf(await load(['--storage.agent_record_dir', directory, ...keys({ record_backend: 'sqlite' })]), false)
  }
  if (/^postgres(?:ql)?:\/\//.test(given)) return placeOf(await load(postgresKeys(option, given)), false)
  if (/^[a-z]+:/i.test(given) || !existsSync(given)) throw invalid('no_store', `${option} must be ${FORMS}`)
  return placeOf(await load([], given), true)
}

function postgresKeys(option: string, given: string): readonly string[] {
  const [url] = addressesIn(given)
  if (url === undefined)
    throw invalid('no_store', `${option} must be a whole address, such as postgres://user@host:5432/database?schema=svc`)
  const schema = url.searchParams.get('schema')
  url.searchParams.delete('schema')
  const address = given.replace(/[?#].*$/s, '') + url.search
  return keys({ record_backend: 'postgres', record_database_url: address, ...(schema !== null && { 'record_settings.schema': schema }) })
}

const keys = (storage: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries({ ...storage, record_capacity_bytes: String(CAPACITY_BYTES) }).flatMap(([key, value]) => [`--storage.${key}`, value])

function placeOf(loaded: LoadedConfig, isDeployment: boolean): Place {
  const { record_backend, record_database_url, record_settings, agent_record_dir } = loaded.config.storage
  if (record_backend === 'memory')
    throw invalid('memory_backend', 'storage.record_backend is memory, which ends with its process; name another store')
  const where = record_backend === 'sqlite' ? agent_record_dir : [withoutPassword(record_database_url), record_settings]
  return { loaded, isDeployment, identity: JSON.stringify([record_backend, where]) }
}

function withoutPassword(address: string | null): string | null {
  const hosts = addressesIn(address ?? '')
  const [first] = hosts
  return first === undefined ? address : `${hosts.map(({ host }) => host).join(',')}${first.pathname}${first.search}`
}
