/** Temporary folders and disks, removed after the test. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

export function temporaryFolder(): string {
  const folder = newFolder()
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** For all tests of a file; removed after the last. */
export function sharedFolder(): string {
  const folder = newFolder()
  afterAll(() => removeFolder(folder))
  return folder
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'svc-test-'))
const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** A disk in memory with these mount options, such as `size=8m`. */
export function mountDisk(options: string): string {
  const folder = temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').join(' ') : String(error)
    throw new Error(
      `this test needs a disk of its own and may not mount one (${reason}): run it as root, or in a container with --cap-add SYS_ADMIN`,
      { cause: error },
    )
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]))
  return folder
}

/** Fills the folder's disk completely; returns how to free it. */
export function fillDisk(folder: string): () => void {
  const filler = join(folder, 'filler')
  for (const bytes of [65_536, 4096]) {
    const block = Buffer.alloc(bytes)
    for (let hasRoom = true; hasRoom;) hasRoom = tryAppend(filler, block)
  }
  return () => rmSync(filler)
}

function tryAppend(file: string, block: Buffer): boolean {
  try {
    appendFileSync(file, block)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false
    throw error
  }
}
