/** What a person reads when something is wrong with the bucket or the way to it, and what goes on meanwhile. */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import { closeServer, listenOnLoopback } from '../../../test/support/listen.ts'
import { BUCKET, startS3, type S3Server } from '../../../test/support/s3.ts'
import { ownWorld, type Answer, type World } from '../../../test/support/world.ts'
import { cacheFolder, newRepository, openBucket, publish, refusalOf } from './testing/stores.ts'
import plugin from './index.ts'

let server: S3Server
beforeAll(async () => {
  server = await startS3()
})
afterAll(() => server.stop())

const HOUR_MS = 3_600_000

type Behaviour = (asked: IncomingMessage, answer: ServerResponse, pass: () => void) => void

/** Stands before the server, and may do what a bad link or a bad server does. */
async function standBefore(behave: Behaviour): Promise<JsonObject> {
  const target = new URL(server.endpoint)
  const proxy = createServer((asked, answer) => {
    const pass = (): void => {
      const { method, url, headers } = asked
      const passed = request({ host: target.hostname, port: target.port, method, path: url, headers }, (reply) => {
        answer.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(answer)
      })
      passed.on('error', () => answer.destroy())
      asked.pipe(passed)
    }
    behave(asked, answer, pass)
  })
  const port = await listenOnLoopback(proxy)
  onTestFinished(() => closeServer(proxy))
  return { ...server.s3, endpoint: `http://127.0.0.1:${port}` }
}

describe('a bucket that cannot be used says why in one line', () => {
  it.each([
    ['that is none', 's3://', {}, 'bad_repository: repository must be a bucket and a folder in it, such as s3://bucket/folder'],
    ['with a name that is none', 's3://Bad_Name/x', {}, 'bad_repository: repository must be a bucket'],
    ['with a folder that climbs', `s3://${BUCKET}/../x`, {}, 'bad_repository: the folder in the bucket may have letters'],
    ['with half a key', `s3://${BUCKET}`, { access_key_id: null }, 'half of its key is set; set both storage.s3.access_key_id'],
  ])('%s', async (_, repository, s3, words) => {
    const made = Promise.resolve().then(() => plugin.plugin.make({ repository, cache: '/nowhere', s3: { ...server.s3, ...s3 } }))
    expect(await refusalOf(made)).toContain(words)
  })

  it.each([
    [
      'at an address where nothing listens',
      { endpoint: 'http://127.0.0.1:1' },
      /^bucket_unreachable: .*ECONNREFUSED.*storage\.s3\.endpoint/,
    ],
    ['at a host that is not known', { endpoint: 'http://nowhere.invalid' }, /^bucket_unreachable: .*its host name is not known/],
    [
      'with an access key that is not known',
      { access_key_id: 'stranger' },
      /^bucket_unauthorized: the S3 server does not know the access key/,
    ],
    [
      'with a wrong secret key',
      { secret_access_key: 'no-secret' },
      /^bucket_unauthorized: the secret key does not belong to the access key/,
    ],
    ['with https where there is none', { endpoint: 'https://127.0.0.1:PORT' }, /^bucket_tls: the S3 server does not agree on TLS/],
  ])('%s', async (_, wrong, words) => {
    const port = new URL(server.endpoint).port
    const s3 = Object.fromEntries(Object.entries({ ...server.s3, ...wrong }).map(([name, value]) => [name, value.replace('PORT', port)]))
    const said = await refusalOf(openBucket(newRepository(), s3))
    expect(said).toMatch(words)
    expect(said).not.toMatch(/\n|the-secret/)
  })

  it('that is missing', async () => {
    expect(await refusalOf(openBucket('s3://not-there/x', server.s3))).toMatch(/^bucket_missing: there is no such bucket; create it/)
  })

  it('that the key may not write', async () => {
    expect(await refusalOf(openBucket(newRepository(), server.guest))).toMatch(/^bucket_forbidden: the S3 key lacks a right .*s3:PutObject/)
  })

  it('while the clock is an hour off', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS })
    onTestFinished(() => void vi.useRealTimers())
    expect(await refusalOf(openBucket(newRepository(), server.s3))).toMatch(/^bucket_clock: .*set the clock right/)
  })

  it('on a server that ignores conditions', async () => {
    const s3 = await standBefore((_, answer) => answer.writeHead(200, { etag: '"x"' }).end())
    expect(await refusalOf(openBucket(newRepository(), s3))).toMatch(/^bucket_unsupported: the S3 server ignores conditions/)
  })

  it('that was emptied, or is another one than the copy here is of', async () => {
    const [repository, cache] = [newRepository(), cacheFolder()]
    await (await openBucket(repository, server.s3, cache)).close()
    const mark = join(server.folder, BUCKET, repository.split('/').at(-1) ?? '', 'svc-repository.json')
    writeFileSync(mark, readFileSync(mark, 'utf8').replace(/"id":"[^"]*"/, '"id":"another"'))
    expect(await refusalOf(openBucket(repository, server.s3, cache))).toMatch(/^bucket_other: .* if that is meant, remove /)
  })

  it('that a newer version wrote', async () => {
    const repository = newRepository()
    await (await openBucket(repository, server.s3)).close()
    const mark = join(server.folder, BUCKET, repository.split('/').at(-1) ?? '', 'svc-repository.json')
    writeFileSync(mark, readFileSync(mark, 'utf8').replace('"format":1', '"format":2'))
    expect(await refusalOf(openBucket(repository, server.s3))).toMatch(/^bucket_newer: a newer version wrote this bucket/)
  })
})

const worldOn = (repository: string): Promise<World> =>
  ownWorld({
    backend: 'sqlite',
    settings: { 'storage.artifact_repository': repository, ...server.settings },
  })
const chat = (here: World): Promise<Answer> => here.post('/v1/chat/completions', { model: 'm', messages: [] }, { 'x-svc-scenario': 's' })

describe('a server in trouble', () => {
  it('that fails now and then is asked again', async () => {
    let count = 0
    const s3 = await standBefore((asked, answer, pass) => {
      count += 1
      if (count % 3 === 0) answer.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
      else if (count % 5 === 0) asked.socket.destroy()
      else pass()
    })
    const repository = newRepository()
    const store = await openBucket(repository, s3)
    const release = await publish(store, { a: '1', 'b/c': '2', 'b/d': '3' })
    await store.point('s', release)
    expect({ ...(await (await openBucket(repository, server.s3)).read(release.content_id)) }).toEqual({ a: '1', 'b/c': '2', 'b/d': '3' })
  })

  it('whose answers break off is asked again, and what comes altered is not taken', async () => {
    const repository = newRepository()
    const release = await publish(await openBucket(repository, server.s3), { a: 'the text' })
    let torn = 0
    const tearing = await standBefore((asked, answer, pass) => {
      if (asked.method === 'GET' && asked.url?.includes('/objects/') === true && torn++ < 2) {
        answer.writeHead(200, { 'content-length': '100' })
        answer.write('half')
        setImmediate(() => answer.destroy())
      } else pass()
    })
    expect({ ...(await (await openBucket(repository, tearing)).read(release.content_id)) }).toEqual({ a: 'the text' })
    const altering = await standBefore((asked, answer, pass) =>
      asked.method === 'GET' && asked.url?.includes('/objects/') === true ? void answer.writeHead(200).end('other bytes') : pass(),
    )
    const reading = openBucket(repository, altering).then((store) => store.read(release.content_id))
    expect(await refusalOf(reading)).toMatch(/^content_damaged: object [0-9a-f]{40}/)
  })

  it('that is away refuses what is new, serves what is here, and is used again when it is back', async () => {
    const repository = newRepository()
    const store = await openBucket(repository, server.s3)
    const release = await publish(store, { a: '1' })
    await server.kill()
    expect({ ...(await store.read(release.content_id)) }).toEqual({ a: '1' })
    expect(await store.find(release.release_id)).toEqual(release)
    expect(await refusalOf(publish(store, { a: '2' }, release))).toMatch(/^bucket_unreachable/)
    expect(await refusalOf(store.point('s', release))).toMatch(/^bucket_unreachable/)
    await server.start()
    await store.point('s', await publish(store, { a: '2' }, release))
  })

  it('that hangs keeps nobody waiting for long, and a service goes on serving [config.s3]', { timeout: 120_000 }, async () => {
    const [here, empty] = [await worldOn(newRepository()), await worldOn(newRepository())]
    await here.exchange('s')
    server.pause()
    onTestFinished(() => server.resume())
    const served = await chat(here)
    expect([served.status, typeof served.headers['x-svc-agent-record-id']]).toEqual([200, 'string'])
    const refused = await chat(empty)
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('bucket_unreachable')])
    server.resume()
    expect((await chat(empty)).status).toBe(200)
    expect(JSON.stringify(here.log)).not.toContain('the-secret')
  })
})
