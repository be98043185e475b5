/** The folder of records: its files per scenario, and files that do not belong. Files are named by the SHA-256 of the scenario's name. */
import { hash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, JSON_DEPTH_MAX, type Json, type JsonObject } from '../../contract/index.ts'
import { faultInJson } from '../../kit/index.ts'

export const SOURCE_FILE = /^([0-9a-f]{64})\.(sqlite3|commits\.jsonl)$/
/** Model settings are next to the records of their scenario; their file name depends on the version. */
const SETTINGS_FILE = /^([0-9a-f]{64})\.[\w.-]*json$/
const SETTINGS_BYTES_MAX = 64 * 1024
const ARCHIVE_FOLDER = 'archived'

/** The files of one scenario. */
export interface ScenarioFolder {
  readonly database?: string
  readonly log?: string
  /** Files that may hold model settings. */
  readonly settings?: readonly string[]
}

export const nameDigest = (scenario: string): string => hash('sha256', scenario)

export async function listFolder(directory: string) {
  /** By the digest of the scenario's name. */
  const scenarios = new Map<string, ScenarioFolder>()
  /** Files that are not read, with the reason. */
  const odd: string[] = []
  for (const name of (await readdir(directory)).toSorted()) {
    const [, digest = '', kind] = SOURCE_FILE.exec(name) ?? SETTINGS_FILE.exec(name) ?? []
    if (digest === '') continue
    const path = join(directory, name)
    if (!(await lstat(path)).isFile()) {
      odd.push(`${name} is a link or no plain file: it is not followed`)
      continue
    }
    const known = scenarios.get(digest) ?? {}
    const settings = [...(known.settings ?? []), path]
    const part = kind === 'sqlite3' ? { database: path } : kind === 'commits.jsonl' ? { log: path } : { settings }
    scenarios.set(digest, { ...known, ...part })
  }
  const archived = await readdir(join(directory, ARCHIVE_FOLDER)).catch(() => [])
  return { scenarios, archived: archived.length, odd }
}

/** The settings without the key; null when the file holds none. */
export async function readSettings(path: string): Promise<{ readonly settings: JsonObject; readonly hadKey: boolean } | null> {
  if ((await lstat(path)).size > SETTINGS_BYTES_MAX) return null
  const value = parsed(await readFile(path, 'utf8'))
  const own = isObject(value) && isObject(value['model']) ? value['model'] : value
  if (!isObject(own) || (typeof own['url'] !== 'string' && typeof own['model'] !== 'string')) return null
  const kept = Object.entries(own).filter(([name, member]) => ['url', 'model', 'api'].includes(name) && member !== null)
  return { settings: Object.fromEntries(kept), hadKey: typeof own['api_key'] === 'string' && own['api_key'] !== '' }
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
