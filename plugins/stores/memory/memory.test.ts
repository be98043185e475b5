import { describe, it } from 'vitest'
import { storeConformance } from '../../../conformance/store.ts'
import memory from './index.ts'

storeConformance({ describe, it, open: (config) => memory.plugin.make(config), isLasting: false, canSearch: true })
