/** Clients at work on scenarios that learn: records, reports, instructions, modes and moves; each notes it in the book. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/contract/index.ts'
import { CrashClient, type Part } from '../client.ts'
import { listIn, memberIn, objectIn, textIn, type Heard } from '../http.ts'
import type { Book, Sent } from './book.ts'
import { FLEETING, LASTING, partOf } from './cast.ts'

const PAUSE_MS_MAX = 40
const RECENT = 12
const TRAFFIC = ['add', 'add', 'add', 'hold', 'reject', 'skip', 'same'] as const
/** On traffic a failure is tried again after a rest that grows; on an instruction it ends it. */
const INSTRUCTIONS = ['add', 'add', 'hold', 'hold', 'reject', 'skip', 'same', 'throw', 'escape'] as const
const ROUTES = { inference: '/svc/records', report: '/svc/report', train: '/svc/train' } as const

export interface Role extends Part {
  /** It alone works with the scenario that comes and goes, and with no other. */
  readonly isFleeting: boolean
}

export class Client extends CrashClient<Book, Role> {
  async work(): Promise<void> {
    while (!this.isOver) {
      await this.#next(this.part.isFleeting ? FLEETING : this.#pick(LASTING))
      await sleep(this.random.between(0, PAUSE_MS_MAX))
    }
  }

  /** Makes the scenario unless it is there, and sends again what was not answered. */
  async resume(scenario: string): Promise<void> {
    await this.#create(scenario)
    const open = [...this.book.life(scenario).sent.values()].filter(({ fate }) => fate === 'open')
    for (const sent of open) await this.#post(scenario, sent)
  }

  async useMode(scenario: string, training_mode: string): Promise<void> {
    const heard = await this.post(`/svc/scenarios/${scenario}/update`, { training_mode })
    if (heard.status !== 200) this.refused(`the mode of ${scenario}`, heard)
  }

  async #next(scenario: string): Promise<void> {
    const chance = this.random.fraction()
    if (chance < 0.35) await this.#record(scenario)
    else if (chance < 0.65) await this.#report(scenario)
    else if (chance < 0.8) await this.#instruct(scenario)
    else if (chance < 0.86) await this.useMode(scenario, this.random.pick(['auto', 'manual', 'hybrid']))
    else if (chance < 0.93) await this.#move(scenario, 'promote')
    else if (chance < 0.97 || scenario !== FLEETING) await this.#move(scenario, 'rollback')
    else await this.#removeAndMake()
  }

  async #record(scenario: string): Promise<void> {
    const id = this.newId()
    const body = { agent_record_id: id, request_type: 'inference', payload: { response: { id } } }
    await this.#post(scenario, this.book.send(scenario, id, 'inference', body))
  }

  /** Mostly of one exchange that no report quotes yet; sometimes of several, and of some that others quote too. */
  async #report(scenario: string): Promise<void> {
    const kept = [...this.book.life(scenario).sent.values()].filter(({ fate }) => fate === 'kept')
    const quoted = new Set(kept.flatMap(({ body: { references } }) => (Array.isArray(references) ? references : [])))
    const exchanges = kept.filter(({ type }) => type === 'inference').map(({ id }) => id)
    const fresh = exchanges.filter((id) => !quoted.has(id))
    const from = this.random.fraction() < 0.75 && fresh.length > 0 ? fresh : exchanges
    if (from.length === 0) return this.#record(scenario)
    const count = this.random.pick([1, 1, 2, 3])
    const references = [...new Set(Array.from({ length: count }, () => this.#pick(from.slice(-RECENT))))]
    const id = this.newId()
    await this.#post(
      scenario,
      this.book.send(scenario, id, 'report', { agent_record_id: id, references, feedback: this.#feedback(scenario) }),
    )
  }

  #feedback(scenario: string): JsonObject | string {
    const { components } = partOf(scenario)
    if (components.length === 1) return this.random.pick(TRAFFIC)
    return Object.fromEntries(components.map((component) => [component, this.random.pick(TRAFFIC)]))
  }

  async #instruct(scenario: string): Promise<void> {
    const id = this.newId()
    const body = { agent_record_id: id, text: this.random.pick(INSTRUCTIONS), session: 's', release_id: 'r' }
    await this.#post(scenario, this.book.send(scenario, id, 'train', body))
  }

  async #post(scenario: string, sent: Sent): Promise<void> {
    const heard = await this.post(ROUTES[sent.type], sent.body, scenario)
    if (heard.status === 200) {
      this.book.acknowledge(sent)
      this.acknowledged()
    } else if (codeIn(heard) === 'auto_mode') sent.fate = 'refused'
    else this.refused(`${scenario}: ${sent.type} ${sent.id}`, heard)
  }

  /** A release that was promoted already is held no longer: another client was quicker. */
  async #move(scenario: string, operation: 'promote' | 'rollback'): Promise<void> {
    const base = `/svc/scenarios/${scenario}`
    const releases = listIn(objectIn(await this.get(`${base}/releases`)), 'releases')
    const wanted = operation === 'promote' ? 'pending' : 'restorable'
    const targets = releases.filter((row) => row[wanted] === true).map((row) => textIn(row, 'release_id'))
    if (targets.length === 0) return
    const target = this.#pick(targets)
    const heard = await this.post(`${base}/${operation}`, { release_id: target })
    if (heard.status === 200 && heard.isWhole) {
      this.book.move(scenario, { step: Number(objectIn(heard)['step']), target })
      this.acknowledged()
    } else if (codeIn(heard) !== 'not_held') this.refused(`${scenario}: ${operation} of ${target}`, heard)
  }

  async #removeAndMake(): Promise<void> {
    this.book.life(FLEETING).fate = 'removing'
    const heard = await this.ask({ method: 'DELETE', path: `/svc/scenarios/${FLEETING}` })
    if (heard.status !== 200) return this.refused('the removal', heard)
    this.book.forget(FLEETING)
    this.acknowledged()
    await this.#create(FLEETING)
  }

  async #create(scenario: string): Promise<void> {
    const life = this.book.life(scenario)
    const heard = await this.post('/svc/scenarios', { name: scenario, recipe: partOf(scenario).recipe })
    if (heard.status === 200 || heard.status === 201) life.fate = 'kept'
    else this.refused(`the creation of ${scenario}`, heard)
  }

  #pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.random.between(0, choices.length - 1)]
    if (chosen === undefined) throw new Error('there is nothing to choose from')
    return chosen
  }
}

const codeIn = (heard: Heard): string => textIn(memberIn(objectIn(heard), 'error'), 'code')
