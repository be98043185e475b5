/** The forgetful store under the suite of its kind. */
import { describe, it } from 'vitest'
import { contentsConformance } from '../../../conformance/contents.ts'
import memory from './index.ts'

contentsConformance({ describe, it, make: () => memory.plugin.make({}) })
