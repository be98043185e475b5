/** One candidate before the gate, stage by stage: health, then what it was made for, then what it must not break. */
import type { Decision, Draw, Pair, Question, Task } from '../../../src/contract/index.ts'
import { openGate } from './gate.ts'
import { openGuard } from './guard.ts'
import { openHealth } from './health.ts'
import { pairsNeeded } from './noninferiority.ts'
import type { Settings } from './settings.ts'
import { tasksOf, type Stage } from './stage.ts'

export interface Examined {
  readonly draws: readonly Draw[]
  decide(): Decision
}

export function examine(pairs: readonly Pair[], question: Question, settings: Settings): Examined {
  const health = openHealth(pairs, question)
  if (!health.passed) return ended(health)
  return question.kind === 'traffic' ? traffic(pairs, question, settings) : request(pairs, question, settings)
}

function ended({ draws, passed, reason, metrics, ...more }: Stage): Examined {
  return { draws, decide: () => ({ selected: passed, reason, metrics: metrics(), ...more }) }
}

/** Regressions are looked for last: most candidates are not better, and cost nothing here. */
function traffic(pairs: readonly Pair[], question: Question, settings: Settings): Examined {
  if (tasksOf(question, 'gate').length === 0)
    return decided(false, 'there is no task of role gate, so nothing can show that it is better: add some, or ask for the change')
  const regression = tasksOf(question, 'regression')
  const gate = openGate(pairs, question, settings, keptFor(pairs, regression, settings))
  if (!gate.passed || regression.length === 0) return ended(gate)
  const guard = openGuard(pairs, regression, question, settings)
  return ended({
    ...gate,
    draws: guard.draws,
    passed: guard.passed,
    reason: `${gate.reason}; ${guard.reason}`,
    metrics: () => ({ ...gate.metrics(), evidence_regression: guard.metrics()['evidence'] ?? null }),
  })
}

function keptFor(pairs: readonly Pair[], tasks: readonly Task[], { alpha, margin }: Settings): number {
  if (tasks.length === 0 || pairs.some(({ task }) => task.role === 'regression')) return 0
  return pairsNeeded({ tasks: tasks.length, margin, level: alpha })
}

/** A person wants the change, so it need not be better. */
function request(pairs: readonly Pair[], question: Question, settings: Settings): Examined {
  const regression = tasksOf(question, 'regression')
  const guarded = regression.length > 0 ? regression : tasksOf(question, 'gate')
  if (guarded.length === 0) return decided(true, 'it was asked for, and no task of role regression or gate is there to protect anything')
  return ended(openGuard(pairs, guarded, question, settings))
}

const decided = (selected: boolean, reason: string): Examined => ({ draws: [], decide: () => ({ selected, reason }) })
