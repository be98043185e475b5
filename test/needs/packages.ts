/** Installs Debian packages in one call that waits for its turn and shows what it does. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Somebody else's installation may be a large one. */
const LOCK_SECONDS_MAX = 1800
const OPTIONS = ['-y', '--no-install-recommends', '-o', `DPkg::Lock::Timeout=${LOCK_SECONDS_MAX}`]
const LOOK_AGAIN_MILLISECONDS = 2000
/** Locks that apt itself does not wait for: those of its lists and its downloads. */
const LOCKED = /^E: Could not get lock/m
/** An installation that was killed half way, such as by Ctrl-C in an earlier run. */
const INTERRUPTED = /^E: dpkg was interrupted/m
const FINISH_INTERRUPTED = ['dpkg', '--configure', '-a']
const UNKNOWN = /^E: (?:Unable to locate package |Package ')([^\s']+)/gm

export interface Ended {
  readonly isDone: boolean
  /** On standard error. */
  readonly said: string
}

/** A stand-in for the package manager in tests. */
export interface Apt {
  readonly run: (command: readonly string[]) => Promise<Ended>
  readonly rest: () => Promise<void>
}

const shownApt: Apt = { run: runShown, rest: () => sleep(LOOK_AGAIN_MILLISECONDS) }

/** What kept some of them from being installed, as one line; null when all are. A machine that does not know one of them still gets the others. */
export async function installPackages(names: readonly string[], apt: Apt = shownApt): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'only root may install packages'
  const install = (packages: readonly string[]): Promise<Ended> => inTurn(apt, ['apt-get', 'install', ...OPTIONS, ...packages])
  const first = await install(names)
  if (first.isDone) return null
  if (INTERRUPTED.test(first.said)) await inTurn(apt, FINISH_INTERRUPTED)
  // A machine that was just made may not know yet which packages there are.
  await inTurn(apt, ['apt-get', 'update', ...OPTIONS])
  const { isDone, said } = await install(names)
  if (isDone) return null
  const unknown = new Set([...said.matchAll(UNKNOWN)].map(([, name = '']) => name))
  const known = names.filter((name) => !unknown.has(name))
  if (known.length > 0 && known.length < names.length) await install(known)
  return problemOf(said)
}

async function inTurn(apt: Apt, command: readonly string[]): Promise<Ended> {
  for (let left = (LOCK_SECONDS_MAX * 1000) / LOOK_AGAIN_MILLISECONDS; ; left -= 1) {
    const ended = await apt.run(command)
    if (ended.isDone || !LOCKED.test(ended.said) || left === 0) return ended
    await apt.rest()
  }
}

const problemOf = (said: string): string => /^E: (.*)$/m.exec(said)?.[1] ?? said.trim().split('\n').at(-1) ?? ''

/** Its words go to standard error as they come, in the language that they are read in here. */
function runShown([program = '', ...args]: readonly string[]): Promise<Ended> {
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' }
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.pipe(process.stderr, { end: false })
  child.stderr.on('data', (part: Buffer) => {
    said += part.toString()
    process.stderr.write(part)
  })
  child.on('error', (error) => resolve({ isDone: false, said: error.message }))
  child.on('close', (code) => resolve({ isDone: code === 0, said }))
  return promise
}
