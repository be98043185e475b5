/**
 * What the steps of a scenario spent, in a file per day, or several where it is long: appended and synced before the next episode begins, so
 * that a cap holds for steps at once and after a crash. A call under a cap has a line before it is sent, with the most that it may take: what
 * ran when a process was killed counts as that. Every gateway that shares the documents writes here and reads here.
 */
import { randomBytes } from 'node:crypto'
import { DOCUMENT_BYTES_MAX, type Documents } from '../../contract/index.ts'
import { Holds, isIn, type Days, type OpenHold } from './holds.ts'
import { NOTHING_SPENT, spentBoth, type Spender, type Spent } from './spent.ts'

const FOLDER = 'spending'
/**
 * What is older is missing in the sum of an improvement, and removed once so many days have files after it: a clock that is ahead for a while
 * takes nothing away. What the next so many days have counts today: the clock was ahead, or is behind now.
 */
const DAYS_KEPT = 7
/** Clocks differ, and one may begin the next day before another. */
const DAYS_WRITTEN = 2
const DAY_MS = 24 * 60 * 60 * 1000
const DAY_FILE = /^\d{4}-\d{2}-\d{2}(?:\.\d+)?\.jsonl$/
/** A file that is so long is followed by another one: far below what a document may have, since several write to it. */
const FILE_BYTES = DOCUMENT_BYTES_MAX / 2
/** At once. */
const LINES_MAX = 1000
/** How often who has calls under way says that it is still there. */
const BEAT_MS = 10_000
/** How long a call that waits for another to end waits, where that other is of another process, before it looks again. */
const LOOK_MS = 250

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

/** Of a step, and of the day. */
export interface Sums {
  readonly step: Spent
  readonly day: Spent
}

interface FullDay {
  /** The caps. */
  readonly tokens: number
  readonly cost: number
  readonly words: string
}

export class Ledger {
  readonly #documents: Documents
  readonly #component: string
  /** Of this ledger, among all that write to the same files. */
  readonly #owner = randomBytes(OWNER_BYTES).toString('hex')
  readonly #holds: Holds
  /** Those of this ledger. */
  readonly #own = new Set<string>()
  #held = 0
  #beating: NodeJS.Timeout | null = null
  #ended = Promise.withResolvers<void>()
  #pending: { readonly day: string; readonly line: string }[] = []
  #writing: Promise<void> = Promise.resolve()
  #reading: Promise<void> = Promise.resolve()
  /** How far each file was read. */
  readonly #read = new Map<string, number>()
  readonly #days = new Map<string, Spent>()
  /** Those that have files. */
  #written: readonly string[] = []
  /** Of all components. */
  readonly #steps = new Map<string, StepSpent>()
  /** Of this one. */
  readonly #stepsOfOwn = new Set<number>()
  readonly #full = new Map<string, string>()
  #episodes: Episodes = { ended: 0, seconds: 0, spent: NOTHING_SPENT }

  /** After `silentMs` without a line, who has calls under way is gone. */
  constructor(documents: Documents, component: string, silentMs?: number) {
    this.#documents = documents
    this.#component = component
    this.#holds = new Holds(silentMs)
  }

  /** `hold` is the one that the call had. */
  spend(at: number, step: number, by: Spender, spent: Spent, hold: string | null = null): void {
    this.#add(at, [this.#component, step, by, ...numbersOf(spent), ...(hold === null ? [] : [hold])])
    if (hold !== null) this.#over(hold)
  }

  /** Says that a call will be made. Once this resolves, that is on the disk, and so is known what everybody else held before it. */
  async hold(at: number, step: number, by: Spender, most: Spent): Promise<string> {
    this.#held += 1
    const id = `${this.#owner}.${this.#held}`
    this.#own.add(id)
    this.#beating ??= setInterval(() => this.#add(Date.now(), [this.#component, step, 'beat', this.#owner]), BEAT_MS).unref()
    this.#add(at, [this.#component, step, 'hold', by, id, this.#owner, ...numbersOf(most)])
    try {
      await this.look(at)
    } catch (error) {
      this.drop(at, step, id)
      throw error
    }
    return id
  }

  /** The call is not made. */
  drop(at: number, step: number, hold: string): void {
    this.#add(at, [this.#component, step, 'drop', hold])
    this.#over(hold)
  }

  /** A call did not fit below these caps of the day: its step does not begin again before the next, or before one of them is raised. */
  full(at: number, step: number, { tokens, cost, words }: FullDay): void {
    this.#add(at, [this.#component, step, 'full', tokens, cost, words])
  }

  /** In the words of who found that out; null where nobody did. */
  fullToday(now: number, step: number, { tokens, cost }: Omit<FullDay, 'words'>): string | null {
    return this.#full.get(fullKey(dayOf(now), this.#keyOf(step), tokens, cost)) ?? null
  }

  #over(hold: string): void {
    this.#own.delete(hold)
    if (this.#own.size === 0 && this.#beating !== null) clearInterval(this.#beating)
    if (this.#own.size === 0) this.#beating = null
    this.#ended.resolve()
    this.#ended = Promise.withResolvers<void>()
  }

  /** Resolves when another call of this ledger is over, or it is time to look at those of others. Throws what the signal says. */
  async changed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, LOOK_MS)
    const leave = (): void => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    try {
      await Promise.race([promise, this.#ended.promise])
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
  }

  /** Spent, and held by calls that are under way; with `before` only what counts for that hold. */
  taken(now: number, step: number, before: string | null = null): Sums {
    const [days, key] = [countedOn(now), this.#keyOf(step)]
    return {
      step: spentBoth(allOf(this.#steps.get(key) ?? NO_STEP_SPENT), this.#holds.sum({ step: key }, before)),
      day: spentBoth(this.#spentOn(days), this.#holds.sum({ days }, before)),
    }
  }

  /** Of which nothing is given back any more: spent, and held by who is gone. */
  certain(now: number, step: number): Sums {
    const [days, key] = [countedOn(now), this.#keyOf(step)]
    return {
      step: spentBoth(allOf(this.#steps.get(key) ?? NO_STEP_SPENT), this.#holds.lost({ step: key }, this.#owner)),
      day: spentBoth(this.#spentOn(days), this.#holds.lost({ days }, this.#owner)),
    }
  }

  #spentOn(days: Days): Spent {
    return [...this.#days].filter(([day]) => isIn(days, day)).reduce((sum, [, spent]) => spentBoth(sum, spent), NOTHING_SPENT)
  }

  #keyOf(step: number): string {
    return keyOf(this.#component, step)
  }

  episodeEnded(at: number, step: number, seconds: number): void {
    this.#add(at, [this.#component, step, 'ended', seconds])
  }

  /** Once this resolves, everything spent is on the disk, and what other trainers of the scenario spent is known. */
  async settle(now: number): Promise<void> {
    this.#written = [...(await this.#filesByDay()).keys()]
    await this.#flushAndRead(now, DAYS_KEPT)
  }

  /** The same, of what anybody may still be writing. */
  async look(now: number): Promise<void> {
    await this.#flushAndRead(now, DAYS_WRITTEN)
  }

  async #flushAndRead(now: number, days: number): Promise<void> {
    await this.#flush()
    // In turn: two that read at once would count the same lines twice.
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#readDays(now, days))
    await this.#reading
  }

  async #readDays(now: number, days: number): Promise<void> {
    for (let back = days - 1; back >= 0; back -= 1) await this.#readDay(dayOf(now - back * DAY_MS))
    for (const day of this.#written) if (day > dayOf(now) && isIn(countedOn(now), day)) await this.#readDay(day)
  }

  async #filesByDay(): Promise<ReadonlyMap<string, readonly string[]>> {
    const names = (await this.#documents.list(FOLDER)).map(({ name }) => name).filter((name) => DAY_FILE.test(name))
    return Map.groupBy(names, (name) => name.slice(0, DAY_CHARACTERS))
  }

  /** Removes what is too old. */
  async tidy(now: number): Promise<void> {
    const files = await this.#filesByDay().catch(() => new Map<string, readonly string[]>())
    const past = [...files.keys()].filter((day) => day <= dayOf(now)).toSorted()
    for (const day of past.slice(0, -DAYS_KEPT))
      if (day < dayOf(now - DAYS_KEPT * DAY_MS)) for (const name of files.get(day) ?? []) await this.#documents.remove(`${FOLDER}/${name}`)
  }

  /** By all trainers of the scenario. What others hold counts: nobody may be left to say what that took. */
  today(now: number): Spent {
    const days = countedOn(now)
    return spentBoth(this.#spentOn(days), this.#holds.besides({ days }, this.#owner))
  }

  ofStep(step: number): StepSpent {
    const key = this.#keyOf(step)
    const { episode, model } = this.#steps.get(key) ?? NO_STEP_SPENT
    return {
      episode: spentBoth(episode, this.#holds.besides({ step: key, by: 'episode' }, this.#owner)),
      model: spentBoth(model, this.#holds.besides({ step: key, by: 'model' }, this.#owner)),
    }
  }

  /** By the steps after one. */
  after(step: number): { readonly steps: number; readonly spent: Spent } {
    const later = [...this.#stepsOfOwn].filter((each) => each > step)
    return { steps: later.length, spent: later.reduce((sum, each) => spentBoth(sum, allOf(this.ofStep(each))), NOTHING_SPENT) }
  }

  get episodes(): Episodes {
    return this.#episodes
  }

  #add(at: number, values: readonly (string | number)[]): void {
    // A line of its own, also after one that a crash or a full disk cut short.
    this.#pending.push({ day: dayOf(at), line: `\n${JSON.stringify(values)}\n` })
    this.#flush().catch(() => undefined)
  }

  /** Resolves once everything that was added is on the disk. */
  written(): Promise<void> {
    return this.#flush()
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
    const { from, text } = await this.#unread(path)
    const whole = text.subarray(0, text.lastIndexOf(LINE_END) + 1)
    this.#read.set(path, from + whole.length)
    for (const line of whole.toString('utf8').split('\n')) this.#take(day, path, line)
  }

  /** One that does not go on where it was read was removed and begun anew: all of it counts beside what is known. */
  async #unread(path: string): Promise<{ readonly from: number; readonly text: Buffer }> {
    const from = this.#read.get(path) ?? 0
    if (from > 0) {
      const text = Buffer.from((await this.#documents.read(path, from - 1)) ?? [])
      if (text.toString('utf8', 0, 1) === LINE_END) return { from, text: text.subarray(1) }
    }
    return { from: 0, text: Buffer.from((await this.#documents.read(path)) ?? []) }
  }

  #take(day: string, file: string, line: string): void {
    const values = parsed(line)
    const [component, step, kind, ...rest] = values
    if (typeof component !== 'string' || typeof step !== 'number') return
    const [first] = rest
    const key = keyOf(component, step)
    if (kind === 'ended') return this.#takeEnd(first)
    if (kind === 'hold') return this.#takeHold(rest, { day, step: key, file })
    if (kind === 'drop' && typeof first === 'string') return void this.#holds.end(first)
    if (kind === 'beat' && typeof first === 'string') return this.#holds.hear(first)
    if (kind === 'full') return void this.#full.set(fullKey(day, key, rest[0], rest[1]), String(rest[2]))
    const spent = spentIn(rest)
    if (spent === null || !isSpender(kind)) return
    const hold = rest[NUMBERS]
    const begun = typeof hold === 'string' ? this.#holds.end(hold) : null
    // A call over midnight was held below the cap of the day before, and never below that of its last day.
    const counts = begun !== null && begun === dayBefore(day) ? begun : day
    this.#days.set(counts, spentBoth(this.#days.get(counts) ?? NOTHING_SPENT, spent))
    if (kind === 'episode') this.#episodes = { ...this.#episodes, spent: spentBoth(this.#episodes.spent, spent) }
    if (component === this.#component) this.#stepsOfOwn.add(step)
    const known = this.#steps.get(key) ?? NO_STEP_SPENT
    this.#steps.set(key, { ...known, [kind]: spentBoth(known[kind], spent) })
  }

  #takeHold([by, id, owner, ...numbers]: readonly unknown[], place: Pick<OpenHold, 'day' | 'step' | 'file'>): void {
    const most = spentIn(numbers)
    if (most !== null && isSpender(by) && typeof id === 'string' && typeof owner === 'string')
      this.#holds.add(id, { ...place, by, most, owner })
  }

  #takeEnd(seconds: unknown): void {
    if (typeof seconds !== 'number') return
    const { ended, seconds: before } = this.#episodes
    this.#episodes = { ...this.#episodes, ended: ended + 1, seconds: before + seconds }
  }
}

const OWNER_BYTES = 8
/** Of what was spent, in a line. */
const NUMBERS = 6

const numbersOf = ({ calls, inputTokens, cachedTokens, outputTokens, cost, unpricedCalls }: Spent): readonly number[] => [
  calls,
  inputTokens,
  cachedTokens,
  outputTokens,
  cost,
  unpricedCalls,
]
const isSpender = (value: unknown): value is Spender => value === 'episode' || value === 'model'
const fullKey = (day: string, step: string, tokens: unknown, cost: unknown): string => JSON.stringify([day, step, tokens, cost])
const keyOf = (component: string, step: number): string => JSON.stringify([component, step])
export const allOf = ({ episode, model }: StepSpent): Spent => spentBoth(episode, model)

const LINE_END = '\n'
const DAY_CHARACTERS = 'YYYY-MM-DD'.length
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, DAY_CHARACTERS)
const dayBefore = (day: string): string => dayOf(Date.parse(day) - DAY_MS)
/** Today, and what cannot have been spent yet. */
const countedOn = (now: number): Days => ({ first: dayOf(now), last: dayOf(now + DAYS_KEPT * DAY_MS) })
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
