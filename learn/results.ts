/** The results of a run, as plain data. */
import type { Life } from './life.ts'
import type { Power } from './simulate/power.ts'

export interface Results {
  readonly seeds: number
  /** One per family, gate and seed. */
  readonly lives: readonly LifeOf[]
  readonly noOps: readonly NoOps[]
  readonly power: Power
  readonly chains: readonly Chains[]
}

export interface LifeOf extends Life {
  readonly family: string
  readonly gate: string
  readonly seed: number
}

/** Scenarios with fifty no-op changes. */
export interface NoOps {
  readonly gate: string
  readonly scenarios: number
  /** How many published at least one. */
  readonly publishing: number
}

/** Scenarios with fifty changes, half of them harmful. */
export interface Chains {
  readonly gate: string
  readonly gainMean: number
  readonly gainLow: number
  readonly drawdownHigh: number
  readonly drawdownWorst: number
}

/** The shipped gate. */
export const OURS = 'evidence'
/** The share of the optimum that counts as reached. */
const SHARE_WANTED = 0.9

/** The share of the optimum. */
export const shareOf = ({ sealed, optimum }: Life): number => sealed / optimum
export const isReached = (life: Life): boolean => shareOf(life) >= SHARE_WANTED

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** The value that the given share of the values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

export const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)]
