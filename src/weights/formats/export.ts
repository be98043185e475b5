/** What a trainer saved becomes an adapter folder: all of it under its name, or nothing. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { ADAPTER_CONFIG_FILE, isRefusal, unavailable, type ModelShape } from '../../contract/index.ts'
import { codeOf, hasCode, makeFolder, newId, sync } from '../../kit/index.ts'
import { ADAPTER_GGUF, adapterGguf } from './adapter-gguf.ts'
import { sha256OfFile } from './files.ts'
import { ADAPTER_BYTES_MAX, ADAPTER_WEIGHTS, readAdapter } from './peft.ts'
import { checkAdapter, checkBase, writeProvenance, type Origin } from './provenance.ts'
import { letGo, unpackTar, type TarArchive } from './tar.ts'

export interface ExportOrder {
  /** A stream is destroyed in the end, unread when the export is there already. */
  readonly archive: TarArchive
  readonly directory: string
  /** Null: nobody wants a GGUF. */
  readonly shape: ModelShape | null
  readonly provenance: Origin
}
export interface Exported {
  readonly directory: string
  /** Of all its files: equal adapters from equal jobs have equal ones. */
  readonly digest: string
}

const ARCHIVE_LIMITS = { filesMax: 64, bytesMax: ADAPTER_BYTES_MAX }
const DISK_ERRORS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'EPERM', 'EFBIG'])

export async function buildExport(order: ExportOrder): Promise<Exported> {
  const { archive, directory } = order
  // It may break off before anybody reads it; whoever reads it later is told.
  if (archive instanceof Readable) archive.on('error', () => undefined)
  try {
    const digest = (await finished(order)) ?? (await build(order))
    // Also for one that was there: who made it may have been killed before this.
    await sync(dirname(directory))
    await removeLeftovers(directory)
    return { directory, digest }
  } catch (error) {
    throw diskRefusal(error)
  } finally {
    letGo(archive)
  }
}

/** Its digest when it is there and whole; null for anything else under its name. */
async function finished({ directory, shape, provenance: origin }: ExportOrder): Promise<string | null> {
  try {
    const { provenance } = await checkAdapter(directory, { name: origin.base_model, digest: origin.base_digest })
    const isIt = provenance?.job === origin.job && (shape === null || provenance.files[ADAPTER_GGUF] !== undefined)
    return isIt ? await digestOf(directory) : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

async function build(order: ExportOrder): Promise<string> {
  const beside = `${besidePrefix(order.directory)}${newId()}`
  try {
    await makeFolder(dirname(order.directory))
    await fill(beside, order)
    const digest = await digestOf(beside)
    await land(beside, order)
    return digest
  } catch (error) {
    await rm(beside, { recursive: true, force: true }).catch(() => undefined)
    // Another call may have been faster, and have cleared this one's folder away.
    const digest = await finished(order)
    if (digest === null) throw error
    return digest
  }
}

const besidePrefix = (directory: string): string => `${directory}.tmp-`

async function fill(beside: string, { archive, shape, provenance }: ExportOrder): Promise<void> {
  const unpacked = join(beside, 'unpacked')
  await mkdir(unpacked, { recursive: true })
  await unpackTar(archive, unpacked, ARCHIVE_LIMITS)
  const adapter = await readAdapter(unpacked)
  checkBase(adapter, provenance.base_model)
  // Whatever else a trainer packs is no part of the adapter.
  for (const name of [ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS]) await rename(join(unpacked, name), join(beside, name))
  await rm(unpacked, { recursive: true })
  if (shape !== null) await writeFile(join(beside, ADAPTER_GGUF), adapterGguf(adapter, shape))
  await writeProvenance(beside, provenance)
  for (const name of await readdir(beside)) await sync(join(beside, name))
  await sync(beside)
}

async function land(beside: string, order: ExportOrder): Promise<void> {
  const { directory } = order
  try {
    await rename(beside, directory)
  } catch (error) {
    // What is there is the export of a faster call, or damaged; then it makes way.
    if (!isTaken(error) || (await finished(order)) !== null) throw error
    await rename(directory, `${besidePrefix(directory)}${newId()}`)
    await rename(beside, directory)
  }
}

const isTaken = (error: unknown): boolean => hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')

/** Of calls that were killed, and of what made way. A call that is still at it then finds the export there. */
async function removeLeftovers(directory: string): Promise<void> {
  const folder = dirname(directory)
  const leftovers = (await readdir(folder)).filter((name) => name.startsWith(basename(besidePrefix(directory))))
  for (const name of leftovers) await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined)
}

async function digestOf(directory: string): Promise<string> {
  const digest = createHash('sha256')
  for (const name of (await readdir(directory)).sort()) digest.update(`${await sha256OfFile(join(directory, name))}  ${name}\n`)
  return digest.digest('hex')
}

function diskRefusal(error: unknown): unknown {
  const code = codeOf(error)
  if (!DISK_ERRORS.has(code)) return error
  const reason = code === 'ENOSPC' || code === 'EDQUOT' ? 'is full: free some space there' : 'cannot be written: mend that'
  return unavailable('export_failed', `the disk that adapters are exported to ${reason} (${String(code)}); the step is tried again`, {
    cause: error,
  })
}
