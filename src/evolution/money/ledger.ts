/**
 * What the steps of a scenario spent, in a file per day, or several where it is long: appended and synced before the next episode begins, so
 * that a cap holds for steps at once and after a crash. What ran when the process was killed is not in it: at most the model calls at that moment.
 */
import { DOCUMENT_BYTES_MAX, type Documents } from '../../contract/index.ts'
import { NOTHING_SPENT, spentBoth, type Spent } from './spent.ts'

const FOLDER = 'spending'
/** What is older is removed, and missing in the sum of an improvement. */
const DAYS_KEPT = 7
const DAY_MS = 24 * 60 * 60 * 1000
const DAY_FILE = /^\d{4}-\d{2}-\d{2}(?:\.\d+)?\.jsonl$/
/** A file that is so long is followed by another one: far below what a document may have, since several write to it. */
const FILE_BYTES = DOCUMENT_BYTES_MAX / 2
/** At once. */
const LINES_MAX = 1000

/** `episode`: a call of an agent. `model`: a call of a proposer or an evaluator. */
export type Spender = 'episode' | 'model'

/** What a step spent, all its attempts together. */
export interface StepSpent {
  readonly episode: Spent
  readonly model: Spent
}
const NO_STEP_SPENT: StepSpent = { episode: NOTHING_SPENT, model: NOTHING_SPENT }

/** How many episodes ended that called a model, and how long they took together. */
interface Episodes {
  readonly ended: number
  readonly seconds: number
  readonly spent: Spent
}

export class Ledger {
  readonly #documents: Documents
  readonly #component: string
  #pending: { readonly day: string; readonly line: string }[] = []
  #writing: Promise<void> = Promise.resolve()
  #reading: Promise<void> = Promise.resolve()
  /** How far each file was read. */
  readonly #read = new Map<string, number>()
  readonly #days = new Map<string, Spent>()
  /** Of this component alone. */
  readonly #steps = new Map<number, StepSpent>()
  #episodes: Episodes = { ended: 0, seconds: 0, spent: NOTHING_SPENT }

  constructor(documents: Documents, component: string) {
    this.#documents = documents
    this.#component = component
  }

  spend(at: number, step: number, by: Spender, spent: Spent): void {
    const { calls, inputTokens, cachedTokens, outputTokens, cost, unpricedCalls } = spent
    this.#add(at, [this.#component, step, by, calls, inputTokens, cachedTokens, outputTokens, cost, unpricedCalls])
  }

  episodeEnded(at: number, step: number, seconds: number): void {
    this.#add(at, [this.#component, step, 'ended', seconds])
  }

  /** Once this resolves, everything spent is on the disk, and what other trainers of the scenario spent is known. */
  async settle(now: number): Promise<void> {
    await this.#flush()
    // In turn: two that read at once would count the same lines twice.
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#readDays(now))
    await this.#reading
  }

  async #readDays(now: number): Promise<void> {
    for (let back = 0; back < DAYS_KEPT; back += 1) await this.#readDay(dayOf(now - back * DAY_MS))
  }

  /** Removes what is too old. */
  async tidy(now: number): Promise<void> {
    const oldest = dayOf(now - DAYS_KEPT * DAY_MS)
    for (const { name } of await this.#documents.list(FOLDER).catch(() => []))
      if (DAY_FILE.test(name) && name < oldest) await this.#documents.remove(`${FOLDER}/${name}`)
  }

  /** By all trainers of the scenario. */
  today(now: number): Spent {
    return this.#days.get(dayOf(now)) ?? NOTHING_SPENT
  }

  ofStep(step: number): StepSpent {
    return this.#steps.get(step) ?? NO_STEP_SPENT
  }

  /** By the steps after one. */
  after(step: number): { readonly steps: number; readonly spent: Spent } {
    const later = [...this.#steps].filter(([each]) => each > step)
    const spent = later.reduce((sum, [, { episode, model }]) => spentBoth(sum, spentBoth(episode, model)), NOTHING_SPENT)
    return { steps: later.length, spent }
  }

  get episodes(): Episodes {
    return this.#episodes
  }

  #add(at: number, values: readonly (string | number)[]): void {
    // A line of its own, also after one that a crash or a full disk cut short.
    this.#pending.push({ day: dayOf(at), line: `\n${JSON.stringify(values)}\n` })
    this.#flush().catch(() => undefined)
  }

  /** What cannot be written is kept for the next try. */
  #flush(): Promise<void> {
    const write = async (): Promise<void> => {
      const [first] = this.#pending
      if (first === undefined) return
      const lines = this.#pending.filter(({ day }) => day === first.day).slice(0, LINES_MAX)
      await this.#documents.append(this.#filesOf(first.day).at(-1) ?? pathOf(first.day, 0), lines.map(({ line }) => line).join(''))
      this.#pending = this.#pending.filter((each) => !lines.includes(each))
      await write()
    }
    this.#writing = this.#writing.catch(() => undefined).then(write)
    return this.#writing
  }

  /** Those known to be full, and the one after them. */
  #filesOf(day: string): readonly string[] {
    const files = [pathOf(day, 0)]
    while ((this.#read.get(files.at(-1) ?? '') ?? 0) >= FILE_BYTES) files.push(pathOf(day, files.length))
    return files
  }

  /** Full ones too: another trainer may not know yet that one is. */
  async #readDay(day: string): Promise<void> {
    for (let place = 0; place < this.#filesOf(day).length; place += 1) await this.#readFile(day, pathOf(day, place))
  }

  async #readFile(day: string, path: string): Promise<void> {
    const from = this.#read.get(path) ?? 0
    const text = Buffer.from((await this.#documents.read(path, from)) ?? [])
    const whole = text.subarray(0, text.lastIndexOf('\n') + 1)
    this.#read.set(path, from + whole.length)
    for (const line of whole.toString('utf8').split('\n')) this.#take(day, line)
  }

  #take(day: string, line: string): void {
    const values = parsed(line)
    const [component, step, by] = values
    if (typeof component !== 'string' || typeof step !== 'number') return
    if (by === 'ended') return this.#takeEnd(values[FIRST_NUMBER])
    const spent = spentIn(values.slice(FIRST_NUMBER))
    if (spent === null || (by !== 'episode' && by !== 'model')) return
    this.#days.set(day, spentBoth(this.#days.get(day) ?? NOTHING_SPENT, spent))
    if (by === 'episode') this.#episodes = { ...this.#episodes, spent: spentBoth(this.#episodes.spent, spent) }
    if (component !== this.#component) return
    const known = this.ofStep(step)
    this.#steps.set(step, { ...known, [by]: spentBoth(known[by], spent) })
  }

  #takeEnd(seconds: unknown): void {
    if (typeof seconds !== 'number') return
    const { ended, seconds: before } = this.#episodes
    this.#episodes = { ...this.#episodes, ended: ended + 1, seconds: before + seconds }
  }
}

const FIRST_NUMBER = 3

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length)
const pathOf = (day: string, place: number): string => `${FOLDER}/${day}${place === 0 ? '' : `.${place}`}.jsonl`

function parsed(line: string): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(line)
    return Array.isArray(values) ? values : []
  } catch {
    return []
  }
}

function spentIn(values: readonly unknown[]): Spent | null {
  const [calls, inputTokens, cachedTokens, outputTokens, cost, unpricedCalls] = values.map((value) =>
    typeof value === 'number' && value >= 0 ? value : undefined,
  )
  if (calls === undefined || inputTokens === undefined || cachedTokens === undefined) return null
  if (outputTokens === undefined || cost === undefined || unpricedCalls === undefined) return null
  return { calls, inputTokens, cachedTokens, outputTokens, cost, unpricedCalls }
}
