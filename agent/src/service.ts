/** The service as the commands of an install reach it: by the session they are called in, else by the address and token of the install. */
import { connect, type Svc } from '@svc-ai/client/shared'
import type { FoundInstall, InstallRecord } from './record.ts'
import { tokenOf } from './token.ts'

/** Variables that a session sets for the programs it runs. */
export const SESSION = {
  id: 'SVC_SESSION',
  release: 'SVC_RELEASE',
  scenario: 'SVC_SCENARIO',
  wrapper: 'SVC_WRAPPER',
  root: 'SVC_HARNESS_ROOT',
  proxyUrl: 'SVC_PROXY_URL',
  proxyKey: 'SVC_PROXY_KEY',
} as const

export interface Install extends FoundInstall {
  readonly env: NodeJS.ProcessEnv
  /** Chosen as the only one there is, neither named nor for this folder. */
  readonly isFar?: boolean
}

export async function serviceOf({ folder, record, env }: Install, timeoutSeconds?: number): Promise<Svc> {
  const { scenario } = record
  const limit = timeoutSeconds === undefined ? {} : { timeoutSeconds }
  const [url, token] = [env[SESSION.proxyUrl], env[SESSION.proxyKey]]
  if (isInSession(record, env) && url !== undefined && token !== undefined) return connect({ url, scenario, token, ...limit })
  return connect({ url: record.url, scenario, token: await tokenOf(folder, env), ...limit })
}

/** Whether this process was started, however indirectly, by a session of this install. */
export const isInSession = (record: InstallRecord, env: NodeJS.ProcessEnv): boolean => env[SESSION.root] === record.destination
