/** Certificates that sign themselves, made by openssl. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { program } from './programs.ts'

export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** For `localhost` and this machine, valid for two days. */
export function makeCertificate(folder: string, called: string): CertificateFiles {
  const files = { certificate: join(folder, `${called}.pem`), key: join(folder, `${called}.key`) }
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', `/CN=${called}`]
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync(program('openssl'), [...kind, ...names, '-keyout', files.key, '-out', files.certificate], { stdio: 'pipe' })
  return files
}
