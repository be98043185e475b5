/** The release file of a harness's folder: which release it holds, what that needs of this machine, and what of it was checked off. */
import { join } from 'node:path'
import { FORMER_RELEASE_FILE, keepRelease, keptRelease, parseJson, RELEASE_FILE, type Requires } from '@svc-ai/client/shared'
import { installFolder } from './places.ts'
import { recordIfThere } from './record.ts'
import { readPlain, SHARED, writeWhole } from './whole-file.ts'

const BYTES_MAX = 16 * 1024 * 1024

export interface ReleaseFile {
  readonly release_id: string
  readonly content_id: string
  /** Paths of the tree, sorted. */
  readonly files: readonly string[]
  readonly requires: readonly Requires[]
  readonly setup: readonly CheckOff[]
}

export interface CheckOff {
  readonly name: string
  /** Seconds since the epoch. */
  readonly checked_at: number
  /** What was checked; null for an item that has no check. Absent in files from before checks were kept. */
  readonly check?: string | null
}

/**
 * The release as this machine wrote it: the file in the folder may have come with a repository. Null when it wrote none. A plain pull writes neither
 * `requires` nor `setup`, which means nothing required.
 */
export async function readReleaseFile(destination: string, home: string): Promise<ReleaseFile | null> {
  const kept = keptRelease(home, destination)
  return kept === null ? ofEarlierVersion(destination, home) : parse(kept)
}

/** An earlier version kept a record of the install alone, and what was checked off in the folder. */
async function ofEarlierVersion(destination: string, home: string): Promise<ReleaseFile | null> {
  const record = await recordIfThere(installFolder(home, destination))
  if (record === null) return null
  const { release_id, content_id, requires, files, binding } = record
  const paths = [RELEASE_FILE, FORMER_RELEASE_FILE].map((name) => join(destination, name))
  const texts = await Promise.all(paths.map((path) => readPlain(path, BYTES_MAX)))
  const same = texts.map((text) => parse(text ?? '')).find((found) => found?.release_id === release_id)
  return {
    release_id,
    content_id,
    files: [...new Set([...Object.keys(files), ...Object.keys(binding)])],
    requires,
    setup: same?.setup ?? [],
  }
}

/** Kept first: the file in the folder only shows it. */
export async function writeReleaseFile(destination: string, release: ReleaseFile, home: string): Promise<void> {
  const text = releaseText(release)
  keepRelease(home, destination, text)
  await writeWhole({ path: join(destination, RELEASE_FILE), text, mode: SHARED })
}

/** One item a line, so that a person can read and compare it. */
export function releaseText({ release_id, content_id, files, requires, setup }: ReleaseFile): string {
  const fields = [
    `"release_id": ${JSON.stringify(release_id)}`,
    `"content_id": ${JSON.stringify(content_id)}`,
    `"files": ${lines(files)}`,
    `"requires": ${lines(requires)}`,
    `"setup": ${lines(setup)}`,
  ]
  return `{\n  ${fields.join(',\n  ')}\n}\n`
}

/** The items that are not checked off as they are now: another check is another item. */
export function unmet(requires: readonly Requires[], setup: readonly CheckOff[]): readonly Requires[] {
  return requires.filter((item) => !setup.some((done) => done.name === item.name && covers(done, item)))
}

/** Those of a release that is, or may be, in this folder. */
export const unmetIn = async (destination: string, requires: readonly Requires[], home: string): Promise<readonly Requires[]> =>
  unmet(requires, (await readReleaseFile(destination, home))?.setup ?? [])

const covers = ({ check }: CheckOff, item: Requires): boolean => check === undefined || check === (item.check ?? null)

/** The later check-off of a name replaces the earlier. */
export function withCheckOffs(before: readonly CheckOff[], after: readonly CheckOff[]): readonly CheckOff[] {
  return [...new Map([...before, ...after].map((done) => [done.name, done])).values()]
}

const lines = (items: readonly unknown[]): string =>
  items.length === 0 ? '[]' : `[\n    ${items.map((item) => JSON.stringify(item)).join(',\n    ')}\n  ]`

function parse(text: string): ReleaseFile | null {
  const found = parseJson(text)
  if (typeof found !== 'object' || found === null) return null
  const { release_id, content_id, files, requires, setup }: Partial<Record<keyof ReleaseFile, unknown>> = found
  if (typeof release_id !== 'string') return null
  return {
    release_id,
    content_id: typeof content_id === 'string' ? content_id : '',
    files: listOf(files, isText),
    requires: listOf(requires, isItem),
    setup: listOf(setup, isCheckOff),
  }
}

const listOf = <T>(value: unknown, fits: (item: unknown) => item is T): readonly T[] => (Array.isArray(value) ? value.filter(fits) : [])

const isText = (value: unknown): value is string => typeof value === 'string'

const isItem = (value: unknown): value is Requires => hasName(value) && 'kind' in value && isText(value.kind)

const isCheckOff = (value: unknown): value is CheckOff => hasName(value) && 'checked_at' in value && typeof value.checked_at === 'number'

const hasName = (value: unknown): value is { readonly name: string } =>
  typeof value === 'object' && value !== null && 'name' in value && isText(value.name)
