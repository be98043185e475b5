/** The settings of the postgres store. */
import { readFileSync } from 'node:fs'
import { readSealSettings, type SealSettings } from '../common/seal.ts'
import { addressesIn } from '../../../src/kit/index.ts'
import { invalid, RECORD_CAPACITY_BYTES_DEFAULT, type JsonObject } from '../../../src/contract/index.ts'

const KNOWN: ReadonlySet<string> = new Set([
  'directory',
  'capacity_bytes',
  'url',
  'schema',
  'connections',
  'search',
  'secret_key',
  'encrypt',
])
const CONNECTIONS_DEFAULT = 8
const CONNECTIONS_MAX = 200
const PORT = 5432
const URL_PARAMETERS = ['host', 'sslmode', 'sslrootcert']
const TLS_MODES = ['disable', 'require', 'verify-full'] as const
const URL_EXAMPLE = 'postgres://user@host:5432/database'

type TlsMode = (typeof TLS_MODES)[number]

export interface DatabaseHost {
  /** A name, an address, or the folder of a socket. */
  readonly host: string
  readonly port: number
}

interface DatabaseAddress {
  /** The primary is one of them; which one may change. */
  readonly hosts: readonly [DatabaseHost, ...DatabaseHost[]]
  readonly database: string
  /** Absent: from the environment, as psql does. */
  readonly user?: string
  readonly password?: string
  readonly tls: TlsMode
  /** The certificate in PEM of who signs for the server; absent: those that Node trusts. */
  readonly authority?: string
}

export interface PostgresSettings extends SealSettings {
  readonly address: DatabaseAddress
  /** Where the tables lie in the database. */
  readonly schema: string
  readonly connections: number
  readonly capacityBytes: number
  /** False: no index is kept, and nothing can be searched. */
  readonly isSearched: boolean
}

export function readSettings(config: JsonObject): PostgresSettings {
  const stray = Object.keys(config).find((key) => !KNOWN.has(key))
  if (stray !== undefined)
    throw invalid(
      'store_config',
      `the postgres store knows no setting "${stray}"; storage.record_settings may have schema, connections and search`,
    )
  const seal = readSealSettings(config)
  return {
    address: addressIn(config),
    schema: schemaIn(config),
    connections: connectionsIn(config),
    capacityBytes: capacityIn(config),
    ...seal,
    isSearched: searchIn(config, seal),
  }
}

function addressIn({ url }: JsonObject): DatabaseAddress {
  if (typeof url !== 'string' || url === '')
    throw invalid('store_config', `the postgres store needs storage.record_database_url, such as ${URL_EXAMPLE}`)
  const [address, ...others] = addressesIn(url)
  if (address === undefined || !/^postgres(?:ql)?:$/.test(address.protocol))
    throw invalid('store_config', `storage.record_database_url must be the whole address of a database, such as ${URL_EXAMPLE}`)
  const stray = [...address.searchParams.keys()].find((key) => !URL_PARAMETERS.includes(key))
  if (stray !== undefined)
    throw invalid('store_config', `storage.record_database_url knows no parameter "${stray}"; it knows ${URL_PARAMETERS.join(', ')}`)
  const database = decodeURIComponent(address.pathname.slice(1))
  if (database === '') throw invalid('store_config', `storage.record_database_url names no database; add it, as in ${URL_EXAMPLE}`)
  const hosts = [hostOf(address), ...others.map(hostOf)] as const
  const [user, password] = [decodeURIComponent(address.username), decodeURIComponent(address.password)]
  const certificate = address.searchParams.get('sslrootcert')
  return {
    hosts,
    database,
    ...(user !== '' && { user }),
    ...(password !== '' && { password }),
    tls: tlsIn(address.searchParams.get('sslmode'), hosts),
    ...(certificate !== null && { authority: readCertificate(certificate) }),
  }
}

function hostOf({ searchParams, hostname, port }: URL): DatabaseHost {
  const host = searchParams.get('host') ?? decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1')
  return { host: host === '' ? 'localhost' : host, port: port === '' ? PORT : Number(port) }
}

/** What leaves the machine is encrypted, and the server's certificate checked, unless the address says otherwise. */
function tlsIn(mode: string | null, hosts: readonly DatabaseHost[]): TlsMode {
  if (mode === null) return hosts.every(({ host }) => isThisMachine(host)) ? 'disable' : 'verify-full'
  const known = TLS_MODES.find((each) => each === mode)
  if (known === undefined) throw invalid('store_config', `sslmode of storage.record_database_url must be one of ${TLS_MODES.join(', ')}`)
  return known
}

const isThisMachine = (host: string): boolean => host.startsWith('/') || ['localhost', '127.0.0.1', '::1'].includes(host)

function readCertificate(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw invalid('store_config', 'sslrootcert of storage.record_database_url names a file that cannot be read; name a PEM file')
  }
}

/** It becomes part of statements and of the name of a channel. */
function schemaIn({ schema = 'svc' }: JsonObject): string {
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith('pg_'))
    throw invalid('store_config', 'schema must be a name of small letters, digits and _, at most 40, that does not begin with pg_')
  return schema
}

function connectionsIn({ connections = CONNECTIONS_DEFAULT }: JsonObject): number {
  if (typeof connections !== 'number' || !Number.isInteger(connections) || connections < 2 || connections > CONNECTIONS_MAX)
    throw invalid('store_config', `connections must be a whole number from 2 to ${CONNECTIONS_MAX}`)
  return connections
}

function capacityIn({ capacity_bytes = RECORD_CAPACITY_BYTES_DEFAULT }: JsonObject): number {
  if (typeof capacity_bytes !== 'number' || !(capacity_bytes >= 0))
    throw invalid('store_config', 'capacity_bytes must be a number of bytes, 0 or more')
  return capacity_bytes
}

function searchIn({ search }: JsonObject, { encrypts }: SealSettings): boolean {
  if (search === undefined) return !encrypts
  if (typeof search !== 'boolean') throw invalid('store_config', 'search must be true or false; false keeps no index of the words')
  if (search && encrypts)
    throw invalid('store_config', 'search must be false where bodies are encrypted, since the index would hold their words; leave it out')
  return search
}
