/** One process at a time: two that install or build at once would pull the packages out from under each other. Plain JavaScript for Node 18 and newer. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_AGAIN_MILLISECONDS = 250

/** `file` holds the id of the process that works. One that was killed leaves it behind, and is known by being gone. */
export async function alone(file, work, tellHolder) {
  if (!take(file)) {
    tellHolder(holderOf(file))
    do await sleep(LOOK_AGAIN_MILLISECONDS)
    while (!take(file))
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    // A full disk leaves an empty file, which would stay for ever.
    if (error.code === 'ENOSPC') rmSync(file, { force: true })
    if (error.code !== 'EEXIST') throw error
    if (isAlive(holderOf(file))) return false
    rmSync(file, { force: true })
    return take(file)
  }
}

/** Zero while it is being written: somebody is there. */
function holderOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || 0
  } catch {
    return 0
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}
