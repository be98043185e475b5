/** The suite's goals for the shipped gate, and whether they were met. */
import { isReached, OURS, type Results } from './results.ts'

export interface SuiteGoal {
  readonly name: string
  readonly wanted: string
  readonly reached: string
  readonly isMet: boolean
}

const NO_OP_SHARE_MAX = 0.05
const POWER_MIN = 0.9
const EPISODES_SHARE_MAX = 0.6
const REACHED_SHARE_MIN = 0.9

export function goalsOf(results: Results): readonly SuiteGoal[] {
  return [noOpGoal(results), powerGoal(results), costGoal(results), reachGoal(results), cheatGoal(results)]
}

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
  const ours = lives.filter(({ gate }) => gate === OURS)
  const reached = ours.filter(isReached).length
  const least = Math.ceil(leastShare(ours.length) * ours.length)
  return {
    name: 'worlds in which 0.9 of the optimum is reached within 150 episodes',
    wanted: ours.length < WORLDS_MANY ? `at least ${least} of so few` : `at least ${REACHED_SHARE_MIN * 100} %`,
    reached: `${reached} of ${ours.length}`,
    isMet: ours.length > 0 && reached >= least,
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
