/** What a report of this recipe must say: its score, and which slot of the served grid it fills. */
import { invalid, isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import type { GridPlace } from '../../../src/training/index.ts'

export interface Grid {
  readonly groupsPerStep: number
  readonly rolloutsPerGroup: number
}

const GROUPS_PER_STEP = 8
const ROLLOUTS_PER_GROUP = 64

/** Of `training.objective_config`. */
export function gridIn({ groups_per_step = GROUPS_PER_STEP, rollouts_per_group = ROLLOUTS_PER_GROUP }: JsonObject): Grid {
  if (!isWhole(groups_per_step, 1))
    throw invalid('bad_setting', 'training.objective_config.groups_per_step must be a whole number of at least 1')
  if (!isWhole(rollouts_per_group, 2))
    throw invalid('bad_setting', 'training.objective_config.rollouts_per_group must be a whole number of at least 2')
  return { groupsPerStep: groups_per_step, rolloutsPerGroup: rollouts_per_group }
}

/** Why a report is refused, or null. */
export function checkTttdReport(grid: Grid): (report: JsonObject) => string | null {
  return (report) => {
    const read = readReport(report, grid)
    return typeof read === 'string' ? read : null
  }
}

/** A report may have been stored while another grid was served, or by a scenario where something else let it in. */
export function placeInGrid(grid: Grid): (report: JsonObject) => GridPlace | string {
  return (report) => {
    const read = readReport(report, grid)
    return typeof read === 'string' ? 'does not fit the served grid' : read
  }
}

function readReport({ score, metadata = {} }: JsonObject, { groupsPerStep, rolloutsPerGroup }: Grid): GridPlace | string {
  if (typeof score !== 'number' || !Number.isFinite(score)) return 'score: must be a finite number'
  if (!isObject(metadata)) return 'metadata: must be an object'
  const { algorithm = 'tttd', step, group, rollout, comparison_set } = metadata
  if (algorithm !== 'tttd' && algorithm !== 'ttt-discover') return 'metadata.algorithm: must be tttd or ttt-discover, or left out'
  if (!isWhole(step, 0)) return 'metadata.step: must be a whole number of at least 0'
  if (metadata['groups_per_step'] !== groupsPerStep) return `metadata.groups_per_step: must be ${groupsPerStep}, as the served grid has it`
  if (metadata['rollouts_per_group'] !== rolloutsPerGroup)
    return `metadata.rollouts_per_group: must be ${rolloutsPerGroup}, as the served grid has it`
  if (!isWhole(group, 0) || group >= groupsPerStep) return `metadata.group: must be a whole number from 0 to ${groupsPerStep - 1}`
  if (!isWhole(rollout, 0) || rollout >= rolloutsPerGroup)
    return `metadata.rollout: must be a whole number from 0 to ${rolloutsPerGroup - 1}`
  const set = `tttd-step-${step}-group-${group}`
  return comparison_set === undefined || comparison_set === set
    ? { step, group, rollout }
    : 'metadata.comparison_set: must be tttd-step-<step>-group-<group> of the same report, or left out'
}

function isWhole(value: Json | undefined, least: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least
}
