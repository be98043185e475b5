/** What the service says of its configuration: every setting without secrets, the recipes, the default one first, and its certificate. */
import { shownConfig, type LoadedConfig } from '../config/index.ts'
import type { HttpServices, TlsPair } from '../http/index.ts'

export function shownFacts(loaded: LoadedConfig, tls: TlsPair | null): Pick<HttpServices, 'configuration' | 'certificateExpiresAt'> {
  const { recipe, recipes } = loaded.config
  return {
    configuration: { ...shownConfig(loaded), recipes: [recipe, ...Object.keys(recipes).filter((name) => name !== recipe)] },
    certificateExpiresAt: tls?.expiresAt ?? null,
  }
}
