/** Selects every candidate that ran. For experiments, and where a person reviews every release. */
import { define } from '../../../src/contract/index.ts'

export default define('selection', {
  decide(pairs) {
    const scored = pairs.filter(({ candidate }) => candidate !== null).length
    return scored > 0
      ? { selected: true, reason: `it ran: ${scored} of ${pairs.length} episodes of the candidate were scored, and no score is compared` }
      : { selected: false, reason: 'no episode of the candidate was scored, so nothing shows that it runs' }
  },
})
