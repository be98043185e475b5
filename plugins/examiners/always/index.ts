/** Publishes every candidate. */
import { define } from '../../../src/contract/index.ts'

export default define('examiner', { examine: async () => ({ select: true }) })
