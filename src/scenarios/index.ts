/**
 * Scenarios: creates, loads, binds, unloads and archives them. No other room holds loaded scenarios.
 * Does not parse requests, or train.
 */
export { budgetEnded } from './budget.ts'
export { catalogRows, listedRows, type PlacedRow } from './catalog.ts'
export { checkTotals } from './check-totals.ts'
export { componentsOf } from './composed.ts'
export type { ConfiguredRecipe, ScenarioView, ServedViews, Services } from './services.ts'
export { lifeOf, ScenarioFiles } from './files.ts'
export { checkModelSettings, modelView, parseModelSettings } from './model.ts'
export { scenarioName } from './create.ts'
export { findingOf } from './imported.ts'
export { Registry } from './registry.ts'
export { relatedReleases, relatedRows } from './related.ts'
export type { Scenario } from './scenario.ts'
