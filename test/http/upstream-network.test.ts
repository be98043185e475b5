/** Between the service and its upstream: TLS, proxies, unknown names. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Server as NetServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveCommand } from '../support/command.ts'
import { sharedFolder } from '../support/folder.ts'
import { freePort, listenOnLoopback } from '../support/listen.ts'
import { program } from '../support/programs.ts'
import { argumentsOf } from '../support/settings.ts'
import { sendJson } from '../support/upstream.ts'
import { send, world, type World, type WorldOptions } from '../support/world.ts'

const NAME = 'upstream.test'
const scenario = { 'x-svc-scenario': 'network' }
const CHAT = { model: 'm', messages: [] }

const folder = sharedFolder()
const certificate = join(folder, 'certificate.pem')
let tls: { readonly port: number; close(): void }
let proxy: Awaited<ReturnType<typeof startProxy>>

beforeAll(async () => {
  const key = join(folder, 'key.pem')
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', `/CN=${NAME}`]
  execFileSync(program('openssl'), [...made, '-addext', `subjectAltName=DNS:${NAME}`, '-keyout', key, '-out', certificate], {
    stdio: 'pipe',
  })
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_request, response) =>
    sendJson(response, 200, { id: 'over-tls', choices: [] }),
  )
  tls = { port: await listenOnLoopback(server), close: () => stop(server) }
  proxy = await startProxy()
})
afterAll(() => {
  tls.close()
  proxy.close()
})

function stop(server: Server | NetServer): void {
  if ('closeAllConnections' in server) server.closeAllConnections()
  server.close()
}

/** A real proxy that knows the name: tunnels for CONNECT, whole addresses for plain HTTP. */
async function startProxy() {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  let refusal: string | null = null
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    // Some proxies do so, though nobody asked for it.
    response.writeContinue()
    sendJson(response, 200, { id: 'through-the-proxy', choices: [], data: [] })
  })
  server.on('connect', (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`)
      return
    }
    const onward = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    for (const each of [socket, onward]) {
      sockets.add(each)
      each.on('error', () => undefined)
    }
  })
  const port = await listenOnLoopback(server)
  return {
    address: `http://127.0.0.1:${port}`,
    withPassword: `http://user:pass%20word@127.0.0.1:${port}`,
    /** What it was asked, and forgets. */
    taken: () => asked.splice(0),
    refuse: (status: string | null) => {
      refusal = status
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      stop(server)
    },
  }
}

async function withWorld(options: WorldOptions, use: (here: World) => Promise<void>): Promise<void> {
  const here = await world(options)
  try {
    await use(here)
  } finally {
    await here.close()
  }
}

it('an upstream that cannot be reached is named with the fix: an unknown name, a port where nothing listens, an untrusted certificate', async () => {
  const gone = await freePort()
  await withWorld({ settings: { 'inference.gateway.url': `http://127.0.0.1:${gone}/below` } }, async (here) => {
    const said = async (url: string): Promise<string> => {
      const name = `at ${url.replaceAll('/', ' ')}`
      await here.post('/svc/scenarios', { name, model: { url } })
      const answer = await here.post('/v1/chat/completions', CHAT, { 'x-svc-scenario': name })
      expect([answer.status, answer.headers['x-svc-upstream-status']]).toEqual([502, undefined])
      return answer.text
    }
    expect(await said('http://nobody.invalid/x')).toMatch(
      /the upstream at http:\/\/nobody\.invalid could .*name is not known \(E.*check inference\.upstream_url/,
    )
    expect(await said(`http://127.0.0.1:${gone}`)).toMatch(/:\d+ could not be reached: nothing listens there \(ECONNREFUSED\); start it/)
    expect(await said(`https://127.0.0.1:${tls.port}`)).toMatch(/certificate that is not trusted here \(.*NODE_EXTRA_CA_CERTS/)
    expect(await said(here.upstream.url.replace('http:', 'https:'))).toMatch(/could not agree on TLS \(.*http or https/)
    const gateway = await here.post('/v1/embeddings', { input: 'x' }, scenario)
    expect(gateway.text).toMatch(/the multimodal gateway at http:\/\/127\.0\.0\.1:\d+ .*ECONNREFUSED.*inference\.gateway\.url/)
  })
})

describe('a proxy of the machine', () => {
  const upstream = { 'inference.upstream_url': `http://${NAME}:8080`, 'inference.gateway.url': `http://gateway.test:8080` }

  it('is asked for plain addresses, by the provider and by the gateway, with its own password', async () => {
    await withWorld({ settings: upstream, environment: { HTTP_PROXY: proxy.withPassword } }, async (here) => {
      expect((await here.post('/v1/chat/completions', CHAT, scenario)).json).toMatchObject({ id: 'through-the-proxy' })
      expect((await here.post('/v1/embeddings', { input: 'x' }, scenario)).status).toBe(200)
    })
    const password = `Basic ${Buffer.from('user:pass word').toString('base64')}`
    expect(proxy.taken()).toEqual([
      `POST http://${NAME}:8080/v1/chat/completions ${password}`,
      `POST http://gateway.test:8080/v1/embeddings ${password}`,
    ])
  })

  it('is not asked for hosts of NO_PROXY, nor for this machine', async () => {
    await withWorld({ environment: { HTTP_PROXY: proxy.address, no_proxy: `.test` } }, async (here) => {
      expect((await here.post('/v1/chat/completions', CHAT, scenario)).status).toBe(200)
      await here.post('/svc/scenarios', { name: 'direct', model: { url: `http://${NAME}:8080` } })
      expect((await here.post('/v1/chat/completions', CHAT, { 'x-svc-scenario': 'direct' })).text).toContain('name is not known')
    })
    expect(proxy.taken()).toEqual([])
  })

  it.each([
    [
      '407 No',
      /the proxy at http:\/\/127\.0\.0\.1:\d+ answered 407 and did not reach https:\/\/upstream\.test:1; put its user and password/,
    ],
    ['403 No', /answered 403 and did not reach https:\/\/upstream\.test:1; see its log, or list the host in NO_PROXY/],
  ])('that says %s is named, without its password', async (status, words) => {
    proxy.refuse(status)
    await withWorld(
      { settings: { 'inference.upstream_url': `https://${NAME}:1` }, environment: { HTTPS_PROXY: proxy.withPassword } },
      async (here) => {
        const answer = await here.post('/v1/chat/completions', CHAT, scenario)
        expect(answer.status).toBe(502)
        expect(answer.text).toMatch(words)
        expect(answer.text + JSON.stringify(here.log)).not.toMatch(/user:|pass(?:%20| )word/)
      },
    )
    proxy.refuse(null)
    proxy.taken()
  })

  it('that is no address keeps the service from starting, and is not shown', async () => {
    await expect(world({ environment: { HTTPS_PROXY: 'socks9://user:hidden@x' } })).rejects.toThrow(
      /^environment HTTPS_PROXY: (?!.*hidden)/,
    )
  })

  it('and a certificate of its own: a service configured with both reaches its upstream through a tunnel', async () => {
    const settings = {
      'svc.port': 0,
      'inference.upstream_url': `https://${NAME}:${tls.port}`,
      'storage.record_backend': 'memory',
      'storage.agent_record_dir': join(folder, 'records'),
      'storage.artifact_repository': join(folder, 'artifacts.git'),
    }
    const environment = { HTTPS_PROXY: proxy.address, NODE_EXTRA_CA_CERTS: certificate }
    const { command, address } = await serveCommand(argumentsOf(settings), environment)
    const answer = await send(address, 'POST', '/v1/chat/completions', { headers: scenario, body: CHAT })
    command.signal('SIGTERM')
    await command.ended
    expect(answer.json).toMatchObject({ id: 'over-tls' })
    expect(proxy.taken()).toEqual([`CONNECT ${NAME}:${tls.port}`])
  })
})
