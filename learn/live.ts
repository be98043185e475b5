/** Live scores of a provisional release in a world: sessions on it and on the served tree at the same time, under the test that ships. */
import { digest } from '../plugins/runtimes/practice/draw.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Files, Task } from '../src/contract/index.ts'
import { renderTree, entriesIn } from '../src/harness/index.ts'
import { LiveScores, type LiveSide } from '../src/scenarios/live-scores.ts'
import { ADAPTER, runAgent, setupIn } from './agent.ts'
import { answerOf, scoreOfReply, type World } from './worlds/world.ts'

/** What a scenario serves in a moment. */
export interface ServedPair {
  readonly provisional: Files
  readonly head: Files
}

export class LiveSessions {
  readonly #world: World
  #served: ServedPair | null = null
  #scores = new LiveScores()
  #withdrawn: Files[] = []

  constructor(world: World) {
    this.#world = world
  }

  /** One session with each of these tasks on either side. Whether they end the provisional release; then it does not come back. */
  end(served: ServedPair, tasks: readonly Task[], step: number, episode: number): boolean {
    if (!isDeepStrictEqual(served, this.#served)) this.#scores = new LiveScores()
    this.#served = served
    for (const task of tasks) for (const side of SIDES) this.#play(side, served[side], task, step, episode)
    if (!this.#scores.isWorse) return false
    this.#withdrawn = [...this.#withdrawn, served.provisional]
    return true
  }

  isWithdrawn(files: Files): boolean {
    return this.#withdrawn.some((one) => isDeepStrictEqual(one, files))
  }

  /** Once something is published, what was withdrawn may be tried again. */
  forget(): void {
    this.#withdrawn = []
  }

  #play(side: LiveSide, files: Files, task: Task, step: number, episode: number): void {
    const { seed, model } = this.#world
    const rendered = renderTree(ADAPTER, entriesIn(ADAPTER, files))
    const moment = { tree: digest(seed, JSON.stringify(rendered)), episode }
    const session = `live ${seed} ${step} ${task.name} ${side}`
    const { reply } = runAgent(setupIn(rendered), task.prompt, task.files ?? {}, session, model?.(moment))
    this.#scores.add(side, session, scoreOfReply(this.#world, reply, answerOf(task)))
  }
}

const SIDES: readonly LiveSide[] = ['head', 'provisional']
