/** Keeps the step records of a scenario within a size limit. */
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const RECORD = /^(\d+)(?:-(\d+))?$/

/** Removes the oldest records of the folder until the rest fits; `current` always stays. */
export async function pruneRecords(folder: string, current: string, bytesMax: number): Promise<void> {
  let bytes = await bytesOf(join(folder, current))
  for (const name of await newestFirst(folder)) {
    if (name === current) continue
    const path = join(folder, name)
    bytes += await bytesOf(path)
    if (bytes > bytesMax) await rm(path, { recursive: true, force: true })
  }
}

async function newestFirst(folder: string): Promise<readonly string[]> {
  const records = (await readdir(folder)).flatMap((name) => {
    const [, step, attempt = '1'] = RECORD.exec(name) ?? []
    return step === undefined ? [] : [{ name, step: Number(step), attempt: Number(attempt) }]
  })
  return records.sort((a, b) => b.step - a.step || b.attempt - a.attempt).map(({ name }) => name)
}

async function bytesOf(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => [])
  const sizes = await Promise.all(entries.filter((entry) => entry.isFile()).map((entry) => sizeOf(join(entry.parentPath, entry.name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const sizeOf = (path: string): Promise<number> =>
  lstat(path).then(
    ({ size }) => size,
    () => 0,
  )
