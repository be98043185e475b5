import { describe, it } from 'vitest'
import { storeConformance } from '../../../conformance/store.ts'
import memory from './index.ts'

storeConformance({ describe, it, make: (capacity_bytes) => memory.plugin.make({ capacity_bytes }) })
