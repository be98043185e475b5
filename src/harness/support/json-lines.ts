/** Reads agents' session logs: mostly JSON lines, else one document per session. */
import { lstat, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { entriesBelow } from '../../kit/index.ts'

/** Agents write the logs, and they are read into memory. */
const LOG_BYTES_MAX = 64 * 1024 * 1024

/** The events of every `*.jsonl` below the folder, in path order; none where the folder is missing. */
export async function readJsonLines(folder: string): Promise<readonly JsonObject[]> {
  const logs = await logsBelow(folder, '.jsonl')
  const read = await Promise.all(logs.map(async (path) => eventsIn(path, await readFile(join(folder, path), 'utf8'))))
  return read.flat()
}

/** Every `*.json` below the folder, in path order. */
export async function readDocuments(folder: string): Promise<readonly (readonly [path: string, document: Json])[]> {
  const paths = await logsBelow(folder, '.json')
  return Promise.all(paths.map(async (path) => [path, JSON.parse(await readFile(join(folder, path), 'utf8'))] as const))
}

/** Array.isArray does not narrow readonly arrays. */
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

async function logsBelow(folder: string, ending: string): Promise<readonly string[]> {
  const paths = (await filesBelow(folder)).filter((path) => path.endsWith(ending))
  const sizes = await Promise.all(paths.map(async (path) => (await lstat(join(folder, path))).size))
  if (sizes.reduce((sum, size) => sum + size, 0) > LOG_BYTES_MAX) throw new Error(`the session log is larger than ${LOG_BYTES_MAX} bytes`)
  return paths
}

/** Paths of plain files below a folder, sorted; links are not followed. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  return (await entriesBelow(folder))
    .filter((file) => file.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .sort()
}

/** A killed agent may leave half a last line; any other invalid line means an unknown format. */
export function eventsIn(path: string, text: string): readonly JsonObject[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return []
    const event = parsed(line)
    if (isObject(event)) return [event]
    if (index === lines.length - 1) return []
    throw new Error(`line ${index + 1} of the session log ${path} is not a JSON object`)
  })
}

function parsed(line: string): JsonObject | null {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
