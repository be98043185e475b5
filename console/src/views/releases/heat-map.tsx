/** The tasks over the releases, family by family: each cell is the mean score of a task in a release, as a number and a colour. */
import { scoreText } from '../../../../src/presentation/index.ts'
import type { TaskHeat } from '../../data/release-plots.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import './heat-map.css'

const ROWS_MAX = 200

export function HeatMap({ scenario, heat: { columns, families } }: { readonly scenario: string; readonly heat: TaskHeat }) {
  return (
    <section class="card stack tight" aria-label="Tasks over releases">
      <h2>Tasks over releases</h2>
      <div class="heat-map" role="group" tabIndex={0} aria-label="Scores of tasks by release; scrolls sideways">
        <table>
          <thead>
            <tr>
              <th scope="col">Task</th>
              {columns.map(({ id, name }) => (
                <th key={id} scope="col">
                  <a href={hrefOf(placeIn(scenario, 'releases', id))}>{name}</a>
                </th>
              ))}
            </tr>
          </thead>
          {families.map(({ family, rows }) => (
            <tbody key={family}>
              {(families.length > 1 || family !== null) && (
                <tr>
                  <th scope="rowgroup" colSpan={columns.length + 1} class="heat-family">
                    {family === null ? 'no family' : <Text value={family} />}
                  </th>
                </tr>
              )}
              {rows.slice(0, ROWS_MAX).map(({ task, cells }) => (
                <tr key={task}>
                  <th scope="row" title={visible(task)}>
                    <Text value={task} />
                  </th>
                  {cells.map((score, at) => (
                    <td key={columns[at]?.id} class={score === null ? '' : `heat-${levelOf(score)}`}>
                      {score === null ? <span class="hidden-visually">not played</span> : scoreText(score)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </div>
      <p class="muted small">
        Mean score of what each release was tried with: red is 0, green is 1. Releases that played other tasks have gaps.
      </p>
    </section>
  )
}

const LEVELS = 5

/** 0 to 5. */
const levelOf = (score: number): number => Math.round(Math.min(1, Math.max(0, score)) * LEVELS)
