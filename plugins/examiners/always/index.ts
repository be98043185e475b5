/** Publishes every candidate. What training says of itself is all there is to go by. */
import { define } from '../../../src/contract/index.ts'

export default define('examiner', { examine: async () => ({ select: true }) })
