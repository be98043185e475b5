/** Clients at work: every format whole and streamed, reports, imports and their retries, scenarios made and removed; each notes it in the history. */
import type { Dialect, JsonObject } from '../../../src/contract/index.ts'
import { answerOf, MARK, pathOf, requestOf, textOf } from './exchanges.ts'
import type { History, Sent } from './history.ts'
import { listIn, objectIn, textIn, textsIn } from '../http.ts'
import { CrashClient, type Part } from '../client.ts'

const SCENARIOS = ['north', 'east', 'süd', 'west'] as const
const BATCH_RECORDS_MAX = 40
const STREAMED: readonly [Dialect, ...Dialect[]] = ['chat', 'responses', 'messages']
const WHOLE: readonly [Dialect, ...Dialect[]] = [...STREAMED, 'count_tokens']
const RECEIPT = 'x-svc-agent-record-id'

export interface OwnPart extends Part {
  /** A scenario that no other client touches, now or after a restart. */
  readonly own: string
}

export class Client extends CrashClient<History, OwnPart> {
  /** What an earlier crash interrupted, then one thing after another while the service lives. */
  async work(interrupted: readonly Sent[]): Promise<void> {
    for (const sent of interrupted) if (!this.isOver) await this.#repeat(sent)
    while (!this.isOver) await this.#next()
  }

  async #next(): Promise<void> {
    const scenario = this.random.pick(SCENARIOS)
    const chance = this.random.fraction()
    if (chance < 0.3) await this.#exchange(scenario)
    else if (chance < 0.5) await this.#stream(scenario, Infinity)
    else if (chance < 0.56) await this.#stream(scenario, this.random.between(1, 3))
    else if (chance < 0.7) await this.#report(scenario)
    else if (chance < 0.8) await this.#importOne(scenario)
    else if (chance < 0.9) await this.#importBatch(scenario)
    else if (chance < 0.95) await this.#sendAgain()
    else await this.#makeAndRemove()
  }

  async #exchange(scenario: string): Promise<void> {
    const dialect = this.random.pick(WHOLE)
    const mark = this.newId()
    const body = requestOf(dialect, false, mark)
    const sent = this.#sending({ mark, scenario, payload: { ...body, response: answerOf(dialect, mark) } })
    const heard = await this.ask({ method: 'POST', path: pathOf(dialect), scenario, body })
    const receipt = heard.headers[RECEIPT]
    if (typeof receipt === 'string') this.#acknowledge(sent, receipt)
    else this.refused(sent.mark, heard)
    if (heard.isWhole && heard.status === 200 && heard.text !== JSON.stringify(answerOf(dialect, mark)))
      this.surprise(`${mark} was answered with something else than the model said`)
  }

  async #stream(scenario: string, leaveAfter: number): Promise<void> {
    const dialect = this.random.pick(STREAMED)
    const mark = this.newId()
    const body = requestOf(dialect, true, mark)
    const sent = this.#sending({ mark, scenario, payload: body, streamed: dialect })
    const heard = await this.ask({ method: 'POST', path: pathOf(dialect), scenario, body, leaveAfter })
    const receipt = /"svc\.agent_record_id":"([^"]+)"/.exec(heard.text)?.[1]
    if (receipt !== undefined) this.#acknowledge(sent, receipt)
    else if (leaveAfter === Infinity) this.refused(sent.mark, heard)
    if (heard.isWhole && heard.status === 200 && receipt === undefined)
      this.surprise(`the stream of ${mark} ended as if whole, without its receipt (${textOf(mark).length} characters)`)
  }

  async #report(scenario: string): Promise<void> {
    const receipts = this.book.of(scenario).filter(({ type, fate }) => type === 'inference' && fate === 'kept')
    const quoted = new Set(
      Array.from({ length: this.random.between(1, 3) }, () => receipts[this.random.between(0, receipts.length - 1)]?.id),
    )
    const references = [...quoted].filter((id) => typeof id === 'string')
    const mark = this.newId()
    const payload = {
      score: this.random.fraction(),
      feedback: textOf(mark),
      ...(references.length > 0 && { references }),
      metadata: { [MARK]: mark },
    }
    const id = this.random.fraction() < 0.7 ? `report-${mark}` : null
    await this.#post(this.#sending({ mark, scenario, payload, type: 'report', id }))
  }

  async #importOne(scenario: string): Promise<void> {
    const mark = this.newId()
    await this.#post(this.#sending({ mark, scenario, payload: importedOf(mark), id: `import-${mark}` }))
  }

  /** Inferences, and reports that quote the ones before them in the same batch. */
  async #importBatch(scenario: string): Promise<void> {
    const batch = this.newId()
    const members = Array.from({ length: this.random.between(2, BATCH_RECORDS_MAX) }, (_, index) => {
      const mark = `${batch}.${index}`
      const id = `batch-${mark}`
      if (index % 3 !== 2) return this.#sending({ mark, scenario, payload: importedOf(mark), id, batch })
      const payload = { score: index, references: [`batch-${batch}.${index - 1}`], metadata: { [MARK]: mark } }
      return this.#sending({ mark, scenario, payload, type: 'report', id, batch })
    })
    await this.#postBatch(scenario, members)
  }

  /** Whatever carries an id of the client's may be sent again: what was lost is stored, what is there is answered with its receipt. */
  async #sendAgain(): Promise<void> {
    const scenario = this.random.pick(SCENARIOS)
    const own = this.book.of(scenario).filter(canBeSentAgain)
    const chosen = own[this.random.between(0, own.length - 1)]
    if (chosen !== undefined) await this.#repeat(chosen)
  }

  async #repeat(sent: Sent): Promise<void> {
    if (sent.batch === null) return this.#post(this.book.send(sent))
    const members = this.book.of(sent.scenario).filter(({ batch }) => batch === sent.batch)
    await this.#postBatch(
      sent.scenario,
      members.map((member) => this.book.send(member)),
    )
  }

  async #post(sent: Sent): Promise<void> {
    const { scenario, type, id, payload } = sent
    const isReport = id === null || id.startsWith('report-')
    const path = isReport ? '/svc/report' : '/svc/records'
    const body = isReport ? { ...payload, ...(id !== null && { agent_record_id: id }) } : envelopeOf(id, type, payload)
    const heard = await this.ask({ method: 'POST', path, scenario, body })
    const { agent_record_id } = objectIn(heard)
    if (heard.status === 200 && typeof agent_record_id === 'string') this.#acknowledge(sent, agent_record_id)
    else this.refused(sent.mark, heard)
  }

  async #postBatch(scenario: string, members: readonly Sent[]): Promise<void> {
    const records = members.map(({ id, type, payload }) => envelopeOf(id ?? '', type, payload))
    const heard = await this.ask({ method: 'POST', path: '/svc/records/batch', scenario, body: { records } })
    const receipts = listIn(objectIn(heard), 'records')
    if (heard.status !== 200 || !heard.isWhole) return this.refused(members[0]?.mark ?? 'a batch', heard)
    for (const [index, member] of members.entries()) this.#acknowledge(member, textIn(receipts[index], 'agent_record_id'))
  }

  /** A scenario of this client's own, under a name that comes back: made, used, removed. */
  async #makeAndRemove(): Promise<void> {
    const name = this.part.own
    if (!this.book.scenarios.has(name)) {
      this.book.scenarios.set(name, 'creating')
      const made = await this.ask({ method: 'POST', path: '/svc/scenarios', body: { name } })
      if (made.status === 201) this.book.scenarios.set(name, 'kept')
      else return this.refused('a scenario', made)
    }
    await this.#exchange(name)
    await this.#importBatch(name)
    if (this.random.fraction() < 0.7) await this.#remove(name)
  }

  async #remove(name: string): Promise<void> {
    this.book.scenarios.set(name, 'removing')
    const heard = await this.ask({ method: 'DELETE', path: `/svc/scenarios/${encodeURIComponent(name)}` })
    const archived = textsIn(objectIn(heard), 'archived')
    if (archived.length > 0) this.book.setAside(name, archived)
    else this.refused('a scenario', heard)
  }

  #sending(what: Pick<Sent, 'mark' | 'scenario' | 'payload'> & Partial<Sent>): Sent {
    return this.book.send({ type: 'inference', streamed: null, batch: null, id: null, fate: 'open', isAcknowledged: false, ...what })
  }

  #acknowledge(sent: Sent, id: string): void {
    this.book.acknowledge(sent, id)
    this.acknowledged()
  }
}

const envelopeOf = (agent_record_id: string, request_type: string, payload: JsonObject): JsonObject => ({
  agent_record_id,
  request_type,
  payload,
})
const importedOf = (mark: string): JsonObject => ({ from: 'elsewhere', [MARK]: mark, response: { text: textOf(mark) } })

/** Only what carries an id of the client's own is safe to send twice. */
export const canBeSentAgain = ({ id }: Sent): boolean => id !== null && /^(report|import|batch)-/.test(id)
