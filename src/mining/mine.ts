/** Mines: takes what a miner offers, screens and tries it, places it, and keeps it, until there is enough. What is there already stays. */
import { checkFiles, isObject, isRefusal, unavailable, type Json, type Miner, type MinedTask, type Task } from '../contract/index.ts'
import { bytesOf, readTask, taskFrom } from '../evolution/index.ts'
import { codeOf, hiddenCharacters, makeFolder, screenText } from '../kit/index.ts'
import { checkTask, type Judge } from './check.ts'
import { readMined, readMinedTask, removeUnfinished, writeMined, type MinedFolder } from './folder.ts'
import { place, textOf, type Placed } from './placing.ts'
import { holds, installedFor, settle, settledIn, type Conditions } from './settled.ts'

export interface MiningRun {
  /** The folder of the tasks. */
  readonly directory: string
  readonly miner: Miner
  readonly source: string
  /** How many mined tasks there should be, with those that are there. */
  readonly tasksMax: number
  /** Decides which role a task gets. */
  readonly seed: string
  readonly judge: Judge
  readonly secondsMax?: number
  /** How many offers that do not pass end the search. */
  readonly missesMax?: number
  readonly now?: () => Date
  readonly report: (line: string) => void
  readonly signal: AbortSignal
}
export interface MiningResult {
  readonly added: readonly string[]
  /** Mined tasks that were there before and are not dropped. */
  readonly kept: number
  /** Offered, and did not hold. */
  readonly passedOver: readonly { readonly origin: string; readonly reason: string }[]
  /** Why each origin has no task here, also those that the miner did not offer, and those that were settled before. */
  readonly leftOut: ReadonlyMap<string, string>
}

export interface CountedReason {
  readonly reason: string
  readonly count: number
}

/** The most frequent first. */
export const countReasons = (leftOut: ReadonlyMap<string, string>): readonly CountedReason[] =>
  [...Map.groupBy(leftOut.values(), (reason) => reason)]
    .map(([reason, { length: count }]) => ({ reason, count }))
    .toSorted((one, other) => other.count - one.count)

const SECONDS_MAX = 60
const MISSES_MAX = 200
/** Flaky tests are found by `svc tasks check`; this finds the worst. */
const SCREEN_REPEATS = 3
/** The files of all tasks; a service holds them in memory. */
const ALL_BYTES_MAX = 192 * 1024 * 1024

export async function mineTasks(run: MiningRun): Promise<MiningResult> {
  const { directory, miner, source, tasksMax, report, signal } = run
  await makeFolder(directory).catch((cause: unknown) => {
    throw unavailable('no_folder', `the tasks cannot be kept in ${JSON.stringify(directory)} (${codeOf(cause)}); name a folder of yours`, {
      cause,
    })
  })
  await removeUnfinished(directory)
  const there = await readMined(directory)
  const kept = there.filter(({ mined }) => mined !== null && mined.status !== 'dropped').length
  const state: Mining = { placed: await placedIn(directory, there), names: new Set(there.map(({ name }) => name)) }
  const added: string[] = []
  const passedOver: { origin: string; reason: string }[] = []
  const settled = await settledIn(directory)
  const leftOut = new Map([...settled].map(([origin, verdicts]) => [origin, verdicts.at(-1)?.reason ?? '']))
  if (kept >= tasksMax) return { added, kept, passedOver, leftOut }
  const forGood = [...settled].flatMap(([origin, verdicts]) => (verdicts.some(({ tried }) => tried === null) ? [origin] : []))
  const known = new Set([...there.flatMap(({ mined }) => mined?.origin ?? []), ...forGood])
  const passOver = (origin: string, reason: string): void => {
    leftOut.set(origin, reason)
    report(`${origin.slice(0, ORIGIN_CHARACTERS)}: passed over: ${reason}`)
  }
  for await (const found of miner.mine({ source, tasksMax: tasksMax - kept, known, report, passOver, signal })) {
    signal.throwIfAborted()
    const { name, origin } = found
    if (known.has(origin)) continue
    const conditions = await conditionsOf(run, found)
    const verdict = settled.get(origin)?.findLast((each) => holds(each, conditions))
    if (verdict !== undefined) {
      leftOut.set(origin, verdict.reason)
      continue
    }
    leftOut.delete(origin)
    const reason = await keep(run, state, found, conditions)
    if (reason === null) {
      added.push(name)
      report(`${name}: kept`)
    } else {
      passedOver.push({ origin, reason })
      leftOut.set(origin, reason)
      report(`${name}: passed over: ${reason}`)
    }
    if (kept + added.length >= tasksMax || passedOver.length >= (run.missesMax ?? MISSES_MAX)) break
  }
  return { added, kept, passedOver, leftOut }
}
/** Enough of an id. */
const ORIGIN_CHARACTERS = 18

interface PlacedTask extends Placed {
  readonly bytes: number
}
interface Mining {
  placed: readonly PlacedTask[]
  readonly names: Set<string>
}

const conditionsOf = async ({ judge, secondsMax = SECONDS_MAX }: MiningRun, found: MinedTask): Promise<Conditions> => ({
  installed: await installedFor(found),
  executor: judge.name,
  secondsMax,
})

/** Null when it was kept, else why not. The conditions are of before, so that what is installed meanwhile counts as new. */
async function keep(run: MiningRun, state: Mining, found: MinedTask, { secondsMax, ...conditions }: Conditions): Promise<string | null> {
  const screened = screen(found)
  if (typeof screened === 'string') {
    await settle(run.directory, found.origin, { reason: screened, tried: null })
    return screened
  }
  if (state.names.has(found.name)) return 'there is a task of this name'
  const bytes = bytesOf(screened)
  if (state.placed.reduce((sum, each) => sum + each.bytes, bytes) > ALL_BYTES_MAX)
    return `the tasks together have more than ${ALL_BYTES_MAX} bytes`
  const reference = found.reference ?? null
  const task = { module: found.module, origin: found.origin, shingles: textOf(found, found.files) }
  const placement = place(task, state.placed, run.seed)
  if (placement === null) return 'it is alike to tasks on both sides of the held-out line'
  const { directory, judge, now = () => new Date(), signal } = run
  const { record, isOpen, isTooSlow, ran } = await checkTask({
    directory,
    task: screened,
    reference,
    judge,
    repeats: SCREEN_REPEATS,
    isScreen: true,
    secondsMax,
    now,
    signal,
  })
  const [problem] = record.problems
  if (problem !== undefined) {
    if (!isOpen)
      await settle(directory, found.origin, { reason: problem, tried: { ...conditions, seconds: isTooSlow ? secondsMax : null } })
    return problem
  }
  if (!(await writeMined(directory, withTests(found, ran), placement, { status: 'proposed', check: record })))
    return 'another process wrote it meanwhile'
  state.placed = [...state.placed, { ...task, ...placement, bytes }]
  state.names.add(found.name)
  return null
}

/** The verifier compares: where others run, an agent's code took some away. */
function withTests(found: MinedTask, ran: string | null): MinedTask {
  const { verify_files: files } = found.data
  return ran === null || !isObject(files) ? found : { ...found, data: { ...found.data, verify_files: { ...files, 'verify/ran': ran } } }
}

/** Words that a model or a person reads. */
const GRADING = ['rubric', 'answer'] as const
const wordsIn = (value: Json | undefined): string => (typeof value === 'string' ? value : Array.isArray(value) ? value.join('\n') : '')

function problemIn([field, text]: readonly [string, string]): readonly string[] {
  if (hiddenCharacters(text).length > 0) return [`its ${field} holds hidden characters`]
  const hit = screenText(text)
  return hit === null ? [] : [hit === 'credential_in_text' ? `its ${field} holds a credential` : `its ${field} gives orders to a model`]
}

/** The task, or why it cannot be one. */
export function screen(found: MinedTask): Task | string {
  const { name, prompt, files = {}, dependencies = {}, data } = found
  const unsafe = [['prompt', prompt] as const, ...GRADING.map((field) => [field, wordsIn(data[field])] as const)].flatMap(problemIn)
  if (unsafe[0] !== undefined) return unsafe[0]
  const hidden = isObject(data['verify_files']) ? Object.keys(data['verify_files']) : []
  if (hidden.some((path) => !path.startsWith('verify/'))) return 'a path of verify_files does not start with verify/'
  try {
    checkFiles(found.reference?.files ?? {})
    return taskFrom({ name, prompt, files, dependencies, ...data }, 'it')
  } catch (error) {
    if (isRefusal(error)) return error.message
    throw error
  }
}

/** Every task that is there and not dropped, also those that people wrote. */
export async function placedIn(directory: string, there: readonly MinedFolder[]): Promise<readonly PlacedTask[]> {
  const placed: PlacedTask[] = []
  for (const { name, mined } of there.filter((each) => each.mined?.status !== 'dropped')) {
    const { task, reference } =
      mined === null ? { task: await readTask(directory, name), reference: null } : await readMinedTask(directory, name)
    const shingles = textOf({ prompt: task.prompt, ...(reference !== null && { reference }) }, task.files)
    placed.push({ role: task.role, family: task.family ?? task.name, module: mined?.module ?? `\0${name}`, shingles, bytes: bytesOf(task) })
  }
  return placed
}
