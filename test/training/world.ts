/** The world of one modelled scenario: stores that survive restarts, scripted trainers, and a check after every command. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { vi } from 'vitest'
import memoryContents from '../../plugins/contents/memory/index.ts'
import memoryStore from '../../plugins/stores/memory/index.ts'
import {
  unknown,
  type Commit,
  type ContentStore,
  type NewRecord,
  type ScenarioStore,
  type Store,
  type TrainingMode,
} from '../../src/contract/index.ts'
import { catalogOf } from '../../src/releases/index.ts'
import { History } from '../../src/scenarios/history.ts'
import { Registry, type Services, type Scenario } from '../../src/scenarios/index.ts'
import { followRows } from '../../src/scenarios/read-history.ts'
import ledger from '../fixtures/training/ledger.ts'
import pair, { reevaluate, refuse } from '../fixtures/training/pair.ts'
import { hostsOf, ROOM, servicesInMemory } from '../support/services.ts'
import type { Rules } from './history.ts'
import { Model } from './model.ts'
import { poweredContents, poweredStore, PoweredFiles, Power, type Durable } from './power.ts'
import { ScriptedHost, type Line } from './trainer.ts'

/** The modelled scenario, and another that may evict it from memory. */
export const NAME = 'main'
const OTHER = 'other'
const A_LONG_TIME_SECONDS = 1000

export interface Settings extends Rules {
  /** Concurrent steps. */
  readonly turns: number
  /** Delays of store calls, in event-loop turns. */
  readonly delays: readonly number[]
}

export interface Stores {
  readonly store: Store
  readonly contents: ContentStore
}

/** Opens the stores, the first time and after every restart. */
export type OpenStores = (before: Stores | null) => Promise<Stores>

/** The same stores after a restart, like a disk, without what was chosen at run time. */
export const inMemory: OpenStores = async (before) => {
  if (before === null) return { store: await memoryStore.plugin.make({}), contents: await memoryContents.plugin.make({}) }
  for (const name of await before.store.scenarios()) await before.store.scenario(name).configure({ training_mode: null })
  return before
}

const RECIPES = { merge: pair, reevaluate, refuse }

export class ScenarioWorld {
  readonly #settings: Settings
  readonly #open: OpenStores
  #stores: Stores | null = null
  power = new Power([], () => undefined)
  readonly host: ScriptedHost
  #registry: Registry | null = null
  #model: Model | null = null
  /** Modes are not persistent. */
  #mode: TrainingMode
  #seconds = 1_000_000
  #ids = 0
  #pointer: string | null = null
  readonly #wrongs: string[] = []

  constructor(settings: Settings, script: readonly Line[], open: OpenStores) {
    this.#settings = settings
    this.#open = open
    this.#mode = settings.configuredMode
    this.host = new ScriptedHost(settings.turns, script, {
      asked: () => this.model.asked,
      taken: (component, order, asked) => this.model.taken(component, order, asked),
      ended: (component, verdict) => this.model.ended(component, verdict),
    })
  }

  /** The model of the scenario; throws while there is none. */
  get model(): Model {
    assert(this.#model !== null, 'the scenario does not exist')
    return this.#model
  }
  get exists(): boolean {
    return this.#model !== null
  }
  get registry(): Registry {
    assert(this.#registry !== null, 'the service is not running')
    return this.#registry
  }

  async start(): Promise<void> {
    this.#stores = await this.#open(this.#stores)
    if (!this.power.isOn) for (const lease of this.power.leases) await lease.release()
    this.power = new Power(this.#settings.delays, () => this.#model?.serviceFailed())
    this.#mode = this.#settings.configuredMode
    this.#model?.chosen(this.#mode)
    // Failures before the restart cause no back-off.
    this.#model?.timePassed()
    this.#seconds += 1
    this.#registry = await Registry.open(await this.#services(this.#stores), { ...ROOM, loadedMax: 1 })
    await this.#registry.preload(new AbortController().signal)
  }

  async stop(): Promise<void> {
    await this.registry.close()
    await this.power.quiet()
  }

  async close(): Promise<void> {
    await this.stop()
    await this.#stores?.store.close()
    await this.#stores?.contents.close()
  }

  newId(prefix: string): string {
    this.#ids += 1
    return `${prefix}${this.#ids}`
  }

  /** Acknowledged records must be stored. */
  async append(records: readonly NewRecord[]): Promise<void> {
    await this.registry.useOrCreate(NAME, null, async (scenario) => {
      await refuseForeign(scenario, records)
      return scenario.append(records)
    })
    const kept = new Set(this.model.records.map(({ id }) => id))
    for (const { agent_record_id: id } of records) if (!kept.has(id)) this.#wrongs.push(`${id} was acknowledged and is not kept`)
  }

  async choose(mode: TrainingMode): Promise<void> {
    this.#model?.consider(mode)
    await this.registry.update(NAME, { mode }).catch((error: unknown) => {
      this.#model?.serviceFailed()
      throw error
    })
    this.#mode = mode
    this.#model?.chosen(mode)
  }

  /** Uses another scenario, which may evict this one. */
  async callElsewhere(): Promise<void> {
    await this.registry.useOrCreate(OTHER, null, () => Promise.resolve())
  }

  later(): void {
    this.#seconds += A_LONG_TIME_SECONDS
    this.#model?.timePassed()
    vi.advanceTimersByTime(A_LONG_TIME_SECONDS * 1000)
  }

  /** Everything that must hold when idle. */
  async check(): Promise<void> {
    await this.power.quiet()
    const wrongs = [...this.#wrongs]
    if (this.#model === null && this.#pointer !== null) wrongs.push('a scenario that is gone has a pointer')
    if (this.#model !== null) {
      this.#model.rest((component) => this.host.isWorking(component))
      wrongs.push(...this.#model.wrongs, ...(await this.#strayed(this.#model)))
    }
    assert.deepEqual(wrongs, [])
  }

  /** Differences of the stores and the loaded scenario from the model. */
  async #strayed(model: Model): Promise<readonly string[]> {
    assert(this.#stores !== null)
    const kept = this.#stores.store.scenario(NAME)
    const records = await kept.records({ after: 0, limit: 1000 })
    const wrongs = unequal(
      'records',
      idsOf(records),
      model.records.map(({ id }) => id),
    )
    wrongs.push(...unequal('rows', await kept.commits({ after: -1, limit: 1000 }), model.rows))
    for (const { release } of model.rows) {
      if (release === null) continue
      const files = await this.#stores.contents.read(release.content_id)
      wrongs.push(...unequal(`files of ${release.release_id}`, files, model.filesOf(release.release_id)))
    }
    const scenario = this.registry.loaded(NAME)
    if (scenario === undefined) return wrongs
    return [...wrongs, ...unequal('pointer', this.#pointer, scenario.head().release_id), ...(await strayedScenario(scenario, kept, model))]
  }

  #services({ store, contents }: Stores): Promise<Services> {
    const { power } = this
    const durable = this.#witness()
    const { components, stale, batchSize, maxSteps, configuredMode } = this.#settings
    const { plugin: recipe } = components.length === 1 ? ledger : RECIPES[stale]
    const bind: typeof recipe.bind = (scope) => {
      if (scope.scenario === NAME) this.#model?.loaded()
      return recipe.bind(scope)
    }
    const configured = {
      recipe: { ...recipe, bind },
      plugin: { name: 'recipe', baseDirectory: '.' },
      config: { pipeline: { task2batch: { config: { batch_size: batchSize } } } },
      trainingMode: configuredMode,
      budgets: { maxSteps, maxFailureStreak: 0 },
      limits: { timeoutSeconds: 1, memoryMib: 1 },
    }
    return servicesInMemory(
      {},
      {
        store: poweredStore(store, power, durable),
        contents: poweredContents(contents, power, durable),
        files: new PoweredFiles('.', power),
        recipes: new Map([['recipe', configured]]),
        defaultRecipe: 'recipe',
        clock: () => this.#seconds,
        newId: () => this.newId('new-'),
        hosts: hostsOf(this.host),
      },
    )
  }

  #witness(): Durable {
    return {
      appended: (name, records) => {
        if (name !== NAME) return
        for (const { agent_record_id: id, request_type: type, references } of records) this.model.records.push({ id, type, references })
      },
      landed: (name, row) => {
        if (name !== NAME) return
        if (row.operation === 'create') this.#model = new Model(this.#settings, this.#mode)
        this.model.landed(row)
      },
      archived: (name) => {
        if (name !== NAME) return
        this.#wrongs.push(...this.model.wrongs)
        this.#model = null
        this.#mode = this.#settings.configuredMode
      },
      pointed: (name, releaseId) => {
        if (name === NAME) this.#pointer = releaseId
      },
      unpointed: (name) => {
        if (name !== NAME) return
        this.#pointer = null
        this.model.leaving()
      },
    }
  }
}

/** The fields of a row that a loaded scenario keeps. */
const shown = ({ consumed_ids: _consumed, state: _state, metrics: _metrics, ...row }: Commit) => row

async function strayedScenario(scenario: Scenario, kept: ScenarioStore, { rows, head, mode }: Model): Promise<readonly string[]> {
  const made = rows.filter(({ release }) => release !== null)
  const catalog = catalogOf(made)
  const followed = new History(scenario.history.component)
  await followRows(kept, followed, true)
  const current = catalog.filter((row) => row.current).map(({ step }) => step)
  return [
    ...unequal('newest row', scenario.history.step, rows.at(-1)?.step),
    ...unequal('totals', scenario.history.totals, followed.totals),
    ...unequal('served row', shown(scenario.history.head.row), shown(head)),
    ...unequal('head', scenario.head(), head.release),
    ...unequal('mode', scenario.trainingMode, mode),
    ...unequal('current row', current, [head.step]),
    ...unequal(
      'results',
      catalog.map(({ result }) => result),
      made.map(({ outcome }) => outcome),
    ),
  ]
}

function unequal(what: string, found: unknown, expected: unknown): string[] {
  return isDeepStrictEqual(found, expected) ? [] : [`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`]
}

const idsOf = (records: readonly { readonly agent_record_id: string }[]): readonly string[] => records.map(({ agent_record_id: id }) => id)

/** As reports are admitted: what they quote belongs to the scenario, which may be a later one of its name. */
async function refuseForeign(scenario: Scenario, records: readonly NewRecord[]): Promise<void> {
  const own = new Set(records.map(({ agent_record_id: id }) => id))
  const quoted = records.flatMap(({ references }) => references).filter((id) => !own.has(id))
  if (quoted.length === 0) return
  const found = await scenario.types(quoted)
  if (quoted.some((id) => !found.has(id))) throw unknown('unknown_record', 'no record of this scenario has that id')
}
