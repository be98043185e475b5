/** The release file of a harness's folder: which release it holds, what that needs of this machine, and what of it was checked off. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { RELEASE_FILE, parseJson, renameReleaseFile, type Requires } from '@svc-ai/client/shared'
import { Stop } from './failure.ts'
import { readIfThere, SHARED, writeWhole, type WholeFile } from './whole-file.ts'

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

/** Null when there is none. A plain pull writes neither `requires` nor `setup`, which means nothing required. */
export async function readReleaseFile(destination: string): Promise<ReleaseFile | null> {
  if (existsSync(destination)) renameReleaseFile(destination)
  const path = join(destination, RELEASE_FILE)
  const text = await readIfThere(path)
  if (text === null) return null
  const found = parse(text)
  if (found !== null) return found
  throw new Stop(`${path} is no release file; move it away and run the same command again`)
}

export const writeReleaseFile = (destination: string, release: ReleaseFile): Promise<void> => writeWhole(releaseFile(destination, release))

/** One item a line, so that a person can read and compare it. */
export function releaseFile(destination: string, { release_id, content_id, files, requires, setup }: ReleaseFile): WholeFile {
  const fields = [
    `"release_id": ${JSON.stringify(release_id)}`,
    `"content_id": ${JSON.stringify(content_id)}`,
    `"files": ${lines(files)}`,
    `"requires": ${lines(requires)}`,
    `"setup": ${lines(setup)}`,
  ]
  return { path: join(destination, RELEASE_FILE), text: `{\n  ${fields.join(',\n  ')}\n}\n`, mode: SHARED }
}

/** The items that are not checked off as they are now: another check is another item. */
export function unmet(requires: readonly Requires[], setup: readonly CheckOff[]): readonly Requires[] {
  return requires.filter((item) => !setup.some((done) => done.name === item.name && covers(done, item)))
}

/** Those of a release that is, or may be, in this folder. */
export const unmetIn = async (destination: string, requires: readonly Requires[]): Promise<readonly Requires[]> =>
  unmet(requires, (await readReleaseFile(destination))?.setup ?? [])

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
