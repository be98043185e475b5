import { describe, it } from 'vitest'
import { recipeConformance } from '../../../conformance/index.ts'
import recordOnly from './index.ts'

recipeConformance({ describe, it, recipe: recordOnly.plugin })
