/** Verdicts on origins that have no task, so that mining again does not try them again while nothing has changed. */
import { hash } from 'node:crypto'
import { appendFile, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MinedTask } from '../contract/index.ts'
import { isMissing } from '../kit/index.ts'

interface Settled {
  readonly reason: string
  /** What was installed when its tests were tried; null where no test was asked. */
  readonly installed: string | null
}

const SETTLED_FILE = '.passed-over.jsonl'

/** By origin. Lines that a crash cut are no verdicts, and neither are those of a time when it was not written what was installed. */
export async function settledIn(directory: string): Promise<ReadonlyMap<string, Settled>> {
  const text = await readFile(join(directory, SETTLED_FILE), 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return ''
    throw error
  })
  return new Map(text.split('\n').flatMap(verdictIn))
}

function verdictIn(line: string): readonly (readonly [origin: string, settled: Settled])[] {
  try {
    const { origin, reason, installed }: { origin?: unknown; reason?: unknown; installed?: unknown } = Object(JSON.parse(line))
    if (typeof origin !== 'string' || typeof reason !== 'string') return []
    return installed === null || typeof installed === 'string' ? [[origin, { reason, installed }]] : []
  } catch {
    return []
  }
}

export const settle = (directory: string, origin: string, settled: Settled): Promise<void> =>
  appendFile(join(directory, SETTLED_FILE), `${JSON.stringify({ origin, ...settled })}\n`)

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
