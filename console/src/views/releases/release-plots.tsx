/** The plots over the releases: the training of weights, score with its interval, cost and time beside it, score against both, and the tasks as a heat map. */
import { paretoPlots, type StepChain } from '../../data/chain.ts'
import { measurePlots, releaseNames, scoreSeries, taskHeat, trainingPlots } from '../../data/release-plots.ts'
import { LinePlot } from '../../ui/plot.tsx'
import { HeatMap } from './heat-map.tsx'

export function ReleasePlots({ scenario, chain }: { readonly scenario: string; readonly chain: StepChain }) {
  const [scores, measures, pareto, heat] = [scoreSeries(chain), measurePlots(chain), paretoPlots(chain), taskHeat(chain)]
  const [training, names] = [trainingPlots(chain), releaseNames(chain)]
  return (
    <>
      {training.length > 0 && (
        <section class="card stack tight" aria-label="Training">
          <div class="cards">
            {training.map(({ title, unit, series }) => (
              <LinePlot key={title} title={title} series={series} unit={unit} xNames={names} height={120} />
            ))}
          </div>
        </section>
      )}
      {scores.length > 0 && (
        <section class="card stack tight" aria-label="Scores">
          <LinePlot title="Score over releases, mean per episode" series={scores} xNames={names} />
          <p class="muted small">
            A whisker is where the candidate lies with confidence: what was served then, and the interval of the difference.
          </p>
          {measures.length > 0 && (
            <div class="cards">
              {measures.map(({ title, unit, series }) => (
                <LinePlot key={title} title={title} series={series} unit={unit} xNames={names} height={120} />
              ))}
            </div>
          )}
        </section>
      )}
      {heat !== null && <HeatMap scenario={scenario} heat={heat} />}
      {pareto.length > 0 && (
        <section class="card" aria-label="Score against cost and time">
          {pareto.map(({ title, series }) => (
            <LinePlot key={title} kind="points" title={title} series={series} />
          ))}
        </section>
      )}
    </>
  )
}
