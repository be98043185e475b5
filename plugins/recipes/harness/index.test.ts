import { join } from 'node:path'
import { describe, it } from 'vitest'
import { recipeConformance } from '../../../conformance/index.ts'
import { loadRecipe } from '../../../src/config/index.ts'
import { sharedFolder } from '../../../test/support/folder.ts'
import { argumentsOf, loadArguments } from '../../../test/support/settings.ts'
import { builtins } from '../../index.ts'

const folder = sharedFolder()

const rule = { id: 'style', name: 'rules', config: { text: 'Answer in one sentence.' } }

/** A maker wants its sections whole, as they come out of the configuration. */
async function sectionsFor(adapter: string) {
  const settings = {
    recipe: 'harness',
    'evolution.adapter': adapter,
    'evolution.seed': JSON.stringify([rule]),
    'evolution.executor': 'local',
    'evolution.proposals_dir': join(folder, 'proposals'),
    'evolution.step_record_dir': join(folder, 'steps'),
  }
  const loaded = await loadArguments(argumentsOf(settings))
  const { use: _, ...sections } = loaded.config.recipes['harness'] ?? { use: '' }
  return sections
}

describe.each(Object.keys(builtins.adapter))('for %s', async (adapter) => {
  const config = await sectionsFor(adapter)
  const recipe = await loadRecipe({ name: 'harness', baseDirectory: '.' }, config, builtins)
  recipeConformance({ describe, it, recipe, config })
})
