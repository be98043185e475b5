/** What a run of the suite found, as plain data. */
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

/** Scenarios that were offered fifty changes that change nothing. */
export interface NoOps {
  readonly gate: string
  readonly scenarios: number
  /** How many of them published at least one. */
  readonly publishing: number
}

/** Scenarios that were offered fifty changes, half of them harmful. */
export interface Chains {
  readonly gate: string
  readonly gainMean: number
  readonly gainLow: number
  readonly drawdownHigh: number
  readonly drawdownWorst: number
}

/** The gate that ships. */
export const OURS = 'evidence'
/** What counts as having found what there was to find. */
const SHARE_WANTED = 0.9

/** Of the way from nothing to the best that was within reach. */
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
