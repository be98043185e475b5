/** TLS files of an upstream: its authority, our certificate, and the oldest version. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import type { TlsOptions } from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { SeveralUpstreams } from '../../plugins/runtimes/provider/several.ts'
import type { JsonObject, RuntimeCall } from '../../src/contract/index.ts'
import { sharedFolder } from '../support/folder.ts'
import { listenOnLoopback } from '../support/listen.ts'
import { program } from '../support/programs.ts'
import { sendJson } from '../support/upstream.ts'

const folder = sharedFolder()
const fileOf = (name: string): string => join(folder, `${name}.pem`)

/** A certificate that is its own authority. */
function certify(name: string): void {
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', `/CN=${name}`]
  const files = ['-keyout', fileOf(`${name}-key`), '-out', fileOf(name)]
  execFileSync(program('openssl'), [...made, '-addext', 'subjectAltName=IP:127.0.0.1', ...files], { stdio: 'pipe' })
}

beforeAll(() => {
  certify('server')
  certify('ours')
  certify('other')
  writeFileSync(fileOf('torn'), 'no certificate')
})

async function ask(tls: JsonObject, server: TlsOptions = {}) {
  const [key, cert] = [readFileSync(fileOf('server-key')), readFileSync(fileOf('server'))]
  const provider = createServer({ key, cert, ...server }, (_request, response) => sendJson(response, 200, { id: 'over-tls' }))
  const url = `https://127.0.0.1:${await listenOnLoopback(provider)}`
  onTestFinished(() => {
    provider.closeAllConnections()
    provider.close()
  })
  const several = new SeveralUpstreams({ upstream_retries: 0, upstreams: { one: { url, formats: ['chat'], tls } } })
  onTestFinished(() => several.close())
  return several.infer(CALL)
}

const CALL: RuntimeCall = {
  dialect: 'chat',
  path: '/v1/chat/completions',
  headers: {},
  body: Buffer.from('{}'),
  model: { url: '', model: null, api: 'openai', apiKey: null, upstreams: ['one'] },
  purpose: 'traffic',
  release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
  signal: new AbortController().signal,
}

const trusting = (): JsonObject => ({ ca_file: fileOf('server') })
const showing = (name: string): JsonObject => ({ ...trusting(), cert_file: fileOf(name), key_file: fileOf(`${name}-key`) })
const asksForOurs = (): TlsOptions => ({ requestCert: true, ca: readFileSync(fileOf('ours')) })

describe('an upstream', () => {
  it('is trusted by the authority that is named for it, and by no other', async () => {
    expect(await ask(trusting())).toMatchObject({ status: 200 })
    const message = expect.stringContaining('name the file of its authority in inference.upstreams.one.tls.ca_file')
    await expect(ask({})).rejects.toMatchObject({ code: 'upstream_unreachable', message })
    await expect(ask({ ca_file: fileOf('other') })).rejects.toMatchObject({ code: 'upstream_unreachable' })
  })

  it('that asks for a certificate gets the one that is named for it', async () => {
    expect(await ask(showing('ours'), asksForOurs())).toMatchObject({ status: 200 })
    await expect(ask(trusting(), asksForOurs())).rejects.toMatchObject({ code: 'upstream_unreachable' })
    await expect(ask(showing('other'), asksForOurs())).rejects.toMatchObject({ code: 'upstream_unreachable' })
  })

  it('that speaks only an older version than is allowed is not asked', async () => {
    const old = { maxVersion: 'TLSv1.2' } as const
    expect(await ask({ ...trusting(), min_version: 'TLSv1.2' }, old)).toMatchObject({ status: 200 })
    await expect(ask({ ...trusting(), min_version: 'TLSv1.3' }, old)).rejects.toMatchObject({ code: 'upstream_unreachable' })
  })

  it.each([
    ['a file that is not there', { ca_file: join('no', 'such.pem') }, /^ca_file of an upstream cannot be read \(ENOENT\)/],
    ['a key of another certificate', () => ({ cert_file: fileOf('ours'), key_file: fileOf('other-key') }), /cannot be used/],
    ['a certificate that is none', () => ({ cert_file: fileOf('torn'), key_file: fileOf('ours-key') }), /cannot be used/],
  ])('with %s keeps the service from starting', async (_what, tls, message) => {
    await expect(ask(typeof tls === 'function' ? tls() : tls)).rejects.toThrow(message)
  })
})
