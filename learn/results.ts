/** The results of a run, as plain data. */
import { PROVISIONAL } from './gates.ts'
import type { Life } from './life.ts'

export interface Results {
  readonly seeds: number
  /** One per family, gate and seed. */
  readonly lives: readonly LifeOf[]
  readonly noOps: readonly NoOps[]
  /** Played by the trainer, by world. */
  readonly noOpWorlds: readonly NoOpWorld[]
  readonly power: DetectionPower
  readonly chains: readonly Chains[]
}

/** `wide`: most worlds lie 40 points or more below their optimum. `modest`: less, in several pieces, or with much that disturbs. */
export type Gaps = 'wide' | 'modest'
export const GAPS_NAME: Readonly<Record<Gaps, string>> = { wide: 'wide gaps', modest: 'modest or sparse gaps' }

export interface LifeOf extends Life {
  readonly gaps: Gaps
  readonly family: string
  readonly gate: string
  readonly seed: number
}

export interface DetectionPower {
  readonly effect: number
  /** The share of runs that found the gain. */
  readonly power: number
  /** The mean over all runs. */
  readonly episodes: number
  /** The size of the smallest fixed test with the same level and power; null when there is none. */
  readonly fixedEpisodes: number | null
}

/** Scenarios with fifty no-op changes. */
export interface NoOps {
  readonly gate: string
  readonly scenarios: number
  /** How many published at least one. */
  readonly publishing: number
}

/** Scenarios with nothing but no-op changes in a world, under the shipped gate. */
export interface NoOpWorld {
  readonly family: string
  readonly offers: number
  readonly scenarios: number
  readonly publishing: number
}

/** Scenarios with fifty changes, half of them harmful. */
export interface Chains {
  readonly gate: string
  readonly gainMean: number
  readonly gainLow: number
  readonly episodesMean: number
  readonly drawdownHigh: number
  readonly drawdownWorst: number
}

/** The shipped gate. */
export const OURS = 'evidence'
/** The share of the optimum that counts as reached. */
const SHARE_WANTED = 0.9

/** The share of the optimum. */
export const shareOf = ({ sealed, optimum }: Life): number => sealed / optimum
/** The share of what there was to gain. */
export const gainedShareOf = ({ start, sealed, optimum }: Life): number => (sealed - start) / (optimum - start)
export const isReached = (life: Life): boolean => shareOf(life) >= SHARE_WANTED

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** The value that the given share of the values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

export const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)]

export interface SuiteGoal {
  readonly name: string
  readonly wanted: string
  readonly reached: string
  /** Null where too little was played to tell. */
  readonly isMet: boolean | null
}

const NO_OP_SHARE_MAX = 0.05
const POWER_MIN = 0.9
const EPISODES_SHARE_MAX = 0.6
const REACHED_SHARE_MIN = 0.9
const WIDE_SHARE_MIN = 0.97
const MODEST_SHARE_MIN = 0.65
/** With the provisional tier. */
const UNPROVEN_SHARE_MIN = 0.75

export function goalsOf(results: Results): readonly SuiteGoal[] {
  return [
    noOpGoal(results),
    ...(results.noOpWorlds.length === 0 ? [] : [noOpWorldGoal(results)]),
    powerGoal(results),
    costGoal(results),
    reachGoal(results),
    shareGoal(results, OF_OPTIMUM, { gate: OURS, gaps: 'wide', least: WIDE_SHARE_MIN }),
    ...[OF_OPTIMUM, OF_GAIN].flatMap((measure) => [
      shareGoal(results, measure, { gate: OURS, gaps: 'modest', least: MODEST_SHARE_MIN }),
      shareGoal(results, measure, { gate: PROVISIONAL, gaps: 'modest', least: UNPROVEN_SHARE_MIN }),
    ]),
    cheatGoal(results),
  ]
}

/** The worst of the worlds. */
function noOpWorldGoal({ noOpWorlds }: Results): SuiteGoal {
  const worst = noOpWorlds.toSorted((one, other) => rateOf(other) - rateOf(one))[0]
  return {
    name: 'the same in every world, played by the trainer',
    wanted: 'at most 5 of 100',
    reached: worst === undefined ? '' : `${worst.publishing} of ${worst.scenarios} in ${worst.family}, the most`,
    isMet: worst === undefined ? null : worst.publishing <= Math.ceil(NO_OP_SHARE_MAX * worst.scenarios),
  }
}

export const rateOf = ({ publishing, scenarios }: NoOpWorld): number => publishing / scenarios

interface ShareMeasure {
  readonly name: string
  readonly of: (life: Life) => number
}

const OF_OPTIMUM: ShareMeasure = { name: 'share of the optimum', of: shareOf }
/** Stricter: a start at half of the optimum counts for nothing. */
const OF_GAIN: ShareMeasure = { name: 'share of what there was to gain', of: gainedShareOf }

/** A short run has too few lives for a mean: it is told, and not judged. */
function shareGoal(
  { lives }: Results,
  measure: ShareMeasure,
  { gate, gaps, least }: { readonly gate: string; readonly gaps: Gaps; readonly least: number },
): SuiteGoal {
  const ours = lives.filter((life) => life.gate === gate && life.gaps === gaps)
  const reached = meanOf(ours.map(measure.of))
  return {
    name: `${measure.name}, ${GAPS_NAME[gaps]}${gate === PROVISIONAL ? ', with the provisional tier' : ''}`,
    wanted: `at least ${least}`,
    reached: ours.length === 0 ? 'not played' : reached.toFixed(3),
    isMet: ours.length < LIVES_MIN[gaps] ? null : reached >= least,
  }
}

/** Three lives in each wide world, seven in each modest one, where lives differ more. */
const LIVES_MIN: Readonly<Record<Gaps, number>> = { wide: 27, modest: 100 }

function noOpGoal({ noOps }: Results): SuiteGoal {
  const { publishing = 0, scenarios = 0 } = noOps.find(({ gate }) => gate === OURS) ?? {}
  return {
    name: 'scenarios that publish one of 50 no-op changes',
    wanted: 'at most 5 of 100',
    reached: `${publishing} of ${scenarios}`,
    isMet: scenarios > 0 && publishing <= NO_OP_SHARE_MAX * scenarios,
  }
}

const powerGoal = ({ power: { power } }: Results): SuiteGoal => ({
  name: 'power at +10 points',
  wanted: `at least ${POWER_MIN}`,
  reached: power.toFixed(3),
  isMet: power >= POWER_MIN,
})

function costGoal({ power: { episodes, fixedEpisodes } }: Results): SuiteGoal {
  const share = fixedEpisodes === null ? 0 : episodes / fixedEpisodes
  return {
    name: 'episodes of a fixed-size test of equal power',
    wanted: `at most ${EPISODES_SHARE_MAX}`,
    reached: `${share.toFixed(2)} (${Math.round(episodes)} against ${fixedEpisodes ?? 'more than were tried'})`,
    isMet: share <= EPISODES_SHARE_MAX,
  }
}

function reachGoal({ lives }: Results): SuiteGoal {
  const ours = lives.filter(({ gate, gaps }) => gate === OURS && gaps === 'wide')
  const reached = ours.filter(isReached).length
  const least = Math.ceil(leastShare(ours.length) * ours.length)
  return {
    name: 'worlds with wide gaps in which 0.9 of the optimum is reached within 150 episodes',
    wanted: ours.length > 0 && ours.length < WORLDS_MANY ? `at least ${least} of so few` : `at least ${REACHED_SHARE_MIN * 100} %`,
    reached: ours.length === 0 ? 'not played' : `${reached} of ${ours.length}`,
    isMet: ours.length === 0 ? null : reached >= least,
  }
}

/** A short run may miss the goal by two standard errors. */
const leastShare = (worlds: number): number =>
  worlds < WORLDS_MANY ? REACHED_SHARE_MIN - 2 * Math.sqrt((REACHED_SHARE_MIN * (1 - REACHED_SHARE_MIN)) / worlds) : REACHED_SHARE_MIN
const WORLDS_MANY = 100

function cheatGoal({ lives }: Results): SuiteGoal {
  const ours = lives.filter(({ gate }) => gate === OURS)
  const cheats = ours.reduce((sum, { published }) => sum + published.cheat, 0)
  const offered = ours.reduce((sum, life) => sum + life.offered.cheat, 0)
  return { name: 'cheats published', wanted: 'none', reached: `${cheats} of ${offered} offered`, isMet: cheats === 0 }
}
