/**
 * Weights: serves adapters out of an engine, accounts for every token it generates, and turns batches into adapters at a trainer.
 * Does not own graphics cards, know HTTP routes, or decide what is published.
 */
export { openWeights } from './recipe.ts'
export { makeWeightRuntime } from './serving/runtime.ts'
export { readModelShape } from './formats/model-shape.ts'
