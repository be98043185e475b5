/** What holds episodes apart on this machine, line by line. */
import { existsSync } from 'node:fs'
import { isRefusal, type ExecutorFact } from '../../../src/contract/index.ts'
import { chooseUser, findBubblewrap, PRLIMIT } from './bubblewrap.ts'
import { ALLOWED } from './calls.generated.ts'
import { groupMaker } from './cgroup.ts'
import { seccompFilter } from './seccomp.ts'

/** `problem`: what the self-test found, or null. */
export async function factsHere(problem: string | null): Promise<readonly ExecutorFact[]> {
  return [await bubblewrap(), user(problem), filter(), group(), limits(), folders(problem)]
}

const ok = (name: string, found: string): ExecutorFact => ({ name, holds: true, found })
const no = (name: string, found: string, fix: string): ExecutorFact => ({ name, holds: false, found, fix })

async function bubblewrap(): Promise<ExecutorFact> {
  try {
    return ok('bubblewrap', (await findBubblewrap()).path)
  } catch (error) {
    return no('bubblewrap', isRefusal(error) ? 'it is not installed' : 'it does not start', 'apt-get install bubblewrap')
  }
}

function user(problem: string | null): ExecutorFact {
  if (chooseUser([]) !== null) return ok('users', 'each episode has a user of its own, without rights')
  if (problem === null) return ok('users', 'each episode is in a user namespace, without rights')
  return no('users', 'no episode gets a user namespace', 'allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1')
}

function filter(): ExecutorFact {
  if (seccompFilter() === null) return no('seccomp', `no list of system calls is known for ${process.arch}`, 'use x64 or arm64')
  return ok('seccomp', `${Object.keys(ALLOWED).length} system calls are allowed, some more with known arguments, and no other`)
}

function group(): ExecutorFact {
  const how = groupMaker()
  const where = how?.kind === 'scope' ? "a scope of the user's systemd" : `a group in ${how?.path ?? ''}`
  if (how !== null) return ok('cgroup', `the kernel limits memory, processes and processor time of each episode, in ${where}`)
  const found = 'no cgroup of version 2 can be made, so memory and processes are measured ten times a second and a little late'
  return no(
    'cgroup',
    found,
    'mount cgroup2 with the controllers memory and pids, and run the service as root, by systemd with Delegate=yes, or in a session of systemd (loginctl enable-linger)',
  )
}

function limits(): ExecutorFact {
  if (existsSync(PRLIMIT)) return ok('rlimits', 'open files, sizes of files, core files and processes are limited')
  return no('rlimits', 'processes are not limited, only open files, sizes of files and core files', 'apt-get install util-linux')
}

function folders(problem: string | null): ExecutorFact {
  if (problem !== null) return no('folders', 'not tested, since no sandbox works', 'see the line of the sandbox')
  return ok('folders', 'only programs of the system and the agent are shown, and no folder of this deployment')
}
