/** What an install trusts: the pinned key of its service, and the newest step it saw. Nothing that does not verify is applied. */
import { INSECURE_VARIABLE, parseJson, type Manifest, type Svc } from '@svc-ai/client/shared'
import {
  checkManifest,
  checkSigned,
  digestOf,
  firstTrust,
  givenKey,
  isTrust,
  noteOf,
  requireSame,
  requireWay,
  type Trust,
} from '@svc-ai/client/signing'
import { Stop } from './failure.ts'
import { deliveryOf, type SignedInstallation } from './installation.ts'
import { inFolder } from './places.ts'
import { oneAtATime } from './process-lock.ts'
import type { Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { isWritten, PRIVATE, readIfThere, writeWhole } from './whole-file.ts'

/** The release that a person named to `update`: it may be older than the newest seen, or held. */
export const RELEASE_VARIABLE = 'SVC_INSTALL_RELEASE'

export interface KeptTrust extends Trust {
  /** A person allowed plain HTTP at an install. */
  readonly insecure_http?: true
}

/** Null for an install from before keys were pinned. A damaged file is never taken for none. */
export async function readTrust(folder: string): Promise<KeptTrust | null> {
  const text = await readIfThere(inFolder(folder).trust)
  if (text === null) return null
  const found = parseJson(text)
  if (isTrust(found)) return found
  throw new Stop(`${inFolder(folder).trust} is damaged; trust the key of the service again with: svc-<agent> trust <fingerprint>`)
}

/** What is as it should be is not touched. */
export async function writeTrust(folder: string, trust: KeptTrust): Promise<void> {
  const file = { path: inFolder(folder).trust, text: `${JSON.stringify(trust, null, 2)}\n`, mode: PRIVATE }
  if (!(await isWritten(file))) await writeWhole(file)
}

/** Throws for what the trusted key did not sign as it is. Nothing may have been written before. */
export async function trustInstallation(
  { signed, ...installation }: SignedInstallation,
  program: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly trust: KeptTrust; readonly note: string | null }> {
  const { url, scenario, adapter, release_id } = installation
  const kept = await readTrust(folder)
  requireWay(url, wayEnvironment(kept, env))
  const base = kept ?? firstTrust(signed, url, env)
  // The line that a person pasted names a key: it must lead to the one that signed, whatever is pinned.
  if (givenKey(env) !== null) checkSigned(firstTrust(signed, url, env), signed, { scenario, release: release_id })
  const isNamed = kept === null || env[RELEASE_VARIABLE] === release_id
  const { statement, trust } = checkSigned(base, signed, { scenario, adapter, release: isNamed ? release_id : undefined })
  requireSame(statement, installation)
  if (statement.vendor !== digestOf(installation.install) || statement.delivery !== deliveryOf(installation, program))
    throw new Stop('what the install script brings is not what the deployment signed; nothing was installed. Run the same line again')
  const { step, held } = statement
  const seen = kept === null && !held ? { ...trust, step, release_id } : trust
  const isInsecure = kept?.insecure_http === true || env[INSECURE_VARIABLE] === '1'
  return { trust: { ...seen, ...(isInsecure && { insecure_http: true }) }, note: noteOf(kept, trust, url) }
}

/** What a person allowed once holds for the updates of that install. */
const wayEnvironment = (kept: KeptTrust | null, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  kept?.insecure_http === true ? { ...env, [INSECURE_VARIABLE]: '1' } : env

/** The manifest of the served release, or of the one named, once it verified; what is trusted is kept before it is used. */
export async function trustedManifest(
  { folder, record, env }: Install,
  service: Svc,
  { release, provisional = false }: { readonly release?: string | undefined; readonly provisional?: boolean },
  terminal: Terminal,
): Promise<{ readonly manifest: Manifest; readonly step: number; readonly trust: KeptTrust }> {
  const { url, scenario, adapter } = record
  requireWay(url, wayEnvironment(await readTrust(folder), env))
  const manifest = await service.manifest(release)
  return oneAtATime(inFolder(folder).lock, terminal, async () => {
    const kept = await readTrust(folder)
    const base = kept ?? firstTrust(manifest.signed, url, env)
    const { statement, trust } = checkManifest(base, manifest, { scenario, adapter, release, provisional })
    const note = noteOf(kept, trust, url)
    if (note !== null) terminal.warn(note)
    const next = { ...kept, ...trust }
    await writeTrust(folder, next)
    return { manifest, step: statement.step, trust: next }
  })
}
