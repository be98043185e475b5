import { describe, it } from 'vitest'
import { examinerConformance } from '../../../conformance/index.ts'
import always from './index.ts'

describe('always', () => {
  examinerConformance({ describe, it, examiner: always.plugin, asks: false })
})
