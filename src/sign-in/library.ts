/** `openid-client`, loaded on first use from the folder that `svc sign-in add openid` made. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as OpenId from 'openid-client'
import { OPENID_PACKAGE, signInFolder, unavailable } from '../contract/index.ts'

export type OpenIdLibrary = typeof OpenId

/** A failure is not remembered: it may be installed while the service runs. */
export async function openLibrary(): Promise<OpenIdLibrary> {
  const main = join(signInFolder(process.env), 'node_modules', OPENID_PACKAGE.name, 'build/index.js')
  if (!existsSync(main))
    throw unavailable(
      'sign_in_unavailable',
      'nobody can sign in, since what it needs is not installed on this machine; install it with: svc sign-in add openid',
    )
  const module: unknown = await import(pathToFileURL(main).href).catch(notUsable)
  return isLibrary(module) ? module : notUsable(null)
}

/** The folder was installed from its lock file, so nothing more is checked. */
const isLibrary = (module: unknown): module is OpenIdLibrary => typeof module === 'object' && module !== null && 'discovery' in module

function notUsable(cause: unknown): never {
  throw unavailable(
    'sign_in_unavailable',
    'nobody can sign in, since what it needs is installed, but cannot be loaded; run: svc sign-in add openid --force',
    { cause },
  )
}
