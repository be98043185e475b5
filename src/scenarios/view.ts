/** What a scenario serves, as data: a listener thread answers inference from it. */
import type { Scenario } from './scenario.ts'
import type { ScenarioView, Services } from './services.ts'

/** Hooks, weights and a runtime of the recipe's own are no data: the thread that holds the scenario answers there. */
export function viewOf({ runtime }: Services, scenario: Scenario): ScenarioView {
  const { name, start, surface, history, pulledId, model } = scenario
  const isPlain = surface.hooks === undefined && surface.weights === undefined && scenario.runtime === runtime
  if (!isPlain) return { kind: 'held', name }
  return {
    kind: 'plain',
    name,
    start,
    step: history.step,
    head: scenario.head(),
    provisional: scenario.provisional,
    pulledId,
    servesFiles: surface.files !== undefined,
    model,
  }
}
