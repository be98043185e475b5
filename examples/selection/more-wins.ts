/** The smallest selection: a candidate must win more tasks than it loses. */
import { define, type Pair } from '../../src/contract/index.ts'

export default define('selection', {
  decide(pairs) {
    const margins = pairs.map(marginOf)
    const wins = margins.filter((margin) => margin > 0).length
    const losses = margins.filter((margin) => margin < 0).length
    return { selected: wins > losses, reason: `${wins} won and ${losses} lost of ${pairs.length}` }
  },
})

/** A missing score is worse than any. Two missing scores give NaN, which counts for neither side. */
const marginOf = ({ current, candidate }: Pair): number => (candidate ?? -Infinity) - (current ?? -Infinity)
