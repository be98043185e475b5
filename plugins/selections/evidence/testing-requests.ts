/** Simulates requests in a row without agents: what twenty of them lose together, and what the tests cost. */
import { sumLevelOf } from './levels.ts'
import { NonInferiority } from './noninferiority.ts'
import { betaOf, randomOf } from './testing.ts'

/** Twenty requests of one life, on tasks with these chances of passing. */
export interface SimulatedRequests {
  readonly tasks: number
  readonly chanceOf: (random: () => number) => number
  /** How much each request lowers every chance. */
  readonly loss: number
  /** Whether a request is also compared with what was served before the first. */
  readonly boundsSum: boolean
}

/** Chances that can fall by 60 points, and differ a lot between two plays. */
export const passable = (random: () => number): number => 0.65 + 0.3 * random()
/** Many tasks always or never pass. */
export const usual = betaOf

interface RequestsEnd {
  readonly published: number
  /** Of the chance of passing, in the mean over the tasks. */
  readonly lost: number
  readonly episodes: number
}

const REQUESTS = 20
const MARGIN = 0.1
const ALPHA = 0.05
const PAIRS_MAX = 1000

function twentyRequests({ tasks, chanceOf, loss, boundsSum }: SimulatedRequests, run: number): RequestsEnd {
  const random = randomOf(run)
  const chances = Array.from({ length: tasks }, () => chanceOf(random))
  const lowered = (task: number, requests: number): number => Math.max(0, (chances[task] ?? 0) - loss * requests)
  let [published, failed, episodes] = [0, 0, 0]
  const play = (task: number, requests: number): number => {
    episodes += 1
    return random() < lowered(task, requests) ? 1 : 0
  }
  for (let request = 0; request < REQUESTS; request += 1) {
    const known = new Map<string, number>()
    const candidate = (task: number, repeat: number): number => {
      const key = `${task} ${repeat}`
      const score = known.get(key) ?? play(task, published + 1)
      known.set(key, score)
      return score
    }
    const isShown = (level: number, before: number): boolean =>
      passes({ tasks, level }, (task, repeat) => candidate(task, repeat) - play(task, before))
    if (!isShown(ALPHA, published)) continue
    const isBounded = !boundsSum || published === 0 || isShown(sumLevelOf(ALPHA, { failed }), 0)
    if (isBounded) published += 1
    else failed += 1
  }
  const lost = chances.reduce((sum, chance, task) => sum + chance - lowered(task, published), 0) / tasks
  return { published, lost, episodes }
}

function passes(
  { tasks, level }: { readonly tasks: number; readonly level: number },
  play: (task: number, repeat: number) => number,
): boolean {
  const exam = new NonInferiority({ tasks, margin: MARGIN, level, pairsMax: PAIRS_MAX })
  for (let batch = exam.next(); batch.length > 0; batch = exam.next())
    for (const { task, repeat } of batch) exam.add(task, play(task, repeat))
  return exam.stopped === 'success'
}

export interface RequestsSummary {
  /** Of all requests. */
  readonly published: number
  readonly lost: number
  /** The share of lives that lost more than the margin. */
  readonly beyond: number
  /** For each request. */
  readonly episodes: number
}

export function requestsIn(world: SimulatedRequests, lives: number): RequestsSummary {
  const ends = Array.from({ length: lives }, (_, life) => twentyRequests(world, life))
  const mean = (of: (end: RequestsEnd) => number): number => ends.reduce((sum, end) => sum + of(end), 0) / lives
  return {
    published: mean(({ published }) => published) / REQUESTS,
    lost: mean(({ lost }) => lost),
    beyond: mean(({ lost }) => (lost > MARGIN + 1e-9 ? 1 : 0)),
    episodes: mean(({ episodes }) => episodes) / REQUESTS,
  }
}
