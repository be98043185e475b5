/** Plays the candidate alone, which must reach a score on every task. */
import { define, invalid, type JsonObject, type Question } from '../../../src/contract/index.ts'

const FLOOR_SCORE_DEFAULT = 1

export default define('selection', {
  make(config) {
    const floor = floorIn(config)
    return {
      next: unplayed,
      decide(pairs, question) {
        const passed = pairs.filter(({ candidate }) => candidate !== null && candidate >= floor).length
        const failed = pairs.length - passed
        const missing = unplayed({ ...question, pairs }).length
        const played = pairs.length === 0 ? 'no task was played' : `${passed} of ${pairs.length} scored ${floor} or more`
        return {
          // Tasks that were not played count as failed.
          selected: passed > 0 && failed === 0 && missing === 0,
          reason: missing === 0 || pairs.length === 0 ? played : `${played}, and ${missing} were not played`,
          metrics: { passed, failed, floor_score: floor, evaluation_sides: ['candidate'] },
        }
      },
    }
  },
})

function floorIn({ floor_score: floor = FLOOR_SCORE_DEFAULT }: JsonObject): number {
  if (typeof floor !== 'number' || !Number.isFinite(floor)) throw invalid('bad_setting', 'evolution.floor_score must be a finite number')
  return floor
}

function unplayed({ tasks, pairs, repeats }: Question): readonly { task: string; repeat: number; sides: readonly ['candidate'] }[] {
  const played = new Set(pairs.map(({ task, repeat }) => `${repeat} ${task.name}`))
  const all = tasks.flatMap(({ name }) =>
    Array.from({ length: repeats }, (_, repeat) => ({ task: name, repeat, sides: ['candidate'] as const })),
  )
  return all.filter(({ task, repeat }) => !played.has(`${repeat} ${task}`))
}
