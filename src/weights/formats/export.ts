/** Makes an adapter folder of the archive that a trainer saved: complete under its name, or absent. */
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { ADAPTER_CONFIG_FILE, isRefusal, unavailable, type ModelShape } from '../../contract/index.ts'
import { codeOf, hasCode, makeFolder, mkdirp, newId, sync } from '../../kit/index.ts'
import { ADAPTER_GGUF, adapterGguf } from './adapter-gguf.ts'
import { ADAPTER_BYTES_MAX, ADAPTER_WEIGHTS, listTargets, readAdapter, type PeftAdapter } from './peft.ts'
import { checkAdapter, checkBase, writeProvenance, type Origin, type Provenance } from './provenance.ts'
import { letGo, unpackTar, type TarArchive } from './tar.ts'

export interface ExportOrder {
  /** A stream is destroyed at the end, unread when the export exists already. */
  readonly archive: TarArchive
  readonly directory: string
  /** Null: no GGUF is needed. */
  readonly shape: ModelShape | null
  readonly provenance: Origin
}
interface Checked {
  readonly adapter: PeftAdapter
  readonly provenance: Provenance
}

const ARCHIVE_LIMITS = { filesMax: 64, bytesMax: ADAPTER_BYTES_MAX }
const DISK_ERRORS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'EPERM', 'EFBIG'])

export async function buildExport(order: ExportOrder): Promise<void> {
  const { archive, directory } = order
  // It may break off before it is read; then reading it fails.
  if (archive instanceof Readable) archive.on('error', () => undefined)
  try {
    if ((await findExport(order)) === null) await build(order)
    // Also for an existing one: its writer may have been killed before this.
    await sync(dirname(directory))
    await removeLeftovers(directory)
  } catch (error) {
    throw diskRefusal(error)
  } finally {
    letGo(archive)
  }
}

/** Null when it is not there, or not whole. */
export async function findExport({
  directory,
  shape,
  provenance: origin,
}: Omit<ExportOrder, 'archive' | 'provenance'> & {
  readonly provenance: Pick<Origin, 'job' | 'base_model' | 'base_digest'>
}): Promise<Checked | null> {
  try {
    const { adapter, provenance } = await checkAdapter(directory, { name: origin.base_model, digest: origin.base_digest })
    const isIt = provenance?.job === origin.job && (shape === null || provenance.files[ADAPTER_GGUF] !== undefined)
    return isIt ? { adapter, provenance } : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

async function build(order: ExportOrder): Promise<void> {
  const beside = `${besidePrefix(order.directory)}${newId()}`
  try {
    await makeFolder(dirname(order.directory))
    await fill(beside, order)
    await land(beside, order)
  } catch (error) {
    await rm(beside, { recursive: true, force: true }).catch(() => undefined)
    // Another call may have been faster, and have removed this folder.
    if ((await findExport(order)) === null) throw error
  }
}

const besidePrefix = (directory: string): string => `${directory}.tmp-`

async function fill(beside: string, { archive, shape, provenance }: ExportOrder): Promise<void> {
  const unpacked = join(beside, 'unpacked')
  await mkdirp(unpacked)
  await unpackTar(archive, unpacked, ARCHIVE_LIMITS)
  const adapter = await readAdapter(unpacked)
  checkBase(adapter, provenance.base_model)
  await listTargets(unpacked, adapter)
  // Other files of the archive are no part of the adapter.
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
    // The existing folder is the export of a faster call, or damaged; a damaged one is moved away.
    if (!isTaken(error) || (await findExport(order)) !== null) throw error
    await rename(directory, `${besidePrefix(directory)}${newId()}`)
    await rename(beside, directory)
  }
}

const isTaken = (error: unknown): boolean => hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')

/** Of killed calls and damaged exports. A call that is still running then finds the export. */
async function removeLeftovers(directory: string): Promise<void> {
  const folder = dirname(directory)
  const leftovers = (await readdir(folder)).filter((name) => name.startsWith(basename(besidePrefix(directory))))
  for (const name of leftovers) await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined)
}

function diskRefusal(error: unknown): unknown {
  const code = codeOf(error)
  if (!DISK_ERRORS.has(code)) return error
  const reason = code === 'ENOSPC' || code === 'EDQUOT' ? 'is full: free some space there' : 'cannot be written: fix that'
  return unavailable('export_failed', `the disk that adapters are exported to ${reason} (${String(code)}); the step is tried again`, {
    cause: error,
  })
}
