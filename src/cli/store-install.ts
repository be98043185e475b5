/** Installs what the postgres store runs on. */
import { readFileSync } from 'node:fs'
import { PG_PACKAGE } from '../contract/index.ts'
import { installLocked } from './package-install.ts'

const LOCK = new URL('../../plugins/stores/postgres/package-lock.json', import.meta.url)

export async function installPostgres(folder: string, environment: NodeJS.ProcessEnv, there: 'keep' | 'replace' = 'keep'): Promise<void> {
  const lock = readFileSync(LOCK, 'utf8')
  await installLocked({ part: 'store', ...PG_PACKAGE, lock, beside: [] }, folder, environment, there)
}
