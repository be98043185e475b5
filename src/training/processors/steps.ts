/** Grid steps: open, complete or failed. A step has one sample per slot, all from one release. */
import type { StoredSample } from '../../contract/index.ts'
import { ByRecord } from './by-record.ts'
import type { Unit } from './unit-queue.ts'

export interface StepMember {
  readonly step: number
  /** The position in the step, from 0. */
  readonly slot: number
  readonly sample: StoredSample
  /** The releases of its exchanges; null for exchanges that no release here served. */
  readonly releases: readonly (string | null)[]
}
interface OpenStep {
  readonly release: string | null
  readonly members: Map<number, StepMember>
}

/** How many finished steps are remembered, so that a late report is recognised. After a restart none is. */
const STEPS_REMEMBERED = 10_000
const FAILED_STEPS_SHOWN = 100

export class GridSteps {
  readonly #size: number
  readonly #open = new Map<number, OpenStep>()
  readonly #whole = new Map<number, readonly StepMember[]>()
  readonly #byRecord = new ByRecord<StepMember>()
  readonly #over = new Map<number, 'whole' | 'failed'>()
  /** The complete step that is offered. A step completed later does not overtake it, whatever its number. */
  #front: number | null = null
  #failed: readonly number[] = []
  /** Reports of failed steps. They stay until a row lands, so that a restart sees them all and fails the step again. */
  #fallen: readonly string[] = []
  #waiting = 0

  constructor(size: number) {
    this.#size = size
  }

  get openCount(): number {
    return this.#open.size
  }
  get wholeCount(): number {
    return this.#whole.size
  }
  /** Samples in incomplete steps. */
  get waitingCount(): number {
    return this.#waiting
  }
  /** The latest failed steps. */
  get failed(): readonly number[] {
    return this.#failed
  }
  /** In slot order; empty while no step is complete. */
  get front(): Unit {
    const members = this.#front === null ? [] : (this.#whole.get(this.#front) ?? [])
    return members.map(({ sample }) => sample)
  }

  /** Why a sample cannot take that slot, or null when it is free. */
  refusal(step: number, slot: number): string | null {
    const over = this.#over.get(step)
    if (over === 'failed') return 'its step was discarded for exchanges of several releases'
    if (over === 'whole' || this.#whole.has(step)) return 'its step was complete already'
    return this.#open.get(step)?.members.has(slot) ? 'another report took its slot in the step' : null
  }

  /** Fills a free slot. An exchange of another release fails the whole step, since its samples cannot be compared. */
  add(member: StepMember): void {
    const { step, slot, sample, releases } = member
    const open = this.#open.get(step) ?? { release: releases[0] ?? null, members: new Map<number, StepMember>() }
    open.members.set(slot, member)
    this.#open.set(step, open)
    this.#byRecord.add(sample.record_ids, member)
    this.#waiting += 1
    if (releases.some((release) => release !== open.release)) this.#fail(step, open)
    else if (open.members.size === this.#size) this.#complete(step, open)
  }

  /**
   * Drops every sample that holds one of these records and frees its slot; a complete step is dropped whole. Answers the dropped reports,
   * and those of steps that failed meanwhile.
   */
  drop(consumed: readonly string[]): readonly string[] {
    const hit = [...this.#byRecord.holding(consumed)]
    const lost = new Set(hit.flatMap((member) => this.#whole.get(member.step) ?? [member]))
    for (const member of lost) this.#remove(member)
    if (this.#front !== null && !this.#whole.has(this.#front)) this.#front = lowest(this.#whole.keys())
    const fallen = this.#fallen
    this.#fallen = []
    return [...[...lost].map(reportOf), ...fallen]
  }

  #fail(step: number, { members }: OpenStep): void {
    this.#close(step, members, 'failed')
    for (const member of members.values()) this.#byRecord.remove(member.sample.record_ids, member)
    this.#fallen = [...this.#fallen, ...[...members.values()].map(reportOf)]
    this.#failed = [...this.#failed, step].slice(-FAILED_STEPS_SHOWN)
  }

  #complete(step: number, { members }: OpenStep): void {
    this.#close(step, members, 'whole')
    this.#whole.set(
      step,
      [...members.values()].sort((one, other) => one.slot - other.slot),
    )
    this.#front ??= step
  }

  #close(step: number, members: OpenStep['members'], how: 'whole' | 'failed'): void {
    this.#open.delete(step)
    this.#waiting -= members.size
    this.#over.set(step, how)
    const [oldest] = this.#over.keys()
    if (this.#over.size > STEPS_REMEMBERED && oldest !== undefined) this.#over.delete(oldest)
  }

  #remove(member: StepMember): void {
    const { step, slot, sample } = member
    this.#byRecord.remove(sample.record_ids, member)
    if (this.#whole.delete(step)) return
    const members = this.#open.get(step)?.members
    if (members?.delete(slot)) this.#waiting -= 1
    if (members?.size === 0) this.#open.delete(step)
  }
}

const reportOf = ({ sample }: StepMember): string => sample.record_ids.at(-1) ?? ''

const lowest = (steps: Iterable<number>): number | null => [...steps].sort((one, other) => one - other)[0] ?? null
