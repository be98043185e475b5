/** A service that people sign in to, and where its library lies. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ENV, signInFolder } from '../../../src/contract/index.ts'
import { freePort } from '../../support/listen.ts'
import type { Settings } from '../../support/settings.ts'

export const TOKEN = 'admin-token-of-the-test'

/** The packages of this repository stand in for those that `svc sign-in add openid` installs. Answers the variable that says where. */
export function installedIn(folder: string): readonly [name: string, value: string] {
  const place = signInFolder({ [ENV.signIn]: folder })
  mkdirSync(place, { recursive: true })
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(place, 'node_modules'))
  return [ENV.signIn, dirname(place)]
}

export interface PublicPlace {
  readonly port: number
  readonly url: string
  readonly callback: string
}

export async function publicPlace(): Promise<PublicPlace> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  return { port, url, callback: `${url}/svc/sign-in/callback` }
}

export function signInSettings(
  { port, url }: PublicPlace,
  { issuer, clientId, clientSecret }: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string },
): Settings {
  return {
    'svc.port': port,
    'svc.token': TOKEN,
    'svc.sign_in.issuer': issuer,
    'svc.sign_in.client_id': clientId,
    'svc.sign_in.client_secret': clientSecret,
    'svc.sign_in.public_url': url,
    'svc.sign_in.name': 'Example',
    'svc.sign_in.scopes': '[openid, email, groups]',
    'svc.sign_in.groups.admins.role': 'admin',
    'svc.sign_in.groups.reviewers.role': 'review',
    'svc.sign_in.groups.reviewers.scenarios': '[own]',
    'svc.sign_in.groups.callers.role': 'serve',
  }
}
