import { describe, it } from 'vitest'
import { storeConformance } from '../../../conformance/store.ts'
import sqlite from './index.ts'

storeConformance({ describe, it, open: (config) => sqlite.plugin.make(config), isLasting: true, canSearch: true })
