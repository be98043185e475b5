/**
 * Which Node a command runs on: this one when it is new enough, else the one pinned beside the package, in a second process that ends with the
 * first. Plain enough for any Node from 16 on, since it is what an old one meets first.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

/** Set for a process that was launched from here. */
const LAUNCHED = 'SVC_LAUNCHED'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const PARENT_LOOK_MILLISECONDS = 500
const EXIT_UNUSABLE = 2

/** Runs it here, or the same command once more on the pinned Node. */
export async function onNode(name, least, run) {
  const launched = process.env[LAUNCHED]
  delete process.env[LAUNCHED]
  if (isNewEnough(least)) {
    if (launched === undefined) onParentGone(isNpx, stopItself)
    else endWithLauncher()
    return run()
  }
  const pinned = launched === undefined ? findPinnedNode() : null
  if (pinned === null) return fail(name, `Node ${process.versions.node} is too old; install Node ${least} or newer`)
  try {
    process.exitCode = await launch(pinned, process.argv.slice(1), { tied: true, ofNpm: isNpx })
  } catch (error) {
    fail(name, error.message)
  }
  return undefined
}

export function fail(name, message) {
  process.stderr.write(`${name}: ${message}\n`)
  process.exitCode = EXIT_UNUSABLE
}

// ── which Node ───────────────────────────────────────────────────────────────────────────────────

export function isNewEnough(least, version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = least.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

/** The pinned Node in a node_modules of this folder or of one above it, or null. */
export function findPinnedNode(start = dirname(fileURLToPath(import.meta.url))) {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = start; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    const places = [join(modules, `node-${platform}-${process.arch}`, 'bin', name), join(modules, '.bin', name)]
    const found = places.find((place) => existsSync(place))
    if (found !== undefined) return found
    if (dirname(folder) === folder) return null
  }
}

// ── the first process ────────────────────────────────────────────────────────────────────────────

/**
 * Answers the exit code of the program; one that a signal ended ends this process by the same. Signals are passed on. `tied` is for a program
 * that calls `onNode`: it has a channel to this process, whose end means that this one was killed. `ofNpm` says whether npm is the parent,
 * which dies of a signal without passing it on.
 */
export function launch(program, args, { tied = false, ofNpm = () => false, ...options } = {}) {
  const stdio = tied ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit'
  const env = { ...process.env, ...options.env, ...(tied && { [LAUNCHED]: '1' }) }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio, ...options, env })
    const hasTerminal = [0, 1, 2].some((stream) => isatty(stream))
    const pass = (signal) => {
      // It ends npm too, whatever nohup asked for; the program alone decides whether it goes on.
      if (signal === 'SIGHUP' && !hasTerminal) unwatch()
      child.kill(signal)
    }
    for (const signal of SIGNALS) process.on(signal, pass)
    const unwatch = onParentGone(ofNpm, () => pass('SIGTERM'))
    child.on('error', (error) => reject(new Error(`${program} does not start: ${error.message}`)))
    child.on('exit', (code, signal) => {
      unwatch()
      for (const name of SIGNALS) process.off(name, pass)
      if (signal === null) resolve(code)
      else process.kill(process.pid, signal)
    })
  })
}

/** Calls back once when the parent, should it be of that kind, is there no more. Answers how to stop looking. */
function onParentGone(isOfKind, stop) {
  if (!isOfKind()) return () => undefined
  const [parent, above] = starters()
  const isThere = () => process.ppid === parent && (above === undefined || parentOf(parent) === above)
  let stopping
  const watch = setInterval(() => {
    if (isThere()) return
    clearInterval(watch)
    // Not before a signal that came with its end is heard.
    stopping = setImmediate(() => stop())
  }, PARENT_LOOK_MILLISECONDS)
  watch.unref()
  return () => {
    clearInterval(watch)
    clearImmediate(stopping)
  }
}

/** The parent; where that is a shell for this one command, also whose shell it is: such a shell does not end with the process that started it. */
function starters() {
  const [, option] = wordsOf(process.ppid)
  const above = option === '-c' ? parentOf(process.ppid) : null
  return above === null ? [process.ppid] : [process.ppid, above]
}

/** Null where the system does not tell. */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

function wordsOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
  } catch {
    return []
  }
}

/** Only while npx itself is there: what was put into the background by a script of its own goes on without it. */
function isNpx() {
  const [first = ''] = wordsOf(starters().pop())
  return process.env.npm_lifecycle_event === 'npx' && /^npm exec|^npx/.test(first)
}

// ── the second process ───────────────────────────────────────────────────────────────────────────

const stopItself = () => process.kill(process.pid, 'SIGTERM')

/** Stops as it would be asked to, so that a service stops in order. The channel keeps no process from ending. */
function endWithLauncher() {
  // Somebody set the variable by hand.
  if (process.channel === undefined || process.channel === null) return
  process.once('disconnect', stopItself)
  process.channel.unref()
}
