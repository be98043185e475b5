import { describe, it } from 'vitest'
import { recipeConformance } from '../../../conformance/index.ts'
import { loadRecipe } from '../../../src/config/index.ts'
import { builtins } from '../../index.ts'

const rule = { id: 'style', name: 'rules', config: { text: 'Answer in one sentence.' } }

describe.each(Object.keys(builtins.adapter))('for %s', async (adapter) => {
  const config = { evolution: { adapter, seed: [rule], version_check: null, requests: null } }
  const recipe = await loadRecipe({ name: 'harness', baseDirectory: '.' }, config, builtins)
  recipeConformance({ describe, it, recipe, config })
})
