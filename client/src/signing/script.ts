/** An install script and the signature over every byte of it, in its last line. */
import { TrustFailure } from '../failure.ts'
import { parseJson } from '../transport.ts'
import { sha256 } from './canonical.ts'
import { readSigned, type ScriptStatement, type Signed } from './statements.ts'
import { fingerprintOf } from './keys.ts'
import { followed, isSigned } from './trust.ts'

const LINE = /^([^]*\n)# svc-signed ([A-Za-z0-9_-]+)\n$/

/** The line that ends a signed script. */
export const signatureLine = (signed: Signed): string => `# svc-signed ${Buffer.from(JSON.stringify(signed)).toString('base64url')}\n`

/** Throws a `TrustFailure` for a script that is not, byte for byte, one that the deployment signed. Without a key any deployment's is welcome. */
export function checkScript(key: string | null, script: string): ScriptStatement {
  const [, text = '', line = ''] = LINE.exec(script) ?? []
  const signed = parseJson(Buffer.from(line, 'base64url').toString())
  const statement = readSigned('script', signed)
  if (statement === null || !isSigned(signed) || statement.sha256 !== sha256(text))
    throw new TrustFailure(
      'the install script did not arrive whole, or is not what the deployment signed; nothing of it was run. Run the same command again',
    )
  followed(key ?? fingerprintOf(statement.key), signed, statement.key)
  return statement
}
