/** A client of scenarios that evolve: asks the model, says that it failed, asks for changes and proposes some; it notes them in the book. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject, Mutation } from '../../../src/contract/index.ts'
import { ROMAN_LESSON, ROMANS_ASKED, romanPrompt } from '../../support/romans.ts'
import { CrashClient } from '../client.ts'
import { objectIn } from '../http.ts'
import type { Book, Sent } from './seen.ts'
import { NAMES, type Name } from './cast.ts'

const PAUSE_MS_MAX = 200
/** As many reports and instructions may wait in a scenario, so that steps keep up with their clients. */
const WAITING_MAX = 3
const [FIRST_ASKED = '', ...OTHERS_ASKED] = Object.keys(ROMANS_ASKED)

export class Client extends CrashClient<Book> {
  async work(): Promise<void> {
    while (!this.isOver) {
      await this.#next(this.random.pick(NAMES))
      await sleep(this.random.between(0, PAUSE_MS_MAX))
    }
  }

  /** Makes the scenarios unless they are there, and sends again what was not answered. */
  async resume(): Promise<void> {
    for (const name of NAMES) {
      const heard = await this.post('/svc/scenarios', { name, recipe: name })
      if (heard.status !== 200 && heard.status !== 201) this.refused(`the creation of ${name}`, heard)
      for (const sent of this.book.lives[name].sent.filter(({ isKept }) => !isKept)) await this.#post(name, sent)
    }
  }

  async instruct(name: Name): Promise<void> {
    const id = this.newId()
    const body = { agent_record_id: id, text: `${ROMAN_LESSON} (${id})`, session: 's', release_id: 'r' }
    await this.#send(name, { id, route: '/svc/train', body, isKept: false })
  }

  async #next(name: Name): Promise<void> {
    const chance = this.random.fraction()
    if (chance < 0.35) return this.#propose(name)
    if ((await this.#waiting(name)) >= WAITING_MAX) return
    if (chance < 0.85) await this.#report(name)
    else await this.instruct(name)
  }

  async #waiting(name: Name): Promise<number> {
    const status = objectIn(await this.get('/svc/status'))
    const { buffered_units = 0, pending_instructions = 0 }: JsonObject = Object(Object(Object(status['scenarios'])[name])['processor'])
    return Number(buffered_units) + Number(pending_instructions)
  }

  async #report(name: Name): Promise<void> {
    const content = romanPrompt(this.random.pick([FIRST_ASKED, ...OTHERS_ASKED]))
    const heard = await this.post('/v1/chat/completions', { model: 'practice', messages: [{ role: 'user', content }] }, name)
    const exchange = heard.headers['x-svc-agent-record-id']
    if (heard.status !== 200 || typeof exchange !== 'string') return this.refused(`${name}: a call of the model`, heard)
    const id = this.newId()
    const body = { agent_record_id: id, references: [exchange], score: 0, feedback: 'The numeral is wrong.' }
    await this.#send(name, { id, route: '/svc/report', body, isKept: false })
  }

  /** Not sent again: without an answer no client can know whether it was taken. Some are admitted now, and no longer when their turn comes. */
  async #propose(name: Name): Promise<void> {
    const id = this.newId()
    const heard = await this.post(
      '/svc/harness/proposals',
      { mutations: [{ ...this.#mutation(id) }], reason: 'tried', session: id, release_id: 'r' },
      name,
    )
    const { admitted, proposal_id } = objectIn(heard)
    if (heard.status !== 200 || !heard.isWhole) return this.refused(`${name}: a proposal`, heard)
    if (admitted !== true || typeof proposal_id !== 'string') return
    this.book.lives[name].admitted.push(proposal_id)
    this.acknowledged()
  }

  #mutation(id: string): Mutation {
    const options = { name: 'rules', config: { text: `${ROMAN_LESSON} (${id})` } }
    if (this.random.fraction() < 0.5) return { op: 'create', id: `own-${id.replaceAll('.', '-')}`, options }
    const shared = `shared-${this.random.between(1, 4)}`
    return this.random.fraction() < 0.5 ? { op: 'create', id: shared, options } : { op: 'remove', id: shared }
  }

  async #send(name: Name, sent: Sent): Promise<void> {
    this.book.lives[name].sent.push(sent)
    await this.#post(name, sent)
  }

  async #post(name: Name, sent: Sent): Promise<void> {
    const heard = await this.post(sent.route, sent.body, name)
    if (heard.status !== 200) return this.refused(`${name}: ${sent.id}`, heard)
    sent.isKept = true
    this.acknowledged()
  }
}
