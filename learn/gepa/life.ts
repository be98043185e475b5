/** GEPA in a world: the same episodes, grader, proposals and budget as every gate; its best candidate so far counts as published. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { Brief, Entry, Evaluator, Files, Mutation, Scene, Task } from '../../src/contract/index.ts'
import { admit, renderTree } from '../../src/harness/index.ts'
import { ADAPTER } from '../agent.ts'
import { graderOf } from '../graders.ts'
import { EPISODES, nameOf, NEVER, SILENT, tasksAt, thinkingProposer, type Builtin, type Life } from '../life.ts'
import { makePlayer, reportsOn, type WorldPlayer } from '../player.ts'
import { makeProposer, type MixedProposer, type ProposalSource } from '../proposals.ts'
import { optimumOf, sealedScore } from '../sealed.ts'
import type { World } from '../worlds/world.ts'

export interface Gepa {
  live(world: World, seed: number): Promise<Life>
  close(): Promise<void>
}

const entries = z.array(z.object({ id: z.string(), name: z.string(), config: z.record(z.string(), z.json()) }))
const question = z.discriminatedUnion('op', [
  z.object({ op: z.literal('play'), tree: z.string(), tasks: z.array(z.object({ role: z.enum(['train', 'gate']), index: z.int() })) }),
  z.object({ op: z.literal('propose'), tree: z.string() }),
  z.object({ op: z.literal('end'), candidates: z.array(z.string()), scores: z.array(z.number()) }),
])
type Asked<Op extends string> = Extract<z.infer<typeof question>, { op: Op }>

/** One process plays all lives, one after the other. */
export function openGepa(python: string, builtin: Builtin): Gepa {
  const child = spawn(python, [join(import.meta.dirname, 'adapter.py')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const gone = new AbortController()
  lines.once('close', () => gone.abort(new Error('GEPA ended before its result')))
  const exchange = async (message: object): Promise<z.infer<typeof question>> => {
    const answered = once(lines, 'line', { signal: gone.signal })
    child.stdin.write(`${JSON.stringify(message)}\n`)
    const [line]: readonly unknown[] = await answered
    return question.parse(JSON.parse(String(line)))
  }
  return {
    async live(world, seed) {
      const life = new GepaLife(world, await thinkingProposer(builtin.proposer), builtin.evaluator)
      let asked = await exchange(life.order(seed))
      while (asked.op !== 'end') asked = await exchange(await life.answer(asked))
      child.stdin.write('{}\n')
      return life.end(asked)
    },
    async close() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** What the world answers to GEPA. */
class GepaLife {
  readonly #world: World
  readonly #player: WorldPlayer
  readonly #grader: Evaluator
  readonly #mixed: MixedProposer
  /** By tree: what its last change was, and how many episodes had been played when it was last played. */
  readonly #sources = new Map<string, ProposalSource>()
  readonly #playedAt = new Map<string, number>()
  readonly #parents: (readonly Entry[])[] = []
  readonly #offered = { sensible: 0, 'no-op': 0, harmful: 0, decoy: 0, cheat: 0 }

  constructor(world: World, thinking: Parameters<typeof makeProposer>[1], evaluator: Evaluator) {
    this.#world = world
    this.#player = makePlayer(world)
    this.#grader = graderOf(world, evaluator, () => this.#player.played())
    this.#mixed = makeProposer(world, thinking)
  }

  order(seed: number): object {
    const { train, gate } = this.#tasks()
    return { tree: JSON.stringify(this.#world.start), train: train.length, gate: gate.length, episodes: EPISODES, seed }
  }

  answer(asked: Asked<'play' | 'propose'>): Promise<object> {
    return asked.op === 'play' ? this.#play(asked) : this.#propose(asked)
  }

  /** What does not fit into the budget is not played, and has the score 0. */
  async #play({ tree, tasks }: Asked<'play'>): Promise<object> {
    const spent = this.#player.played() + tasks.length > EPISODES
    const files = renderTree(ADAPTER, entries.parse(JSON.parse(tree)))
    const scores: number[] = []
    for (const { role, index } of tasks) {
      const task = this.#tasks()[role][index]
      scores.push(spent || task === undefined ? 0 : await this.#score(files, task))
    }
    this.#playedAt.set(tree, this.#player.played())
    return { scores, spent }
  }

  /** GEPA wants a number: an episode without a score has 0. */
  async #score(files: Files, task: Task): Promise<number> {
    const episode = this.#player.play(files, task.prompt, task.files ?? {})
    const scene: Scene = { workspace: null, models: {}, executor: this.#player.executor, reference: null, signal: NEVER }
    return (await this.#grader.score(task, episode, scene)) ?? 0
  }

  async #propose({ tree }: Asked<'propose'>): Promise<object> {
    const parent = entries.parse(JSON.parse(tree))
    const proposal = await this.#mixed.proposer.propose(this.#brief(parent))
    this.#offered[this.#mixed.source()] += 1
    const changed = admit(ADAPTER, parent, proposal?.mutations ?? [])
    const next = changed.admitted ? JSON.stringify(changed.entries) : tree
    if (next !== tree) this.#sources.set(next, this.#mixed.source())
    return { tree: next }
  }

  /** The reports of the tree that GEPA changes, as late and as wrong as the world makes them. */
  #brief(parent: readonly Entry[]): Brief {
    const { train } = this.#tasks()
    this.#parents.push(parent)
    const reported = this.#parents[Math.max(0, this.#parents.length - 1 - (this.#world.reports?.delaySteps ?? 0))] ?? parent
    return {
      adapter: ADAPTER,
      entries: parent,
      samples: reportsOn(this.#world, train, reported, this.#parents.length, this.#player.played()),
      request: null,
      models: {},
      tasks: train,
      rejected: [],
      memory: {},
      check: (mutations) => refusalOf(parent, mutations),
      trial: () => Promise.reject(new Error('a proposal of this suite needs no trial')),
      report: SILENT,
      signal: NEVER,
    }
  }

  #tasks(): { readonly train: readonly Task[]; readonly gate: readonly Task[] } {
    const tasks = tasksAt(this.#world, this.#player)
    return { train: tasks.filter(({ role }) => role === 'train'), gate: tasks.filter(({ role }) => role === 'gate') }
  }

  end({ candidates, scores }: Asked<'end'>): Life {
    const published = { helpful: 0, 'no-op': 0, harmful: 0, cheat: 0 }
    const start = sealedScore(this.#world, this.#world.start)
    const curve = [{ episode: 0, sealed: start }]
    let best = scores[0] ?? 0
    for (const [index, tree] of candidates.entries()) {
      const score = scores[index] ?? 0
      if (index === 0 || score <= best) continue
      best = score
      const sealed = sealedScore(this.#world, entries.parse(JSON.parse(tree)))
      published[nameOf(this.#sources.get(tree) ?? 'sensible', sealed - (curve.at(-1)?.sealed ?? start))] += 1
      curve.push({ episode: this.#playedAt.get(tree) ?? 0, sealed })
    }
    const steps = Object.values(this.#offered).reduce((sum, count) => sum + count, 0)
    const sealed = curve.at(-1)?.sealed ?? start
    const [optimum, episodes] = [optimumOf(this.#world), this.#player.played()]
    return { start, optimum, sealed, episodes, steps, published, offered: this.#offered, curve }
  }
}

function refusalOf(parent: readonly Entry[], mutations: readonly Mutation[]): string | null {
  const changed = admit(ADAPTER, parent, mutations)
  return changed.admitted ? null : changed.reason
}
