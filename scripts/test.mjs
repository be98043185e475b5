/**
 * `npm test`: from a fresh clone to a test run. Arguments after `--` go to vitest. Without a file, a project or a configuration among them it
 * runs the tests that need nothing of the machine beside Node, npm and git.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedNode, prepare, ROOT, runForCode, runScript } from './lib.mjs'

const MEMORY_DISK = '/dev/shm'
const MEMORY_DISK_BYTES_LEAST = 2 ** 31

/** A configuration that Node reads itself is not compiled into the checkout, which may be read-only. */
const AS_FOUND = ['--configLoader=native']

const args = process.argv.slice(2)
const isChosen = args.some((arg) => !arg.startsWith('-') || /^--(project|config)\b/.test(arg))

runScript(async () => {
  await prepare()
  // Hundreds of services are started from the same sources: each after the first finds them compiled.
  process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules', '.cache', 'compiled')
  // What was just built: see test/built-threads.ts.
  process.env.TEST_THREADS ??= 'built'
  const words = [...(isChosen ? args : ['--project', 'pure', '--project', 'service', ...args]), ...report()]
  process.exitCode = await inMemory(() => runForCode(pinnedNode(), ['node_modules/vitest/vitest.mjs', 'run', ...AS_FOUND, ...words]))
})

/** Where a folder for reports is named, what a run found is left there as JSON; runs inside of tests leave none. */
function report() {
  const { TEST_REPORTS: folder } = process.env
  delete process.env.TEST_REPORTS
  return folder ? ['--reporter=default', '--reporter=json', `--outputFile.json=${join(folder, `${process.pid}.json`)}`] : []
}

/** Services sync every record: where memory serves as a disk, a sync costs nothing. */
async function inMemory(work) {
  const folder = memoryFolder()
  if (folder === null) return work()
  process.env.TMPDIR = folder
  try {
    return await work()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Null where there is no such disk, or it is small, or runs no programs. */
function memoryFolder() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK)
    if (bavail * bsize < MEMORY_DISK_BYTES_LEAST) return null
    const folder = mkdtempSync(join(MEMORY_DISK, 'svc-'))
    // Like any folder for temporary files: some tests run programs as another user.
    chmodSync(folder, 0o1777)
    writeFileSync(join(folder, 'probe'), '#!/bin/sh\n', { mode: 0o755 })
    if (spawnSync(join(folder, 'probe')).status === 0) return folder
    rmSync(folder, { recursive: true, force: true })
    return null
  } catch {
    return null
  }
}
