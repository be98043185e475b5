/** The service's token on this machine: of the environment, else the one an install was given. */
import { PROVIDER_KEY_VARIABLE, TOKEN_VARIABLE } from '@svc-ai/client/shared'
import { inFolder } from './places.ts'
import { readIfThere } from './whole-file.ts'

export const tokenOf = async (folder: string, env: NodeJS.ProcessEnv): Promise<string | null> => tokenIn(env) ?? (await keptToken(folder))

export function tokenIn(env: NodeJS.ProcessEnv): string | null {
  const token = env[TOKEN_VARIABLE]?.trim() ?? ''
  return token === '' ? null : token
}

/** For other people's programs: none of them is to be trusted with it, nor with the key of a service that is started from the same shell. */
export function withoutToken(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { [TOKEN_VARIABLE]: _, [PROVIDER_KEY_VARIABLE]: __, ...others } = env
  return others
}

export async function keptToken(folder: string): Promise<string | null> {
  const token = (await readIfThere(inFolder(folder).token))?.trim() ?? ''
  return token === '' ? null : token
}
