/** A candidate must win more pairs than it loses, by a margin. It publishes too often by chance; `evidence` does not. */
import { define, invalid, type JsonObject, type Pair } from '../../../src/contract/index.ts'

export default define('selection', {
  make(config) {
    const margin = marginIn(config)
    return {
      decide(pairs) {
        const leads = pairs.map(leadOf)
        const wins = leads.filter((lead) => lead > 0).length
        const losses = leads.filter((lead) => lead < 0).length
        const ties = pairs.length - wins - losses
        const worse = pairs.find((pair) => pair.task.role === 'regression' && leadOf(pair) < 0)
        const counted = `${wins} won, ${losses} lost and ${ties} tied; selected when the lead is above ${margin}`
        const reason = worse === undefined ? counted : `${counted}, and ${worse.task.name}, which must not get worse, did`
        return { selected: worse === undefined && wins - losses > margin, reason, metrics: { wins, losses, ties, min_win_margin: margin } }
      },
    }
  },
})

function marginIn({ min_win_margin: margin = 0 }: JsonObject): number {
  if (typeof margin !== 'number' || !(margin >= 0 && margin < Infinity))
    throw invalid('bad_setting', 'evolution.min_win_margin must be a number of pairs, 0 or more')
  return margin
}

/** A missing score ranks below any score. Two missing scores give NaN, which counts as a tie. */
const leadOf = ({ candidate, current }: Pair): number => (candidate ?? -Infinity) - (current ?? -Infinity)
