/** Installs what people sign in with. */
import { readFileSync } from 'node:fs'
import { OPENID_PACKAGE } from '../contract/index.ts'
import { installLocked } from './package-install.ts'

const LOCK = new URL('../sign-in/package-lock.json', import.meta.url)

export async function installOpenId(folder: string, environment: NodeJS.ProcessEnv, there: 'keep' | 'replace' = 'keep'): Promise<void> {
  const lock = readFileSync(LOCK, 'utf8')
  await installLocked({ part: 'sign-in', ...OPENID_PACKAGE, lock, beside: [] }, folder, environment, there)
}
