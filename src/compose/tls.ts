/** Reads the certificate of the service and its key, and refuses a pair that no client would accept. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { ConfigProblem, type LoadedConfig } from '../config/index.ts'
import type { TlsPair } from '../http/index.ts'
import { codeOf, wordsOf } from '../kit/index.ts'
import { clock } from './traffic.ts'

const CERTIFICATE = 'svc.tls.certificate'
const KEY = 'svc.tls.key'

/** Null where the service speaks plain HTTP. Throws ConfigProblem with one line. */
export async function readTls({ config: { svc } }: LoadedConfig, now = clock()): Promise<TlsPair | null> {
  if (svc.tls === null) return null
  const { certificate: certificateFile, key: keyFile, min_version: minVersion } = svc.tls
  const certificate = await readPem(CERTIFICATE, certificateFile)
  const key = await readPem(KEY, keyFile)
  const parsed = parseCertificate(certificate, certificateFile)
  if (!parsed.checkPrivateKey(parseKey(key, keyFile)))
    throw problem(
      KEY,
      keyFile,
      `does not belong to the first certificate in ${certificateFile}; name the key that the certificate was made for`,
    )
  const [begins, ends] = [parsed.validFromDate, parsed.validToDate]
  if (ends.getTime() / 1000 <= now) throw problem(CERTIFICATE, certificateFile, `expired on ${minuteOf(ends)}; renew it`)
  if (begins.getTime() / 1000 > now)
    throw problem(CERTIFICATE, certificateFile, `is valid from ${minuteOf(begins)} on, which is not yet; check the clock of this machine`)
  const pair = { certificate, key, minVersion, expiresAt: ends.getTime() / 1000 }
  checkTogether(pair, certificateFile)
  return pair
}

async function readPem(key: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = codeOf(error) ?? 'unreadable'
    if (code === 'ENOENT') throw problem(key, file, 'there is no such file; name a PEM file')
    throw problem(key, file, `the file cannot be read (${code}); let the user of the service read it`)
  }
}

function parseCertificate(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw problem(CERTIFICATE, file, 'holds no certificate; it must be PEM, with BEGIN CERTIFICATE in its first line')
  }
}

function parseKey(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    if (codeOf(error) === 'ERR_MISSING_PASSPHRASE' || text.includes('ENCRYPTED'))
      throw problem(KEY, file, 'is locked with a passphrase; store it without one (openssl pkey -in FILE -out FILE)')
    throw problem(KEY, file, 'holds no private key; it must be PEM, with BEGIN PRIVATE KEY in its first line')
  }
}

/** What only shows once both are used: a weak key, a broken certificate further down. */
function checkTogether({ certificate, key, minVersion }: TlsPair, file: string): void {
  try {
    createSecureContext({ cert: certificate, key, minVersion })
  } catch (error) {
    throw problem(CERTIFICATE, file, `cannot be used (${wordsOf(error)}); make another pair`)
  }
}

const minuteOf = (date: Date): string => `${date.toISOString().slice(0, 16)}Z`

const problem = (key: string, file: string, words: string): ConfigProblem => new ConfigProblem([`${key}: ${file}: ${words}`])
