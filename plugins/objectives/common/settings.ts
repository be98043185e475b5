/** Checks of `training.objective_config`: known settings only, each in its range. */
import { invalid, type JsonObject } from '../../../src/contract/index.ts'

export function refuseUnknown(objective: string, config: JsonObject, known: readonly string[]): void {
  const stray = Object.keys(config).find((key) => !known.includes(key))
  if (stray === undefined) return
  const cure = known.length === 0 ? 'it has none; remove it' : `it knows ${known.join(', ')}`
  throw invalid('unknown_setting', `training.objective_config: the objective ${objective} knows no setting "${stray}"; ${cure}`)
}

export function numberIn(config: JsonObject, key: string, normally: number, least: number, most: number): number {
  const value = config[key] ?? normally
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw invalid('bad_setting', `training.objective_config.${key} must be a number from ${least} to ${most}`)
  return value
}
