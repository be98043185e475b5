/** The gates compared: none, a higher mean, and the shipped one. */
import type { Pair, Selection, Side } from '../src/contract/index.ts'

export interface ComparedGate {
  readonly name: string
  readonly selection: Selection
  /** Whether its grader trusts the agents and leaves the expected answers in their workspace. */
  readonly isNaive: boolean
  /** Whether changes are screened before it, as with the shipped settings. */
  readonly isScreened: boolean
  /** Whether it is offered the best change alone, from the first step on: what the gate itself would let through. */
  readonly isKnowing?: boolean
  /** Whether what counts is what a client is served that takes provisional releases. */
  readonly isProvisional?: boolean
}

export const gatesWith = (evidence: Selection): readonly ComparedGate[] => [
  { name: 'no gate', selection: noGate, isNaive: false, isScreened: false },
  { name: 'strict mean, naive grader', selection: strictMean, isNaive: true, isScreened: false },
  { name: 'strict mean', selection: strictMean, isNaive: false, isScreened: false },
  { name: 'evidence', selection: evidence, isNaive: false, isScreened: true },
  { name: PROVISIONAL, selection: evidence, isNaive: false, isScreened: true, isProvisional: true },
  { name: KNOWING, selection: evidence, isNaive: false, isScreened: false, isKnowing: true },
]
export const PROVISIONAL = 'evidence, with the provisional tier'
/** No way to find changes could reach more with this gate. */
export const KNOWING = 'evidence, best change known'

const noGate: Selection = { decide: () => ({ selected: true, reason: 'whatever is proposed is published' }) }

/** A higher mean on the same episodes, as in many systems. */
export const strictMean: Selection = {
  decide(pairs) {
    const [candidate, current] = [meanOf(pairs, 'candidate'), meanOf(pairs, 'current')]
    return { selected: candidate > current, reason: `the mean is ${candidate}, and was ${current}` }
  },
}

function meanOf(pairs: readonly Pair[], side: Side): number {
  const scores = pairs.map((pair) => pair[side]).filter((score) => score !== null)
  return scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length
}
