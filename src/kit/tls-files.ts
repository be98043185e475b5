/** Files of a TLS connection: whom it trusts, and what it shows. */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { codeOf } from './error-code.ts'

export interface TlsOptions {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
}

/** Reads `ca_file`, `cert_file` and `key_file` once. Throws an error that names the file and never quotes it. */
export function tlsOptions(settings: Readonly<Record<string, unknown>>): TlsOptions {
  const [ca, cert, key] = [pemAt(settings, 'ca_file'), pemAt(settings, 'cert_file'), pemAt(settings, 'key_file')]
  const version = settings['min_version']
  const options: TlsOptions = {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...((version === 'TLSv1.2' || version === 'TLSv1.3') && { minVersion: version }),
  }
  try {
    createSecureContext(options)
  } catch (cause) {
    throw new Error(`the TLS files of an upstream cannot be used (${codeOf(cause) ?? 'no code'}); check ca_file, cert_file and key_file`, {
      cause,
    })
  }
  return options
}

function pemAt(settings: Readonly<Record<string, unknown>>, name: string): Buffer | null {
  const path = settings[name]
  if (typeof path !== 'string') return null
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new Error(`${name} of an upstream cannot be read (${codeOf(cause) ?? 'no code'}); check inference.upstreams`, { cause })
  }
}
