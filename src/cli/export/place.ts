/** Where an export goes: a bucket, or a folder of this machine. */
import { hash } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { loadPlugin, type LoadedConfig } from '../../config/index.ts'
import { isBucket, unavailable, type ObjectFolder } from '../../contract/index.ts'
import { codeOf, isMissing, mkdirp, newId, writeAtomicFile } from '../../kit/index.ts'

/** Records hold what people wrote: they are their owner's alone. */
const MODE = 0o600

export async function openPlace(to: string, { config, proxies, baseDirectory }: LoadedConfig): Promise<ObjectFolder> {
  if (!isBucket(to)) return folderAt(resolve(to))
  const plugin = await loadPlugin('contents', 's3', builtins, baseDirectory)
  if (plugin.objects === undefined) throw unavailable('no_objects', 'the plug-in for buckets keeps releases only; export to a folder')
  return plugin.objects({ repository: to, s3: { ...config.storage.s3 }, ...(proxies !== null && { proxy: { ...proxies } }) })
}

function folderAt(folder: string): ObjectFolder {
  const get: ObjectFolder['get'] = async (name) => {
    try {
      const bytes = await readFile(join(folder, name))
      return { bytes, tag: hash('sha256', bytes) }
    } catch (error) {
      if (isMissing(error)) return null
      throw unwritable(folder, error)
    }
  }
  return {
    get,
    create: (name, bytes) =>
      createFile(join(folder, name), bytes).catch((error: unknown) => {
        throw unwritable(folder, error)
      }),
    async replace(name, bytes, tag) {
      if ((await get(name))?.tag !== tag) return false
      await writeAtomicFile(join(folder, name), Buffer.from(bytes), MODE).catch((error: unknown) => {
        throw unwritable(folder, error)
      })
      return true
    },
    close: async () => undefined,
  }
}

/** Whole under its name, or not there. */
async function createFile(path: string, bytes: Uint8Array): Promise<boolean> {
  await mkdirp(dirname(path), { mode: 0o700 })
  const partial = `${path}.${newId()}.partial`
  try {
    const file = await open(partial, 'wx', MODE)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(partial, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(partial, { force: true })
  }
}

const unwritable = (folder: string, error: unknown): Error =>
  unavailable('export_failed', `${folder} cannot be written (${codeOf(error) ?? String(error)}): fix that, then run this again`, {
    cause: error,
  })
