/** What a person reads when something is wrong with the database or the way to it: one line each, without the password. */
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, statSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { create, record } from '../../../conformance/store-samples.ts'
import { ENV, isRefusal, type Refusal, type Store } from '../../../src/contract/index.ts'
import { fillDisk, mountDisk, temporaryFolder } from '../../../test/support/folder.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import postgres from './index.ts'
import { checkServer } from './migrate.ts'
import { remarksOf } from './remarks.ts'

const CERTIFICATE = 'server.crt'
const BODY_BYTES = 256 * 1024
const ATTEMPTS_MAX = 400

/** One that takes passwords and no TLS; one that takes TLS alone, and few connections. */
let plain: PostgresServer
let strict: PostgresServer
beforeAll(async () => {
  plain = await startPostgres({ settings: { fsync: 'off' } })
  strict = await startPostgres({
    settings: { fsync: 'off', max_connections: 5, superuser_reserved_connections: 0, ssl: 'on', max_wal_senders: 0 },
    access: ['local all all scram-sha-256', 'hostssl all all 127.0.0.1/32 scram-sha-256'],
    prepare: makeCertificate,
  })
})
afterAll(() => {
  plain.stop()
  strict.stop()
})

function makeCertificate(data: string): void {
  const files = ['-keyout', join(data, 'server.key'), '-out', join(data, CERTIFICATE)]
  const kind = ['req', '-new', '-x509', '-days', '2', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', [...kind, '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', ...files], { stdio: 'pipe' })
  const { uid, gid } = statSync(data)
  chownSync(join(data, 'server.key'), uid, gid)
}

async function open(url: string, more: Readonly<Record<string, string | number>> = {}): Promise<Store> {
  const store = await postgres.plugin.make({ url, connections: 2, ...more })
  onTestFinished(() => store.close())
  return store
}

/** What opening it is refused with, as a person reads it. */
async function refusalOf(opening: Promise<unknown>): Promise<string> {
  const error: unknown = await opening.then(
    () => new Error('it was opened'),
    (reason: unknown) => reason,
  )
  if (!isRefusal(error)) throw error
  expect(error.message).not.toContain('password-of')
  expect(error.message).not.toContain('\n')
  return `${error.code}: ${error.message}`
}

// First, since what was loaded once stays.
it('a store that cannot be opened says why when what it runs on is not installed', async () => {
  vi.stubEnv(ENV.stores, temporaryFolder())
  expect(await refusalOf(open(plain.url))).toContain(
    'store_not_installed: the postgres store is not installed on this machine; install it with: svc store add postgres',
  )
  vi.unstubAllEnvs()
})

describe('what an operator should know of the server', () => {
  it('is that it has no synchronous standby, does not sync, or takes too few connections', async () => {
    const store = await open(plain.url, { schema: 'known', connections: 2 })
    expect((await store.remarks?.())?.map(({ found }) => found)).toEqual([
      'PostgreSQL has no synchronous standby: what was acknowledged is lost with its disk',
      'fsync of PostgreSQL is off: what was acknowledged is lost when its machine stops',
    ])
    const server = { standbys: 'one', fsync: 'on', full_page_writes: 'on', connections: 20, used: 0 }
    expect(remarksOf(server, 20)).toEqual([])
    expect(remarksOf({ ...server, used: 12 }, 9)).toEqual([
      {
        found: 'PostgreSQL takes 20 connections, of which 12 are used, and one more gateway wants 9',
        fix: 'raise its max_connections, or lower storage.record_settings.connections or svc.listeners',
      },
    ])
  })
})

describe('a store that cannot be opened says why', () => {
  it.each([
    ['without an address', {}, 'needs storage.record_database_url, such as postgres://'],
    ['with an address of something else', { url: 'http://host/db' }, 'must be the whole address of a database'],
    ['without a database', { url: 'postgres://host' }, 'names no database'],
    ['with a parameter it does not know', { url: 'postgres://host/db?ssl=1' }, 'knows no parameter "ssl"'],
    ['with a mode of TLS that there is not', { url: 'postgres://host/db?sslmode=prefer' }, 'must be one of disable, require, verify-full'],
    ['with a certificate that is not there', { url: 'postgres://host/db?sslrootcert=/none' }, 'names a file that cannot be read'],
    ['with a setting it does not know', { url: 'postgres://host/db', pool: 3 }, 'knows no setting "pool"'],
    ['with a name that is no schema', { url: 'postgres://host/db', schema: 'a"b' }, 'schema must be a name'],
    ['with one connection', { url: 'postgres://host/db', connections: 1 }, 'connections must be a whole number from 2'],
  ])('%s', async (_, config, words) => {
    expect(await refusalOf(Promise.resolve(config).then((given) => postgres.plugin.make(given)))).toContain(words)
  })

  it('when nothing answers at the address', async () => {
    expect(await refusalOf(open('postgres://tester@127.0.0.1:1/postgres'))).toMatch(
      /^store_unreachable: no PostgreSQL answers; check that it runs/,
    )
    expect(await refusalOf(open('postgres://tester@localhost/postgres?host=/nowhere'))).toMatch(/^store_unreachable:/)
  })

  it('when the password is wrong or missing, or the database is not there', async () => {
    expect(await refusalOf(open(plain.url.replace('the-password', 'no-password')))).toMatch(
      /^store_unauthorized: PostgreSQL refused the password;/,
    )
    expect(await refusalOf(open(plain.url.replace(/:the-password[^@]*/, '')))).toMatch(
      /^store_unauthorized: PostgreSQL wants a password, and none is given;/,
    )
    expect(await refusalOf(open(plain.url.replace('/postgres?', '/none?')))).toMatch(
      /^store_unauthorized: PostgreSQL has no such database;/,
    )
  })

  it('and leaves no link open, for whose end the server would wait', async () => {
    await refusalOf(open(plain.url.replace(/:the-password[^@]*/, '')))
    plain.sql('CREATE DATABASE brief')
    plain.sql('DROP DATABASE brief', `dbname=postgres options='-c statement_timeout=20s'`)
  })

  it('when its user lacks a right', async () => {
    plain.sql(`CREATE ROLE weak LOGIN PASSWORD 'the-password-of-the-weak'`)
    const url = plain.url.replace(/tester:.*@/, 'weak:the-password-of-the-weak@')
    expect(await refusalOf(open(url))).toMatch(/^store_forbidden: the user of storage.record_database_url lacks a right; .*GRANT CREATE/)
    plain.sql('CREATE SCHEMA others AUTHORIZATION tester')
    plain.sql('GRANT USAGE ON SCHEMA others TO weak')
    expect(await refusalOf(open(url, { schema: 'others' }))).toMatch(/^store_forbidden: .*lacks a right/)
    plain.sql('CREATE SCHEMA given AUTHORIZATION weak')
    await create(await open(url, { schema: 'given' }), 'a')
  })

  it('when the server is too old', async () => {
    // No older server is at hand: what one says of itself stands in for it.
    const old = Promise.resolve({ number: '140011', shown: '14.11' })
    expect(await refusalOf(old.then(checkServer))).toBe('old_server: this is PostgreSQL 14.11; the store needs 15 or newer')
  })

  it('when a newer version wrote it', async () => {
    await (await open(plain.url, { schema: 'newer' })).close()
    plain.sql('UPDATE newer.format SET version = 99')
    expect(await refusalOf(open(plain.url, { schema: 'newer' }))).toMatch(
      /^newer_store: the record store has format 99, this version reads up to/,
    )
  })

  it('when TLS is demanded, not spoken, or by a certificate that nobody trusts; and opens with one that is named', async () => {
    expect(await refusalOf(open(strict.networkUrl))).toMatch(
      /^store_tls: PostgreSQL takes connections with TLS only; add \?sslmode=verify-full/,
    )
    expect(await refusalOf(open(`${strict.networkUrl}?sslmode=verify-full`))).toMatch(
      /^store_tls: the certificate of PostgreSQL is not trusted .*sslrootcert/,
    )
    expect(await refusalOf(open(`${plain.networkUrl}?sslmode=verify-full`))).toMatch(/^store_tls: PostgreSQL does not speak TLS;/)
    const certificate = join(strict.folder, 'data', CERTIFICATE)
    const store = await open(`${strict.networkUrl}?sslmode=verify-full&sslrootcert=${certificate}`)
    await create(store, 'a')
  })

  it('when the server has no connection left', async () => {
    const opened = await open(strict.url)
    await Promise.all([opened.scenarios(), opened.scenarios()])
    const refusals: string[] = []
    for (let asked = 0; asked < 2; asked += 1) {
      const another = open(strict.url)
      const [end] = await Promise.allSettled([another.then((store) => Promise.all([store.scenarios(), store.scenarios()]))])
      if (end.status === 'rejected') refusals.push(await refusalOf(Promise.reject(end.reason)))
    }
    expect(refusals.at(-1)).toMatch(/^store_busy: PostgreSQL has no connection left; raise its max_connections, or lower/)
  })
})

describe('a server that answers and refuses writes', () => {
  const OWNER = 'the-password-of-the-owner'
  it.each([
    [
      'since a right was taken',
      'store_forbidden',
      `REVOKE INSERT ON refusing.record FROM keeper`,
      'GRANT INSERT ON refusing.record TO keeper',
    ],
    [
      'since its schema is somebody else’s',
      'store_forbidden',
      'REVOKE ALL ON SCHEMA refusing FROM keeper',
      'GRANT ALL ON SCHEMA refusing TO keeper',
    ],
    [
      'since it is read-only',
      'store_read_only',
      'ALTER ROLE keeper SET default_transaction_read_only = on',
      'ALTER ROLE keeper SET default_transaction_read_only = off',
    ],
  ])('%s: that is said until it is over', async (_, code, refuse, allow) => {
    plain.sql(`CREATE ROLE keeper LOGIN PASSWORD '${OWNER}'`)
    plain.sql('CREATE SCHEMA refusing AUTHORIZATION keeper')
    const cut = (): string => plain.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keeper'`)
    const store = await postgres.plugin.make({
      url: plain.url.replace(/tester:.*@/, `keeper:${OWNER}@`),
      connections: 2,
      schema: 'refusing',
    })
    try {
      const a = await create(store, 'a')
      await a.append([record('first')])
      // An owner has every right that is not his own to take.
      plain.sql('ALTER SCHEMA refusing OWNER TO tester')
      plain.sql('GRANT ALL ON SCHEMA refusing TO keeper')
      plain.sql(refuse)
      cut()
      const troubles: (string | null)[] = []
      store.writing?.onChange((trouble) => troubles.push(trouble?.code ?? null))
      expect(await refusalOf(a.append([record('refused')]))).toContain(`${code}: `)
      // Beats of the membership pass meanwhile.
      for (let look = 0; look < 5; look += 1) {
        expect((await store.writing?.check())?.code).toBe(code)
        await new Promise((resolve) => void setTimeout(resolve, 300))
      }
      expect(troubles).toEqual([code])
      plain.sql(allow)
      cut()
      await expect.poll(() => store.writing?.check()).toBeNull()
      await a.append([record('last')])
    } finally {
      await store.close()
      plain.sql('DROP SCHEMA refusing CASCADE')
      plain.sql('DROP OWNED BY keeper')
      plain.sql('DROP ROLE keeper')
    }
  })
})

describe('a server whose disk is full', () => {
  it('refuses what it cannot keep, goes on reading, and recovers when space returns', async () => {
    const disk = mountDisk('size=40m')
    const place = join(disk, 'space')
    mkdirSync(place)
    const { uid, gid } = statSync(plain.folder)
    chownSync(place, uid, gid)
    plain.sql(`CREATE TABLESPACE small LOCATION '${place}'`)
    plain.sql('CREATE DATABASE small TABLESPACE small')
    const store = await postgres.plugin.make({ url: plain.url.replace('/postgres?', '/small?'), connections: 2 })
    try {
      const a = await create(store, 'a')
      await a.append([record('first')])
      const troubles: (string | null)[] = []
      store.writing?.onChange((trouble) => troubles.push(trouble?.code ?? null))
      const free = fillDisk(disk)
      const refusal = await appendUntilFull(store)
      expect([refusal.kind, refusal.code, refusal.message]).toEqual([
        'unavailable',
        'disk_full',
        'the disk of PostgreSQL is full; free space and send the request again',
      ])
      expect((await a.get('first'))?.sequence).toBe(1)
      expect((await store.writing?.check())?.code).toBe('disk_full')
      free()
      await expect.poll(() => store.writing?.check()).toBeNull()
      await a.append([record('last', { payload: randomBody() })])
      expect(troubles).toEqual(['disk_full', null])
      expect(await store.verify(() => undefined)).toEqual([])
    } finally {
      await store.close()
      plain.sql('DROP DATABASE small WITH (FORCE)')
      plain.sql('DROP TABLESPACE small')
    }
  })
})

const randomBody = (): Uint8Array => Buffer.from(JSON.stringify({ random: randomBytes(BODY_BYTES).toString('base64') }))

async function appendUntilFull(store: Store): Promise<Refusal> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    try {
      await store.scenario('a').append([record(`r${attempt}`, { payload: randomBody() })])
    } catch (error) {
      if (isRefusal(error)) return error
      throw error
    }
  }
  throw new Error('the disk never filled up')
}
