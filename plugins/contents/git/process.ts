/** The git command as this plug-in needs it: it writes durably, and talks to remotes as the owner does. */
import { unsupported } from '../../../src/contract/index.ts'
import { runGit } from '../../../src/git/index.ts'

/** How long one git process may wait for a ref that another one is writing. */
export const REF_LOCK_WAIT_MILLIS = 5000
const GIT_TIMEOUT_SECONDS = 60
/** The first git that syncs refs: `core.fsync` exists since then. */
const VERSION_MIN = { major: 2, minor: 36 }

/** On the command line as well as in the repository's own settings: a foreign repository is written as durably. */
const SETTINGS = [
  'core.fsync=all',
  'core.fsyncMethod=batch',
  'gc.auto=0',
  `core.filesRefLockTimeout=${REF_LOCK_WAIT_MILLIS}`,
  `core.packedRefsTimeout=${REF_LOCK_WAIT_MILLIS}`,
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
]
/** What fetched objects must be before they are kept, how they are kept (readable without git), and when a silent line is given up. */
const NETWORK_SETTINGS = ['fetch.fsckObjects=true', 'fetch.unpackLimit=1000000000', 'http.lowSpeedLimit=1', 'http.lowSpeedTime=30']
/** More than any content that is kept: a small pack may hold an object of any size. */
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024
/** How git proves who it is to a remote, by itself, ssh or a credential helper: the owner's choice, so these pass. */
const CREDENTIALS =
  /^(?:GIT_SSH_COMMAND|GIT_SSH|GIT_ASKPASS|SSH_\w+|DISPLAY|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|GNUPGHOME|KRB5\w+|GH_TOKEN|GITHUB_TOKEN|GITLAB_TOKEN)$/
/** Any of them set means that the owner decided how ssh is called. */
const SSH_VARIABLES = ['GIT_SSH_COMMAND', 'GIT_SSH', 'SSH_ASKPASS']

const OWNED = { settings: SETTINGS, asUser: true, timeoutSeconds: GIT_TIMEOUT_SECONDS, outputBytesMax: OUTPUT_BYTES_MAX }

/** What git printed. */
export const git = (args: readonly string[], input = ''): Promise<Buffer> => runGit(args, { ...OWNED, input })

/** A command that talks to a remote. It cannot ask a person for a password: without one it fails. */
export async function gitOverNetwork(args: readonly string[], timeoutSeconds: number): Promise<Buffer> {
  const environment: Record<string, string> = (await isSshChosen()) ? {} : { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' }
  const settings = [...SETTINGS, ...NETWORK_SETTINGS]
  return runGit(args, { ...OWNED, settings, overNetwork: true, passes: CREDENTIALS, environment, timeoutSeconds })
}

/** The variable would win over `core.sshCommand` of the owner's own git settings, so those are asked first. */
async function isSshChosen(): Promise<boolean> {
  if (SSH_VARIABLES.some((name) => process.env[name] !== undefined)) return true
  const printed = await git(['config', '--global', '--get', 'core.sshCommand']).catch(() => '')
  return printed.length > 0
}

export async function requireGit(): Promise<void> {
  checkVersion((await git(['--version'])).toString())
}

export function checkVersion(printed: string): void {
  const [, major, minor] = /(?<!\d)(\d+)\.(\d+)/.exec(printed) ?? []
  const found = { major: Number(major ?? 0), minor: Number(minor ?? 0) }
  const enough = found.major > VERSION_MIN.major || (found.major === VERSION_MIN.major && found.minor >= VERSION_MIN.minor)
  if (enough) return
  const wanted = `${VERSION_MIN.major}.${VERSION_MIN.minor}`
  throw unsupported('git_too_old', `git ${found.major}.${found.minor} does not sync refs to the disk; install git ${wanted} or newer`)
}
