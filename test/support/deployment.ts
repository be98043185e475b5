/** Two processes over one store, with a trainer that answers what a test says. */
import { expect, vi } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import type { Commit, NewRecord, Recipe, Release, StepOrder, StepResult, Surface } from '../../src/contract/index.ts'
import { newId } from '../../src/kit/index.ts'
import { ScenarioFiles } from '../../src/scenarios/files.ts'
import { Registry } from '../../src/scenarios/registry.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'
import type { ScenarioView, Services } from '../../src/scenarios/services.ts'
import { processorOf, type TrainerHost } from '../../src/training/index.ts'
import { temporaryFolder } from './folder.ts'
import { emptyExchange, hostsOf, nothing, ROOM, servicesInMemory } from './services.ts'

const recipeWith = (surface: Surface): Recipe => ({
  bind: async (scope) => ({
    ...(await recordOnly.plugin.bind(scope)),
    surface: { files: { read: ({ content_id }) => scope.read(content_id) }, ...surface },
    processors: { '': processorOf({ data: { batch_policy: 'records' } }, { name: 'each' }) },
  }),
  trainers: () => ({ '': { lane: 'thread', open: () => ({ step: () => new Promise(() => undefined) }) } }),
})

/** The first of the two trains. */
export class Deployment {
  readonly services: Services
  readonly views = new Map<string, ScenarioView | null>()
  readonly warnings: string[] = []
  /** What the trainer was told, step by step. */
  readonly orders: Pick<StepOrder, 'step' | 'rejections'>[] = []
  readonly #verdicts: StepResult[] = []
  members: readonly Registry[] = []
  #seconds = 0

  private constructor(services: Services) {
    const views = {
      changed: (name: string, view: ScenarioView | null) => void this.views.set(name, view),
      archived: () => undefined,
      settled: nothing,
    }
    const host: TrainerHost = {
      inTurn: (_trainer, _signal, work) =>
        work(async (order) => {
          this.orders.push(order)
          return this.#verdicts.shift() ?? { kind: 'skip', reason: 'nothing to do' }
        }),
      close: nothing,
    }
    const warn = (message: string, error: unknown): void => void this.warnings.push(`${message}: ${String(error)}`)
    this.services = { ...services, views, hosts: hostsOf(host), warn, clock: () => this.now() }
  }

  static async open(surface: Surface = {}): Promise<Deployment> {
    const deployment = new Deployment(
      await servicesInMemory({ plain: recipeWith(surface) }, { files: new ScenarioFiles(temporaryFolder()) }),
    )
    await deployment.start()
    return deployment
  }

  /** Every look at the clock is a second later. */
  now(): number {
    this.#seconds += 1
    return this.#seconds
  }

  async start(): Promise<void> {
    this.members = [await Registry.open(this.services, ROOM), await Registry.open(this.services, ROOM)]
    for (const member of this.members) await member.useOrCreate('a', null, nothing)
  }

  async close(): Promise<void> {
    for (const member of this.members) await member.close()
  }

  get first(): Scenario {
    const scenario = this.members[0]?.loaded('a')
    if (scenario === undefined) throw new Error('the scenario is not loaded')
    return scenario
  }

  /** The same at both, or a failure. */
  async settled(): Promise<void> {
    const { step } = (await this.first.store.head())?.newest ?? { step: -1 }
    await vi.waitFor(() => {
      for (const member of this.members) expect(member.loaded('a')?.history.step).toBeGreaterThanOrEqual(step)
    })
    const [one, other] = this.members.map((member) => member.loaded('a'))
    expect(other?.provisional).toEqual(one?.provisional)
    expect(other?.head()).toEqual(one?.head())
  }

  async step(verdict: StepResult): Promise<Commit> {
    this.#verdicts.push(verdict)
    const { step } = this.first.history
    await this.first.append([emptyExchange(newId())])
    await vi.waitFor(() => expect(this.first.history.step).toBeGreaterThan(step))
    await this.settled()
    const row = await this.first.wholeRow(step + 1)
    if (row === undefined) throw new Error('no row landed')
    return row
  }

  async withdraw(): Promise<void> {
    await this.members[1]?.move('a', this.provisional?.release_id ?? '', 'withdraw')
    await this.settled()
  }

  get provisional(): Release | undefined {
    return this.first.provisional?.release
  }

  /** An exchange that this release served in that session, and a report that scores it. */
  async scored(release: Release, session: string, score: number): Promise<void> {
    const exchange = {
      ...emptyExchange(newId()),
      created_at: this.now(),
      artifact_ref: release.release_id,
      summary: { latency_ms: 1, session },
    }
    await this.first.append([exchange, this.#reportOf(exchange, score)])
  }

  #reportOf({ agent_record_id }: NewRecord, score: number): NewRecord {
    return { ...emptyExchange(newId()), request_type: 'report', created_at: this.now(), references: [agent_record_id], score }
  }
}

export const contentOf = (text: string) => ({ kind: 'files', files: { 'rules.md': text } }) as const
export const publish = (text: string): StepResult => ({ kind: 'publish', content: contentOf(text) })
export const holding = (text: string): StepResult => ({ kind: 'hold', content: contentOf(text) })
