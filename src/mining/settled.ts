/** Verdicts on origins that have no task, so that mining again does not try them again while nothing has changed. */
import { hash } from 'node:crypto'
import { appendFile, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MinedTask } from '../contract/index.ts'
import { isMissing } from '../kit/index.ts'

/** What a verdict of tests depends on beside the task. */
export interface Conditions {
  /** What was installed when they ran. */
  readonly installed: string
  /** The name of the executor. */
  readonly executor: string
  /** The longest time of one run. */
  readonly secondsMax: number
}
interface Tried extends Omit<Conditions, 'secondsMax'> {
  /** The time that was too short; null where it was long enough. */
  readonly seconds: number | null
}
interface Settled {
  readonly reason: string
  /** Null where no test was asked, so that it holds for good. */
  readonly tried: Tried | null
}

const SETTLED_FILE = '.passed-over.jsonl'

/** By origin, the latest last. Lines that a crash cut are no verdicts, and neither are those of a time when less was written of what they depend on. */
export async function settledIn(directory: string): Promise<ReadonlyMap<string, readonly Settled[]>> {
  const text = await readFile(join(directory, SETTLED_FILE), 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return ''
    throw error
  })
  const verdicts = text.split('\n').flatMap(verdictIn)
  return new Map([...Map.groupBy(verdicts, ({ origin }) => origin)].map(([origin, all]) => [origin, all.map(({ settled }) => settled)]))
}

function verdictIn(line: string): readonly { origin: string; settled: Settled }[] {
  try {
    const { origin, reason, installed, executor, seconds }: Readonly<Record<string, unknown>> = Object(JSON.parse(line))
    if (typeof origin !== 'string' || typeof reason !== 'string') return []
    if (installed === null) return [{ origin, settled: { reason, tried: null } }]
    if (typeof installed !== 'string' || typeof executor !== 'string' || (seconds !== null && typeof seconds !== 'number')) return []
    return [{ origin, settled: { reason, tried: { installed, executor, seconds } } }]
  } catch {
    return []
  }
}

export const settle = (directory: string, origin: string, { reason, tried }: Settled): Promise<void> =>
  appendFile(join(directory, SETTLED_FILE), `${JSON.stringify({ origin, reason, ...(tried ?? { installed: null }) })}\n`)

/** Whether trying again would end the same. */
export const holds = ({ tried }: Settled, { installed, executor, secondsMax }: Conditions): boolean =>
  tried === null ||
  (tried.installed === installed && tried.executor === executor && (tried.seconds === null || secondsMax <= tried.seconds))

/** Differs as soon as packages were installed for the task, or removed. */
export async function installedFor({ dependencies = {} }: MinedTask): Promise<string> {
  const marks = await Promise.all(Object.entries(dependencies).map(async ([path, folder]) => [path, folder, await timesIn(folder)]))
  return hash('sha256', JSON.stringify(marks)).slice(0, DIGEST_CHARACTERS)
}
const DIGEST_CHARACTERS = 16

/** What package managers write whenever they install something: their own lists, and the folder of Python's packages. */
const LISTS = ['.', '.package-lock.json', '.modules.yaml', '.yarn-state.yml', '.yarn-integrity']

async function timesIn(folder: string): Promise<readonly (number | null)[]> {
  const versions = await readdir(join(folder, 'lib')).catch((): string[] => [])
  const written = [...LISTS, ...versions.toSorted().map((version) => join('lib', version, 'site-packages'))]
  return Promise.all(
    written.map((path) =>
      stat(join(folder, path)).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      ),
    ),
  )
}
