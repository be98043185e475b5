/** Scripted trainers: one verdict per step, given at once or when the test releases it. */
import type { Content, StepResult } from '../../src/contract/index.ts'
import { StepFailure, type RunStep, type StoredOrder, type TrainerHost } from '../../src/training/hosts/host.ts'
import type { Verdict } from './attempt.ts'
import type { Asked } from './model.ts'

export interface Line {
  readonly verdict: Verdict
  /** Waits until the test finishes it. */
  readonly isSlow: boolean
}

/** Observes the beginning and end of every step. */
export interface Witness {
  asked(): Asked
  taken(component: string, order: StoredOrder, asked: Asked): void
  ended(component: string, verdict: Verdict): void
}

export class ScriptedHost implements TrainerHost {
  readonly #witness: Witness
  readonly #script: Line[]
  #free: number
  readonly #queue: (() => void)[] = []
  readonly #slow: (() => void)[] = []
  readonly #working = new Map<string, number>()

  constructor(turns: number, script: readonly Line[], witness: Witness) {
    this.#free = turns
    this.#script = [...script]
    this.#witness = witness
  }

  /** Steps that wait for the test. */
  get slowCount(): number {
    return this.#slow.length
  }

  /** It runs, or waits for its turn. */
  isWorking(component: string): boolean {
    return (this.#working.get(component) ?? 0) > 0
  }

  /** Finishes one slow step. */
  finish(pick: number): void {
    const [step] = this.#slow.splice(pick % Math.max(this.#slow.length, 1), 1)
    step?.()
  }

  /** Every later step publishes at once. */
  behave(): void {
    this.#script.length = 0
    while (this.#slow.length > 0) this.finish(0)
  }

  async inTurn<T>(trainer: { readonly component: string }, signal: AbortSignal, work: (step: RunStep) => Promise<T>): Promise<T> {
    const { component } = trainer
    const asked = this.#witness.asked()
    this.#count(component, 1)
    try {
      await this.#turn(signal)
      try {
        return await work((order, _report, stop) => this.#run(component, order, asked, stop))
      } finally {
        this.#giveBack()
      }
    } finally {
      this.#count(component, -1)
    }
  }

  async close(): Promise<void> {}

  #count(component: string, by: number): void {
    this.#working.set(component, (this.#working.get(component) ?? 0) + by)
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    await waitIn(this.#queue, signal)
  }

  #giveBack(): void {
    const next = this.#queue.shift()
    if (next === undefined) this.#free += 1
    else next()
  }

  async #run(component: string, order: StoredOrder, asked: Asked, signal: AbortSignal): Promise<StepResult> {
    signal.throwIfAborted()
    this.#witness.taken(component, order, asked)
    const { verdict, isSlow } = this.#script.shift() ?? { verdict: 'publish', isSlow: false }
    if (isSlow) await waitIn(this.#slow, signal)
    this.#witness.ended(component, verdict)
    return answer(verdict, order)
  }
}

/** Waits in the queue until it is released; an abort leaves the queue. */
async function waitIn(line: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const leave = (): void => {
    const at = line.indexOf(resolve)
    if (at < 0) return
    line.splice(at, 1)
    reject(signal.reason)
  }
  line.push(resolve)
  signal.addEventListener('abort', leave)
  await promise.finally(() => signal.removeEventListener('abort', leave))
}

function answer(verdict: Verdict, order: StoredOrder): StepResult {
  if (verdict === 'throw') throw new StepFailure('scripted to throw')
  if (verdict === 'reject') return { kind: 'reject' }
  if (verdict === 'skip') return { kind: 'skip', reason: 'scripted to skip' }
  if (verdict === 'hold') return { kind: 'hold', content: added(order) }
  if (verdict === 'same') return { kind: 'publish', content: { kind: 'files', files: order.files } }
  if (verdict === 'escape') return { kind: 'publish', content: { kind: 'files', files: { '../outside': 'x' } } }
  return { kind: 'publish', content: added(order), state: { steps: Number(order.state['steps'] ?? 0) + 1 } }
}

/** Adds one line per sample and instruction, unless the candidate has them already. */
function added({ files, candidate, batch: { samples, request } }: StoredOrder): Content {
  const units = samples.map(({ record_ids }) => `unit ${record_ids.join(' ')}\n`)
  const lines = `${units.join('')}${request === null ? '' : `request ${request.id}\n`}`
  if (candidate?.kind === 'files' && candidate.files['ledger.md']?.endsWith(lines)) return candidate
  return { kind: 'files', files: { 'ledger.md': `${files['ledger.md']}${lines}` } }
}
