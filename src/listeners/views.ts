/** The scenarios that a listener thread knows: what each serves, as the main thread last told it. */
import {
  unknown,
  type ModelAddress,
  type NewRecord,
  type Release,
  type Runtime,
  type ServedProvisional,
  type Surface,
} from '../contract/index.ts'
import type { KnownScenarios, TrafficRegistry, TrafficScenario, WantedScenario } from '../http/index.ts'
import { knowPassingSecret } from '../kit/index.ts'
import type { ScenarioView } from '../scenarios/index.ts'

/** Beyond these the one that was asked for longest ago is forgotten, unless it is in use. */
const VIEWS_MAX = 10_000

type PlainView = Extract<ScenarioView, { readonly kind: 'plain' }>

export interface ViewServices {
  readonly runtime: Runtime
  /** The record as it is to be stored. */
  admit(scenario: string, record: NewRecord): readonly NewRecord[] | Promise<readonly NewRecord[]>
  /** Answers the scenario's newest step, once the records are durable. */
  append(scenario: string, records: readonly NewRecord[]): Promise<number>
  /** Asks the main thread, which answers with a view. */
  ask(scenario: string): void
}

export class Views implements TrafficRegistry, KnownScenarios {
  readonly #services: ViewServices
  readonly #known = new Map<string, KnownScenario>()
  /** Those that only the main thread can serve. */
  readonly #held = new Set<string>()
  readonly #asked = new Map<string, PromiseWithResolvers<void>>()
  readonly #awaitingIdle: (() => void)[] = []
  #users = 0

  constructor(services: ViewServices) {
    this.#services = services
  }

  serves(wanted: WantedScenario): boolean | Promise<boolean> {
    const { name } = wanted
    if (this.#held.has(name)) return false
    if (this.#known.get(name)?.isCurrent === true) return this.#suits(wanted)
    return this.#ask(name).then(() => this.#suits(wanted))
  }

  #suits({ name, start, held }: WantedScenario): boolean {
    const known = this.#known.get(name)
    if (known === undefined || !known.isCurrent || !known.suits(start, held)) return false
    this.#known.delete(name)
    this.#known.set(name, known)
    return true
  }

  #ask(name: string): Promise<void> {
    const asked = this.#asked.get(name) ?? Promise.withResolvers<void>()
    if (!this.#asked.has(name)) this.#services.ask(name)
    this.#asked.set(name, asked)
    return asked.promise
  }

  /** A view that was not asked for counts where the scenario is known already. */
  take(name: string, view: ScenarioView | null): void {
    const asked = this.#asked.get(name)
    this.#asked.delete(name)
    const known = this.#known.get(name)
    this.#held.delete(name)
    if (view?.kind !== 'plain') {
      known?.lapse()
      if (view?.kind === 'held' && asked !== undefined) this.#held.add(name)
    } else if (known !== undefined) known.renew(view)
    else if (asked !== undefined) this.#add(new KnownScenario(this.#services, view))
    this.#forgetOld()
    asked?.resolve()
  }

  /** What is known is asked for again before it is served. */
  lapse(): void {
    for (const known of this.#known.values()) known.lapse()
  }

  archive(name: string): void {
    this.#known.get(name)?.retire()
    this.#known.delete(name)
    this.#held.delete(name)
  }

  /** The main thread may have let go of the scenario since the request came: what was known of it then is served. */
  async useOrCreate<T>(name: string, _release: string | null, work: (scenario: TrafficScenario) => Promise<T>): Promise<T> {
    // Many others may have become known since its request came.
    if (!this.#known.has(name)) await this.#ask(name)
    const known = this.#known.get(name)
    if (known === undefined) throw gone(name)
    this.#users += 1
    known.users += 1
    try {
      return await work(known)
    } finally {
      known.users -= 1
      this.#users -= 1
      if (this.#users === 0) for (const resolve of this.#awaitingIdle.splice(0)) resolve()
    }
  }

  /** Resolves once every exchange is kept. */
  idle(): Promise<void> {
    return this.#users === 0 ? Promise.resolve() : new Promise((resolve) => void this.#awaitingIdle.push(resolve))
  }

  #add(scenario: KnownScenario): void {
    this.#known.set(scenario.name, scenario)
  }

  #forgetOld(): void {
    if (this.#held.size > VIEWS_MAX) this.#held.clear()
    if (this.#known.size <= VIEWS_MAX) return
    for (const [name, { users }] of this.#known) {
      if (users > 0) continue
      this.#known.delete(name)
      return
    }
  }
}

class KnownScenario implements TrafficScenario {
  readonly #services: ViewServices
  #view: PlainView
  #isRetired = false
  isCurrent = true
  users = 0

  constructor(services: ViewServices, view: PlainView) {
    this.#services = services
    this.#view = view
    knowPassingSecret(view.model.apiKey)
  }

  get name(): string {
    return this.#view.name
  }

  get surface(): Surface {
    return this.#view.servesFiles ? SERVES_FILES : {}
  }

  get runtime(): Runtime {
    return this.#services.runtime
  }

  get model(): ModelAddress {
    return this.#view.model
  }

  get pulledId(): string {
    return this.#view.pulledId
  }

  head(): Release {
    return this.#view.head
  }

  get provisional(): ServedProvisional | null {
    return this.#view.provisional
  }

  hasRelease(releaseId: string): boolean {
    const { head, pulledId, provisional } = this.#view
    return releaseId === head.release_id || releaseId === pulledId || releaseId === provisional?.release.release_id
  }

  /** Any other release is looked up by the main thread. */
  suits(start: string | null, held: string | null): boolean {
    return (start === null || start === this.#view.start) && (held === null || !this.#view.servesFiles || this.hasRelease(held))
  }

  readonly keep = async (record: NewRecord): Promise<void> => {
    const admitted = await this.#services.admit(this.name, record)
    if (this.#isRetired) throw gone(this.name)
    const step = await this.#services.append(this.name, admitted)
    // A landing that was not told yet: the main thread answers until it is.
    if (step > this.#view.step) this.lapse()
  }

  claim(): Promise<never> {
    return Promise.reject(new Error('a receipt that the client chose is claimed in the main thread'))
  }

  renew(view: PlainView): void {
    if (view.step < this.#view.step) return
    this.#view = view
    this.isCurrent = true
    knowPassingSecret(view.model.apiKey)
  }

  lapse(): void {
    this.isCurrent = false
  }

  /** From here on nothing is kept under its name, which may be in use again. */
  retire(): void {
    this.lapse()
    this.#isRetired = true
  }
}

const SERVES_FILES: Surface = { files: { read: () => Promise.reject(new Error('files are read in the main thread')) } }

const gone = (name: string): Error =>
  unknown('unknown_scenario', `scenario ${JSON.stringify(name)} does not exist any more; GET /svc/scenarios lists those that do`)
