/** Tries a task without an agent: nothing done must fail, the reference must pass, and repeats must agree. */
import { rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Episode, Evaluator, Executor, Files, Reference, Scene, Task } from '../contract/index.ts'
import { evaluatorOf } from '../evolution/index.ts'
import { mkdirp, wordsOf } from '../kit/index.ts'
import { makeTrialFolder, type CheckRecord } from './folder.ts'

/** What scores a task. */
export interface Judge {
  /** Of its executor: what holds in one may not hold in another. */
  readonly name: string
  readonly executor: Executor
  evaluator(name: string): Promise<Evaluator>
}

export interface CheckOrder {
  /** Where trial folders are made. */
  readonly directory: string
  readonly task: Task
  readonly reference: Reference | null
  readonly judge: Judge
  readonly repeats: number
  /** Ends with the first run that shows that the task does not hold. */
  readonly isScreen?: boolean
  /** Longest time of one run. */
  readonly secondsMax: number
  readonly now: () => Date
  /** After each run. */
  readonly progress?: (done: number, total: number) => void
  readonly signal: AbortSignal
}
export interface CheckResult {
  readonly record: CheckRecord
  /** Whether another try on another machine, or later, may end otherwise. */
  readonly isOpen: boolean
  /** Whether it took longer than it may, so that a longer time may end otherwise. */
  readonly isTooSlow: boolean
  /** Which tests ran with the reference, as the verifier says it in its last line; null where it does not, or not always alike. */
  readonly ran: string | null
}

export async function checkTask(order: CheckOrder): Promise<CheckResult> {
  if (evaluatorOf(order.task, 'answer') === 'judge') return untried(order)
  const plan = planOf(order)
  const runs: TrialRun[] = []
  for (const [side, files] of plan) {
    const said = side === 'reference' ? (order.reference?.answer ?? '') : ''
    const run = { side, ...(await trial(order, files, said)) }
    runs.push(run)
    order.progress?.(runs.length, plan.length)
    if (order.isScreen === true && isAgainst(run)) break
  }
  return resultOf(order, runs)
}

/** Only a step has a model that judges. */
const untried = ({ now }: CheckOrder): CheckResult => ({
  record: {
    at: now().toISOString(),
    passed: false,
    untouched: [],
    empty: [],
    reference: [],
    seconds_max: 0,
    problems: [],
    untried: 'a model judges it, and there is none here',
  },
  isOpen: false,
  isTooSlow: false,
  ran: null,
})

const isAgainst = ({ side, score, trouble }: TrialRun): boolean => trouble !== null || passes(score) !== (side === 'reference')

/** What is tried, in turns, so that a task that does not hold is found out early. */
function planOf({ task, reference, repeats }: CheckOrder): readonly (readonly [SideName, Files])[] {
  const workspace = task.files ?? {}
  const turn: readonly (readonly [SideName, Files])[] = [
    ['untouched', workspace],
    ...(reference === null ? [] : [['reference', solved(workspace, reference)] as const]),
  ]
  const turns = Array.from({ length: repeats - 1 }, () => turn).flat()
  const without = withoutSolution(task, reference)
  return [...turn, ['empty', {}], ...(without === null ? [] : [['without', without] as const]), ...turns]
}

/** What is installed may hold the repository itself as it is today; null where that cannot be, or nothing would be left out. */
function withoutSolution({ files = {}, dependencies }: Task, reference: Reference | null): Files | null {
  if (dependencies === undefined || reference === null) return null
  const left = Object.entries(files).filter(([path]) => !Object.hasOwn(reference.files, path))
  return left.length === Object.keys(files).length ? null : Object.fromEntries(left)
}

type SideName = 'untouched' | 'empty' | 'without' | 'reference'
interface TrialEnd {
  /** Null when it could not be judged. */
  readonly score: number | null
  readonly seconds: number
  readonly trouble: string | null
  /** The same as in `CheckResult`. */
  readonly ran: string | null
}
interface TrialRun extends TrialEnd {
  readonly side: SideName
}

function solved(workspace: Files, { files, removed }: Reference): Files {
  const kept = Object.entries(workspace).filter(([path]) => !removed.includes(path))
  return { ...Object.fromEntries(kept), ...files }
}

/** The agent said that, and ended by itself. */
const doneWith = (stdout: string): Episode => ({ exitCode: 0, stdout, stderr: '', trajectory: [] })

/** The evaluator scores a workspace as if an agent had left it. */
async function trial({ directory, task, judge, secondsMax, signal }: CheckOrder, files: Files, said: string): Promise<TrialEnd> {
  signal.throwIfAborted()
  const evaluator = await judge.evaluator(evaluatorOf(task, 'answer'))
  const folder = await makeTrialFolder(directory)
  const limit = AbortSignal.timeout(secondsMax * 1000)
  const begun = performance.now()
  const seconds = (): number => Math.round((performance.now() - begun) / 10) / 100
  let ran: string | null = null
  const note: Scene['note'] = (_, { stdout } = {}) => {
    ran = typeof stdout === 'string' ? (RAN.exec(stdout)?.[1] ?? null) : null
  }
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdirp(dirname(join(folder, path)))
      await writeFile(join(folder, path), text)
    }
    const scene = {
      workspace: folder,
      models: {},
      executor: judge.executor,
      reference: null,
      signal: AbortSignal.any([signal, limit]),
      note,
    }
    const score = await evaluator.score(task, doneWith(said), scene)
    return { score, seconds: seconds(), trouble: null, ran }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return { score: null, seconds: seconds(), trouble: tooSlow(secondsMax), ran: null }
    return { score: null, seconds: seconds(), trouble: wordsOf(error), ran: null }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The last line. */
const RAN = /^(ran(?: [\w:-]+)+)\s*$(?![^])/m

/** Often because packages are missing that the tests need. */
export const REFERENCE_FAILS = 'the reference does not pass'

const tooSlow = (secondsMax: number): string => `it takes longer than ${secondsMax} s`

const passes = (score: number | null): boolean => score === 1

function resultOf({ reference, repeats, secondsMax, now }: CheckOrder, runs: readonly TrialRun[]): CheckResult {
  const of = (side: SideName): (number | null)[] => runs.filter((run) => run.side === side).map(({ score }) => score)
  const [untouched, empty, without, referenceScores] = [of('untouched'), of('empty'), of('without'), of('reference')]
  const troubles = [...new Set(runs.flatMap(({ trouble }) => (trouble === null ? [] : [trouble])))]
  const problems = [
    ...troubles.map((trouble) => `it could not be judged: ${trouble}`),
    ...(untouched.some(passes) ? ['the workspace passes before anything is done'] : []),
    ...(empty.some(passes) ? ['an empty workspace passes'] : []),
    ...(without.some(passes) ? ['it passes without the files that it is about: what is installed holds them'] : []),
    ...(reference === null ? ['it has no reference, so nothing shows that it can be solved'] : []),
    ...(referenceScores.length > 0 && !referenceScores.some(passes) && troubles.length === 0 ? [REFERENCE_FAILS] : []),
    ...([untouched, referenceScores].some(differ) && troubles.length === 0 ? [`${repeats} repeats do not agree`] : []),
  ]
  const ran = new Set(runs.filter(({ side }) => side === 'reference').map((run) => run.ran))
  const seconds_max = Math.max(0, ...runs.map(({ seconds }) => seconds))
  return {
    record: {
      at: now().toISOString(),
      passed: problems.length === 0,
      untouched,
      empty,
      reference: referenceScores,
      seconds_max,
      problems,
      untried: null,
    },
    isTooSlow: troubles.includes(tooSlow(secondsMax)),
    ran: ran.size === 1 ? ([...ran][0] ?? null) : null,
    isOpen: troubles.some((trouble) => trouble !== tooSlow(secondsMax)),
  }
}

const differ = (scores: readonly (number | null)[]): boolean => new Set(scores).size > 1
