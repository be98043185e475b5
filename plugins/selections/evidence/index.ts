/**
 * Evidence: selects what is shown to be better by sequential e-value tests, keeps false publications within alpha per fifty decisions, and
 * stops early either way. Scores count from 0 to 1. Does not play, score or store anything. docs/decisions/0016-evidence.md has the reasons.
 */
import { define, invalid, type Decision, type Draw, type Pair, type Question, type Task } from '../../../src/contract/index.ts'
import { counted } from '../../../src/kit/index.ts'
import { openGate } from './gate.ts'
import { openGuard } from './guard.ts'
import { sumLevelOf } from './levels.ts'
import { pairsNeeded } from './noninferiority.ts'
import { PAIRS_MAX, readSettings, tasksOf, type EvidenceSettings, type TestStage } from './stage.ts'

export default define('selection', {
  make(config) {
    const settings = readSettings(config)
    refuseTooFine(settings)
    return {
      next: (question) => examine(question.pairs, question, settings).draws,
      decide: (pairs, question) => examine(pairs, question, settings).decide(),
      boundsSum: true,
    }
  },
})

/** A margin that not even ties can show holds every change back for ever. */
function refuseTooFine({ alpha, margin }: EvidenceSettings): void {
  if (pairsNeeded({ tasks: 1, margin, level: alpha }) <= PAIRS_MAX) return
  throw invalid('bad_setting', `evolution.margin is too small to be shown with ${PAIRS_MAX} pairs; raise it, or evolution.alpha`)
}

const PASSED_SCORE = 1

export interface Examined {
  readonly draws: readonly Draw[]
  decide(): Decision
}

export function examine(pairs: readonly Pair[], question: Question, settings: EvidenceSettings): Examined {
  const health = openHealth(pairs, question)
  if (!health.passed) return ended(health)
  return question.kind === 'traffic' ? traffic(pairs, question, settings) : request(pairs, question, settings)
}

function ended({ draws, passed, reason, metrics, ...more }: TestStage): Examined {
  return { draws, decide: () => ({ selected: passed, reason, metrics: metrics(), ...more }) }
}

/** Regression comes last, since most candidates fail before it. */
function traffic(pairs: readonly Pair[], question: Question, settings: EvidenceSettings): Examined {
  if (tasksOf(question, 'gate').length === 0)
    return decided(false, 'there is no task of role gate, so nothing can show that it is better; add some, or request the change')
  const regression = tasksOf(question, 'regression')
  const gate = openGate(pairs, question, settings, keptFor(pairs, regression, settings))
  if (!gate.passed || regression.length === 0) return ended(gate)
  const guard = openGuard(pairs, regression, question, settings)
  return ended({
    ...guard,
    reason: `${gate.reason}; ${guard.reason}`,
    episodesMax: (gate.episodesMax ?? 0) + (guard.episodesMax ?? 0),
    metrics: () => ({ ...gate.metrics(), evidence_regression: guard.metrics()['evidence'] ?? null }),
  })
}

function keptFor(pairs: readonly Pair[], tasks: readonly Task[], { alpha, margin }: EvidenceSettings): number {
  if (tasks.length === 0 || pairs.some(({ task }) => task.role === 'regression')) return 0
  return pairsNeeded({ tasks: tasks.length, margin, level: alpha })
}

/** A requested change need not be better. */
function request(pairs: readonly Pair[], question: Question, settings: EvidenceSettings): Examined {
  const regression = tasksOf(question, 'regression')
  const guarded = regression.length > 0 ? regression : tasksOf(question, 'gate')
  if (guarded.length === 0) return decided(true, 'it was requested, and there is no task of role regression or gate to protect')
  const { sum } = question
  return ended(openGuard(pairs, guarded, question, sum === undefined ? settings : { ...settings, alpha: sumLevelOf(settings.alpha, sum) }))
}

const decided = (selected: boolean, reason: string): Examined => ({ draws: [], decide: () => ({ selected, reason }) })

/** The health tasks: every candidate must pass each of them first. */
function openHealth(pairs: readonly Pair[], question: Question): TestStage {
  const tasks = tasksOf(question, 'health')
  const played = new Map(pairs.map(({ task, candidate }) => [task.name, candidate]))
  const failed = tasks.filter(({ name }) => played.has(name) && (played.get(name) ?? 0) < PASSED_SCORE)
  const waiting = tasks.filter(({ name }) => !played.has(name))
  const passed = failed.length + waiting.length === 0
  return {
    draws: failed.length > 0 ? [] : waiting.map(({ name }) => ({ task: name, repeat: 0, sides: ['candidate'] })),
    passed,
    reason: passed
      ? `all of ${counted(tasks.length, 'health task')} passed`
      : `${failed.length} of ${counted(tasks.length, 'health task')} failed${waiting.length > 0 ? `, ${waiting.length} not played` : ''}`,
    isOpen: failed.length === 0,
    metrics: () => ({ evidence: { stopped: failed.length > 0 ? 'health' : 'unfinished' } }),
  }
}
