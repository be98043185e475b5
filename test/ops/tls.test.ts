/** The service speaks https itself, and takes over a changed configuration while it runs: in every listener thread, without cutting a stream. */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as askSecurely, type RequestOptions } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectSecurely } from 'node:tls'
import { text as readText } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { readTls } from '../../src/compose/index.ts'
import { loadConfig, type LoadedConfig } from '../../src/config/index.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { startService } from '../../src/main.ts'
import { makeCertificate } from '../support/certificate.ts'
import { sharedFolder } from '../support/folder.ts'
import { argumentsOf, dataPlaceIn, loadArguments, settingsOf } from '../support/settings.ts'
import { beginFrames, chatFrames, startUpstream } from '../support/upstream.ts'
import { shared } from '../support/world.ts'

const LISTENERS = process.platform === 'linux' ? 3 : 1
const CHAT_HEADERS = { 'x-svc-scenario': 'streams', 'content-type': 'application/json' }
const folder = sharedFolder()

const secured = (pair: { readonly certificate: string; readonly key: string }): Promise<LoadedConfig> =>
  loadArguments(argumentsOf({ 'inference.runtime': 'practice', 'svc.tls.certificate': pair.certificate, 'svc.tls.key': pair.key }))

const inFolder = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('a certificate and its key', () => {
  it('are taken where they belong together', async () => {
    const pair = makeCertificate(folder, 'good')
    const read = await readTls(await secured(pair))
    expect(read).toMatchObject({ certificate: readFileSync(pair.certificate, 'utf8'), minVersion: 'TLSv1.2' })
    expect(await readTls(await loadArguments(['--inference.runtime', 'practice']))).toBeNull()
  })

  it.each<[string, () => Partial<{ certificate: string; key: string }>, RegExp]>([
    [
      'a missing certificate',
      () => ({ certificate: join(folder, 'none.pem') }),
      /^svc\.tls\.certificate: .*none\.pem: there is no such file; /,
    ],
    ['a missing key', () => ({ key: join(folder, 'none.key') }), /^svc\.tls\.key: .*none\.key: there is no such file; /],
    ['a folder', () => ({ key: folder }), /^svc\.tls\.key: .*the file cannot be read \(EISDIR\); /],
    ['a file without a certificate', () => ({ certificate: inFolder('empty.pem', '') }), /certificate: .*holds no certificate; /],
    ['a certificate in place of a key', () => ({ key: makeCertificate(folder, 'twice').certificate }), /key: .*holds no private key; /],
    [
      'a key of another certificate',
      () => ({ key: makeCertificate(folder, 'other').key }),
      /key: .*does not belong to the first certificate in /,
    ],
    [
      'a key with a passphrase',
      () => ({ key: inFolder('locked.key', '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n') }),
      /key: .*is locked with a passphrase; /,
    ],
  ])('%s is refused in one line', async (_case, changed, expected) => {
    const pair = { ...makeCertificate(folder, 'pair'), ...changed() }
    await expect(secured(pair).then((loaded) => readTls(loaded))).rejects.toThrow(expected)
    await expect(secured(pair).then((loaded) => readTls(loaded))).rejects.not.toThrow(/\n/)
  })

  it.skipIf(process.getuid?.() === 0)('an unreadable key is refused in one line', async () => {
    const pair = makeCertificate(folder, 'closed')
    chmodSync(pair.key, 0)
    await expect(secured(pair).then((loaded) => readTls(loaded))).rejects.toThrow(/the file cannot be read \(EACCES\); let the user/)
  })

  it('are refused once they expired, and before they are valid', async () => {
    const loaded = await secured(makeCertificate(folder, 'old'))
    const day = 24 * 3600
    const now = Date.now() / 1000
    await expect(readTls(loaded, now + 3 * day)).rejects.toThrow(
      /^svc\.tls\.certificate: .* expired on \d{4}-\d\d-\d\dT\d\d:\d\dZ; renew it$/,
    )
    await expect(readTls(loaded, now - day)).rejects.toThrow(/is valid from .* on, which is not yet; check the clock/)
  })

  it('one of them alone is refused, with the name of the other', async () => {
    const { certificate } = makeCertificate(folder, 'alone')
    await expect(loadArguments(['--svc.tls.certificate', certificate])).rejects.toThrow(/svc\.tls\.key is missing/)
  })
})

/** A service from a file that a test may change, on three listener threads. */
async function openSecured() {
  const place = join(folder, 'service')
  mkdirSync(place)
  const upstream = await startUpstream()
  const live = { certificate: join(place, 'live.pem'), key: join(place, 'live.key') }
  const use = (called: string): string => {
    const made = makeCertificate(folder, called)
    copyFileSync(made.certificate, live.certificate)
    copyFileSync(made.key, live.key)
    return called
  }
  const file = join(place, 'svc.yaml')
  const write = (svc: JsonObject): void => writeFileSync(file, JSON.stringify({ svc }))
  const usual = { token: 'first-token', tls: { ...live, min_version: 'TLSv1.3' } }
  const steps = { 'evolution.step_record_dir': join(place, 'steps'), 'evolution.proposals_dir': join(place, 'proposals') }
  const settings = {
    ...settingsOf(dataPlaceIn(place), upstream.url),
    ...steps,
    'svc.listeners': LISTENERS,
    'storage.record_backend': 'sqlite',
  }
  const fixed = Object.entries(settings).filter(([key]) => key !== 'svc.port')
  const given = fixed.map(([key, value]) => ({ path: key.split('.'), value, origin: 'command line' as const }))
  const read = (): Promise<LoadedConfig> => loadConfig({ file, environment: {}, commandLine: { given, problems: [] } })
  use('before')
  write({ ...usual, port: 0 })
  const log: JsonObject[] = []
  const service = await startService(await read(), {
    log: { write: (level, event, fields) => void log.push({ level, event, ...fields }), flush: () => undefined },
  })
  const { port } = new URL(service.address)
  const ask = (path: string, options: RequestOptions = {}, body = ''): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const usually = { host: '127.0.0.1', port, path, agent: false, ca: readFileSync(live.certificate) }
      const request = askSecurely({ ...usually, ...options }, (response) => {
        readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
      })
      request.on('error', reject)
      request.end(body)
    })
  /** The name in the certificate of a new connection, which any of the threads may take. */
  const called = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectSecurely({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const close = async (): Promise<void> => {
    await service.close()
    await upstream.close()
  }
  return { service, upstream, port: Number(port), file, log, usual, use, write, read, ask, called, close }
}

describe('a service with a certificate', () => {
  const here = shared(openSecured)
  const asFirst = { authorization: 'Bearer first-token' }
  const reload = async (): Promise<JsonObject> => {
    await here.service.reload(here.read)
    return here.log.at(-1) ?? {}
  }
  /** Of as many new connections that every thread has some. */
  const allCalled = async (): Promise<readonly string[]> => [...new Set(await Promise.all(Array.from({ length: 40 }, () => here.called())))]

  it('answers over https, and says so in its addresses', async () => {
    expect(here.service.address).toMatch(/^https:/)
    expect(await here.ask('/healthz')).toMatchObject({ status: 200 })
    const { text } = await here.ask('/metrics', { headers: asFirst })
    expect(text).toMatch(/^svc_tls_certificate_expiry_timestamp_seconds \d+$/m)
  })

  it('refuses plain HTTP, older versions of TLS, and answers bytes that are no request', async () => {
    await expect(fetch(here.service.address.replace('https', 'http'))).rejects.toThrow('fetch failed')
    await expect(here.ask('/healthz', { maxVersion: 'TLSv1.2' })).rejects.toThrow()
    const answered = await new Promise<string>((resolve, reject) => {
      const socket = connectSecurely({ host: '127.0.0.1', port: here.port, rejectUnauthorized: false }, () =>
        socket.write('no request\r\n\r\n'),
      )
      socket.on('error', reject)
      readText(socket).then(resolve, reject)
    })
    expect(answered).toMatch(/^HTTP\/1\.1 400 /)
    expect(answered).toContain('malformed_request')
  })

  it('keeps serving while a client connects and never shakes hands', async () => {
    const silent = connect(here.port, '127.0.0.1')
    silent.on('error', () => undefined)
    expect(await here.ask('/healthz')).toMatchObject({ status: 200 })
    silent.destroy()
  })

  it('takes over a renewed certificate in every thread, while a stream goes on to its end', async () => {
    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    here.upstream.answer(async (_received, response) => {
      beginFrames(response, chatFrames.slice(0, 2))
      begun.resolve()
      await gate.promise
      response.end(chatFrames.slice(2).join(''))
    })
    const headers = { ...asFirst, ...CHAT_HEADERS }
    const body = JSON.stringify({ model: 'm', messages: [], stream: true })
    const streamed = here.ask('/v1/chat/completions', { method: 'POST', headers: { ...headers, 'content-length': body.length } }, body)
    await begun.promise
    expect(await allCalled()).toEqual(['before'])
    here.use('after')
    expect(await reload()).toMatchObject({ level: 'info', event: 'reloaded', applied: ['svc.tls'], needs_restart: [] })
    expect(await allCalled()).toEqual(['after'])
    gate.resolve()
    const { status, text } = await streamed
    expect([status, text.endsWith('data: [DONE]\n\n')]).toEqual([200, true])
  })

  it('takes over what it can, and names what needs a restart', async () => {
    here.write({ ...here.usual, port: 0, token: 'second-token', max_loaded_scenarios: 3, training_threads: 9 })
    expect(await reload()).toMatchObject({
      level: 'warn',
      event: 'reloaded',
      applied: ['svc.token', 'svc.max_loaded_scenarios'],
      needs_restart: ['svc.training_threads'],
    })
    const statuses = async (token: string): Promise<readonly number[]> => {
      const body = JSON.stringify({ model: 'm', messages: [] })
      const headers = { ...CHAT_HEADERS, authorization: `Bearer ${token}`, 'content-length': body.length }
      const asked = Array.from({ length: 20 }, () => here.ask('/v1/chat/completions', { method: 'POST', headers }, body))
      return [...new Set((await Promise.all(asked)).map(({ status }) => status))]
    }
    here.upstream.hold()()
    expect(await statuses('first-token')).toEqual([401])
    expect(await statuses('second-token')).toEqual([200])
  })

  it.each<[string, () => void, RegExp]>([
    ['a file that is no YAML', () => writeFileSync(here.file, 'svc: [\n'), /svc\.yaml/],
    ['an unknown key', () => here.write({ ...here.usual, tokken: 'x' }), /svc\.tokken is not a known key/],
    [
      'a pair that does not belong together',
      () => {
        here.write({ ...here.usual, port: 0 })
        copyFileSync(makeCertificate(folder, 'wrong').key, here.usual.tls.key)
      },
      /does not belong to/,
    ],
  ])('stays as it was after %s, and says so', async (_case, damage, words) => {
    damage()
    const line = await reload()
    expect(line).toMatchObject({ level: 'error', event: 'reload_failed', message: 'the configuration stays as it was' })
    expect(JSON.stringify(line['problems'])).toMatch(words)
    expect(await allCalled()).toEqual(['after'])
    expect(await here.ask('/svc/status', { headers: { authorization: 'Bearer second-token' }, rejectUnauthorized: false })).toMatchObject({
      status: 200,
    })
  })

  it('does not begin to speak plain HTTP while it runs', async () => {
    here.use('after')
    here.write({ token: 'second-token', port: 0 })
    expect(await reload()).toMatchObject({ needs_restart: expect.arrayContaining(['svc.tls']) })
    expect(await here.ask('/healthz')).toMatchObject({ status: 200 })
  })
})
