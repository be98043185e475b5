/** Somebody between a person and a service: a server with TLS that passes on what the service answers, or something else. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { SecureContextOptions } from 'node:tls'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { program } from '../support/programs.ts'

export interface PassedOn {
  readonly path: string
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Between {
  readonly url: string
  close(): Promise<void>
  /** The certificate it shows from now on. */
  show(certificate: SecureContextOptions): void
  /** What it makes of every answer; null passes them on. */
  tamper: ((answer: PassedOn) => PassedOn | Promise<PassedOn>) | null
}

/** In front of the service at that address. */
export async function standBetween(address: string, certificate: SecureContextOptions): Promise<Between> {
  const server = createServer(certificate, (request, response) => {
    void (async () => {
      const { url: path = '', method = 'GET' } = request
      const body = await text(request)
      const { authorization, 'x-svc-scenario': scenario } = request.headers
      const headers = {
        'x-forwarded-host': request.headers.host ?? '',
        'x-forwarded-proto': 'https',
        ...(authorization !== undefined && { authorization }),
        ...(scenario !== undefined && { 'x-svc-scenario': String(scenario) }),
      }
      const answer = await fetch(`${address}${path}`, { method, headers, ...(body !== '' && { body }) })
      const passed = { path, status: answer.status, text: await answer.text() }
      const sent: PassedOn = self.tamper === null ? passed : await self.tamper(passed)
      response.writeHead(sent.status, sent.headers).end(sent.text)
    })()
  })
  const port = await listenOnLoopback(server)
  const self: Between = {
    url: `https://localhost:${port}`,
    close: () => closeServer(server),
    show(other) {
      server.setSecureContext(other)
      server.closeAllConnections()
    },
    tamper: null,
  }
  return self
}

export interface Authority {
  /** The file that a machine must have to trust it. */
  readonly file: string
  certificate(name: string, days?: number): SecureContextOptions
}

/** Certificates of an authority of its own, in that folder. */
export function authority(folder: string, called: string): Authority {
  const openssl = (...args: readonly string[]): unknown => execFileSync(program('openssl'), args, { cwd: folder, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const
  openssl('req', '-x509', ...key, '-days', '2', '-subj', `/CN=${called}`, '-keyout', `${called}.key`, '-out', `${called}.pem`)
  let made = 0
  return {
    file: join(folder, `${called}.pem`),
    certificate(name, days = 2) {
      made += 1
      const leaf = `${called}-${made}`
      openssl('req', '-new', ...key, '-subj', `/CN=${name}`, '-keyout', `${leaf}.key`, '-out', `${leaf}.csr`)
      writeFileSync(join(folder, `${leaf}.ext`), `subjectAltName=DNS:${name}\n`)
      const by = ['-CA', `${called}.pem`, '-CAkey', `${called}.key`, '-CAcreateserial', '-days', String(days), '-extfile', `${leaf}.ext`]
      openssl('x509', '-req', '-in', `${leaf}.csr`, ...by, '-out', `${leaf}.pem`)
      const read = (end: string): string => readFileSync(join(folder, `${leaf}.${end}`), 'utf8')
      return { key: read('key'), cert: read('pem') }
    },
  }
}
