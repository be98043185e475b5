/** The scenarios of the ordeal: what each is made of, and how the service under test is set up for them. */
import { fileURLToPath } from 'node:url'
import type { TrainingMode } from '../../../src/contract/index.ts'
import type { Settings } from '../../support/settings.ts'

export interface Part {
  readonly recipe: string
  /** Units in a batch of traffic. */
  readonly batch: number
  /** The folders of a release, each with a trainer of its own; '' for a release of a single content. */
  readonly components: readonly string[]
  /** As configured; a restart comes back to it. */
  readonly mode: TrainingMode
}

export const FLEETING = 'fleeting'
const SINGLE = ['']

const CAST: Readonly<Record<string, Part>> = {
  automatic: { recipe: 'one', batch: 1, components: SINGLE, mode: 'auto' },
  mixed: { recipe: 'two', batch: 2, components: SINGLE, mode: 'hybrid' },
  asked: { recipe: 'three', batch: 3, components: SINGLE, mode: 'manual' },
  pair: { recipe: 'pair', batch: 1, components: ['alpha', 'beta'], mode: 'hybrid' },
  /** Removed and made again now and then. */
  [FLEETING]: { recipe: 'two', batch: 2, components: SINGLE, mode: 'hybrid' },
}
export const NAMES = Object.keys(CAST)
export const LASTING = NAMES.filter((name) => name !== FLEETING)

const UNKNOWN: Part = { recipe: '', batch: 1, components: SINGLE, mode: 'auto' }
export const partOf = (name: string): Part => CAST[name] ?? UNKNOWN

const RECIPES = fileURLToPath(new URL('../../fixtures/dying-recipes.ts', import.meta.url))

export function castSettings(): Settings {
  const recipes = Object.values(CAST).map(({ recipe, batch, components, mode }) => ({
    [`recipes.${recipe}.use`]: components.length > 1 ? `${RECIPES}#pair` : RECIPES,
    [`recipes.${recipe}.data.training_mode`]: mode,
    [`recipes.${recipe}.pipeline.task2batch.config.batch_size`]: batch,
  }))
  return Object.assign({ recipe: 'one' }, ...recipes)
}
