/** Copies an agent's workspace without reading outside it or blocking. */
import { constants, type Dirent } from 'node:fs'
import { chmod, copyFile, lchown, lstat, mkdir, opendir, readdir, readlink, realpath, symlink } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { hasCode } from '../../../src/kit/index.ts'

/** The default limits of a workspace. */
const LIMITS = { bytesMax: 512 * 1024 * 1024, entriesMax: 20_000 }

/** `to` must exist and be empty. False when the workspace is over the limits. */
export async function copyWorkspace(from: string, to: string, { bytesMax, entriesMax } = LIMITS): Promise<boolean> {
  const folders = ['']
  let entries = 0
  let bytes = 0
  for (const folder of folders) {
    for await (const entry of entriesOf(join(from, folder))) {
      const path = join(folder, entry.name)
      entries += 1
      bytes += entry.isFile() ? await sizeOf(join(from, path)) : 0
      if (entries > entriesMax || bytes > bytesMax) return false
      if (entry.isDirectory()) folders.push(path)
      await unlessUnreadable(copyEntry(entry, from, to, path))
    }
  }
  return true
}

/** An unreadable folder is copied as an empty one. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const opened = await unlessUnreadable(opendir(folder))
  if (opened !== null) yield* opened
}

const sizeOf = async (path: string): Promise<number> => (await unlessUnreadable(lstat(path)))?.size ?? 0

/** Devices, pipes and sockets are left out: reading one may never end. */
async function copyEntry(entry: Dirent, from: string, to: string, path: string): Promise<void> {
  const target = join(to, path)
  if (entry.isDirectory()) await mkdir(target)
  if (entry.isFile()) await copyPlain(join(from, path), target)
  if (entry.isSymbolicLink()) await copyLink(from, path, target)
}

async function copyPlain(source: string, target: string): Promise<void> {
  const { mode, uid } = await lstat(source)
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await own(target, uid)
  // Keeps the executable bits, drops setuid and the rest.
  await chmod(target, 0o600 | (mode & 0o111))
}

/** Where the service is root, the files belong to the sandbox's user; the verifier must be able to read them. */
async function own(target: string, uid: number): Promise<void> {
  const [user, group] = [process.geteuid?.() ?? uid, process.getegid?.() ?? 0]
  if (user !== uid) await lchown(target, user, group)
}

/** Makes the copy readable for the verifier's user; the folder around it is closed to others. */
export async function openCopy(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openCopy(path)
    if (entry.isFile()) await chmod(path, 0o644 | ((await lstat(path)).mode & 0o111))
  }
}

/** Copies a link itself, and only if it points inside the workspace. */
async function copyLink(from: string, path: string, target: string): Promise<void> {
  const destination = await readlink(join(from, path))
  const [root, reached] = await Promise.all([realpath(from), realpath(join(from, path))])
  if (!isAbsolute(destination) && `${reached}${sep}`.startsWith(`${root}${sep}`)) await symlink(destination, target)
}

/** Errors that an agent can cause; others are the machine's and are thrown. */
const UNREADABLE = ['EACCES', 'EPERM', 'ENOENT', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR', 'ENXIO']

async function unlessUnreadable<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (hasCode(error, ...UNREADABLE)) return null
    throw error
  }
}
