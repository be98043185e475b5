/** What the install line of this deployment names, as far as its configuration says. */
import type { InstallLineOrder } from '@svc-ai/client/signing'
import type { LoadedConfig } from '../config/index.ts'

/** Their files are pulled. */
const WITHOUT_INSTALL = new Set(['native', 'terminus'])
/** A built-in agent; the name of another one is known to its plug-in alone. */
const NAME = /^[a-z]+$/

export const hasToken = ({ config: { svc } }: LoadedConfig): boolean => svc.token !== null || svc.tokens.length > 0

/** Null where no recipe is for an agent that can be installed. */
export function installOrder(loaded: LoadedConfig, url: string, key: string): InstallLineOrder | null {
  const { recipe, recipes } = loaded.config
  const inOrder = Object.entries(recipes).toSorted(([one], [other]) => Number(other === recipe) - Number(one === recipe))
  const adapter = inOrder
    .map(([, { evolution }]) => evolution.adapter)
    .find((name) => name !== null && NAME.test(name) && !WITHOUT_INSTALL.has(name))
  return adapter === undefined || adapter === null ? null : { url, adapter, key, hasToken: hasToken(loaded) }
}
