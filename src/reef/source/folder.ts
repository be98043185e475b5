/** The folder of records: its files per scenario, and files that do not belong. Files are named by the SHA-256 of the scenario's name. */
import { hash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isObject, JSON_DEPTH_MAX, type Json, type JsonObject } from '../../contract/index.ts'
import { faultInJson } from '../../kit/index.ts'

const DATABASE_FILE = /^([0-9a-f]{64})\.sqlite3$/
const LOG_FILE = /^([0-9a-f]{64})\.commits\.jsonl$/
const MODEL_FILE = /^([0-9a-f]{64})-model\.json$/
/** The log of records in PostgreSQL is named by their place there. */
const POSTGRES_LOG_FILE = /^postgres-[0-9a-f]{32}\.commits\.jsonl$/
const SETTINGS_BYTES_MAX = 64 * 1024
const ARCHIVE_FOLDER = 'archived'

export const isSourceFile = (name: string): boolean =>
  [DATABASE_FILE, LOG_FILE, MODEL_FILE, POSTGRES_LOG_FILE].some((file) => file.test(name))

/** The files of one scenario. */
export interface ScenarioFolder {
  readonly database?: string
  readonly log?: string
  readonly model?: string
  /** Whether its records lie in PostgreSQL. */
  readonly isInPostgres?: true
}

export const nameDigest = (scenario: string): string => hash('sha256', scenario)

export async function listFolder(directory: string) {
  /** By the digest of the scenario's name. */
  const scenarios = new Map<string, ScenarioFolder>()
  const postgresLogs: string[] = []
  /** Files that are not read, with the reason. */
  const odd: string[] = []
  for (const name of (await readdir(directory)).toSorted()) {
    if (!isSourceFile(name)) continue
    const path = join(directory, name)
    if (!(await lstat(path)).isFile()) {
      odd.push(`${name} is a link or no plain file: it is not followed`)
      continue
    }
    const found = (
      [
        ['database', DATABASE_FILE],
        ['log', LOG_FILE],
        ['model', MODEL_FILE],
      ] as const
    ).flatMap(([part, file]) => {
      const [, digest] = file.exec(name) ?? []
      return digest === undefined ? [] : [{ part, digest }]
    })
    if (found.length === 0) postgresLogs.push(path)
    for (const { part, digest } of found) scenarios.set(digest, { ...scenarios.get(digest), [part]: path })
  }
  const archived = await readdir(join(directory, ARCHIVE_FOLDER)).catch(() => [])
  return { scenarios, postgresLogs, archived: archived.length, odd }
}

/** The settings without the key; null where they were taken back, which the original writes as null. */
export async function readSettings(path: string): Promise<{ readonly settings: JsonObject; readonly hadKey: boolean } | null> {
  if ((await lstat(path)).size > SETTINGS_BYTES_MAX) throw new Error(`the file is larger than ${SETTINGS_BYTES_MAX} bytes`)
  const value = parsed(await readFile(path, 'utf8'))
  if (value === null) return null
  if (!isObject(value)) throw new Error('the file holds no JSON object')
  const kept = Object.entries(value).filter(([name, member]) => ['url', 'model', 'api'].includes(name) && member !== null)
  return { settings: Object.fromEntries(kept), hadKey: typeof value['api_key'] === 'string' && value['api_key'] !== '' }
}

/** The number of proposals that wait for a step, in the folder that the original has for them unless it is configured otherwise. */
export async function waitingProposals(records: string, scenario: string): Promise<number> {
  if (scenario.includes('/') || scenario.startsWith('.')) return 0
  const names = await readdir(join(dirname(records), 'proposals', scenario)).catch(() => [])
  return names.filter((name) => /^\d+-[0-9a-f]+\.json$/.test(name)).length
}

/** Undefined for invalid JSON, and for JSON nested too deep. */
export function parsed(text: string, depthMax: number = JSON_DEPTH_MAX): Json | undefined {
  try {
    if (faultInJson(Buffer.from(text), { depthMax, uniqueKeys: false }) !== null) return undefined
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
