/** Scenarios whose tasks are alike and nobody says so, and what it costs to be careful where they are not. */
import { familiesOf, sharesOf } from '../../plugins/selections/evidence/families.ts'
import { levelOf } from '../../plugins/selections/evidence/levels.ts'
import { Superiority, type StopReason } from '../../plugins/selections/evidence/superiority.ts'
import { betaOf, randomOf } from '../../plugins/selections/evidence/testing.ts'
import type { Pair, Task } from '../../src/contract/index.ts'
import { joined, movesWith, NO_MOVES, type Moves } from '../../src/evolution/index.ts'

export interface HiddenWorld {
  readonly families: number
  /** How many tasks are alike. */
  readonly size: number
  /** Whether all plays of a family agree; else each is a new throw. */
  readonly isSettled: boolean
  /** How far a change that does nothing moves a family, up or down by a coin. */
  readonly sway: number
}

/** What the gate makes of tasks without a family. */
export interface Care {
  /** Whether it learns families from earlier changes. */
  readonly learns: boolean
  /** `evolution.tasks_alike`. */
  readonly alike: number
}

const ALPHA = 0.05
const PAIRS_MAX = 300
const DECISIONS = 50

export interface HiddenEnd {
  /** The decision that published a change that does nothing; null: none did. */
  readonly publishedAt: number | null
  /** How many families the gate saw at the end. */
  readonly families: number
  /** Whether a gain was found after all the changes that do nothing; null where none was tried. */
  readonly isFound: boolean | null
}

/** One scenario of fifty changes that do nothing, and of one that gains so much, where `gain` is not 0. */
export function playHidden(world: HiddenWorld, scenario: number, care: Care, gain = 0, tasks = unnamed(world)): HiddenEnd {
  const random = randomOf(scenario)
  const thrown = (chance: number): number => Number(random() < chance)
  const chances = Array.from({ length: world.families }, () => betaOf(random))
  const served = chances.map(thrown)
  const playWith = (bent: readonly number[]): PlayTask => {
    const settled = bent.map(thrown)
    return (task) => {
      const family = Math.floor(task / world.size)
      return world.isSettled ? [settled[family] ?? 0, served[family] ?? 0] : [thrown(bent[family] ?? 0), thrown(chances[family] ?? 0)]
    }
  }
  let moves: Moves = NO_MOVES
  for (let decided = 0; decided < DECISIONS; decided += 1) {
    const seen = care.learns ? joined(tasks, moves) : tasks
    const play = playWith(chances.map((chance) => chance + (random() < 0.5 ? world.sway : -world.sway)))
    const { stopped, pairs } = decide(seen, play, care, `${scenario} ${decided}`, decided)
    if (stopped === 'success' && gain === 0) return { publishedAt: decided + 1, families: countOf(seen), isFound: null }
    moves = movesWith(moves, tasks, String(decided), pairs)
  }
  const seen = care.learns ? joined(tasks, moves) : tasks
  const isFound =
    gain === 0
      ? null
      : decide(seen, playWith(chances.map((chance) => chance + gain)), care, `gain ${scenario}`, DECISIONS).stopped === 'success'
  return { publishedAt: null, families: countOf(seen), isFound }
}

const unnamed = ({ families, size }: HiddenWorld): readonly Task[] =>
  Array.from({ length: families * size }, (_, n) => ({ name: `task-${n}`, prompt: `task-${n}`, role: 'gate' }))

type PlayTask = (task: number) => readonly [candidate: number, current: number]

function decide(
  tasks: readonly Task[],
  play: PlayTask,
  { alike }: Care,
  seed: string,
  decided: number,
): { readonly stopped: StopReason | null; readonly pairs: readonly Pair[] } {
  const level = levelOf(ALPHA, { decided, selected: 0 })
  const exam = new Superiority({ families: familiesOf(tasks), shares: sharesOf(tasks, alike), seed, level, pairsMax: PAIRS_MAX })
  const pairs: Pair[] = []
  for (let batch = exam.next(); batch.length > 0; batch = exam.next())
    for (const { task: place, weight, repeat } of batch) {
      const [candidate, current] = play(place)
      exam.add(place, candidate - current, weight)
      const task = tasks[place]
      if (task !== undefined) pairs.push({ task, repeat, candidate, current, weight })
    }
  return { stopped: exam.stopped, pairs }
}

const countOf = (tasks: readonly Task[]): number => Math.max(...familiesOf(tasks)) + 1
