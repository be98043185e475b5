/** The latest thousand exchanges as small plots. */
import { duration } from '../../../../src/presentation/index.ts'
import { useMemo } from 'preact/hooks'
import { usePolled } from '../../poll.ts'
import { useSession } from '../../session.ts'
import { LinePlot } from '../../ui/plot.tsx'
import { statsOf } from './traffic-stats.ts'
import { recordsOfType, SourceBook } from './source-book.ts'

const EXCHANGES_MAX = 1000
const FOLLOW_SECONDS = 3
const HEIGHT = 112

export function TrafficPlots({ scenario, isPaused }: { readonly scenario: string; readonly isPaused: boolean }) {
  const { service } = useSession()
  const book = useMemo(() => new SourceBook(recordsOfType((query) => service(scenario).records(query), 'inference')), [service, scenario])
  const { value: rows } = usePolled(`plots ${scenario}`, () => latest(book), isPaused ? null : FOLLOW_SECONDS)
  const stats = useMemo(() => statsOf(rows ?? []), [rows])
  const every =
    Number.isFinite(stats.stretchSeconds) && stats.requests.length > 0 ? ` per ${duration(stats.stretchSeconds).replace(/^1 /, '')}` : ''
  return (
    <div class="traffic-plots">
      <LinePlot
        title={`Exchanges${every}`}
        kind="bars"
        xIsTime
        height={HEIGHT}
        series={[
          { name: 'exchanges', points: stats.requests },
          ...(stats.failures.length > 0 ? [{ name: 'broken off', tone: 'bad' as const, points: stats.failures }] : []),
        ]}
      />
      <LinePlot
        title="Latency"
        unit="s"
        xIsTime
        height={HEIGHT}
        series={[
          { name: 'p50', points: stats.latencyMedian },
          { name: 'p95', tone: 'plain', points: stats.latencySlow },
        ]}
      />
      <LinePlot
        title={`Tokens${every}`}
        xIsTime
        height={HEIGHT}
        series={[
          { name: 'in', points: stats.tokensIn },
          { name: 'out', tone: 'plain', points: stats.tokensOut },
        ]}
      />
    </div>
  )
}

async function latest(book: SourceBook) {
  await book.follow()
  book.showUnseen()
  for (let known = -1; book.rows.length < EXCHANGES_MAX && book.rows.length !== known;) {
    known = book.rows.length
    await book.want(0, book.count)
  }
  book.keep(EXCHANGES_MAX)
  return book.rows
}
