/**
 * Writes the list of system calls that the sandbox allows: those that real agents made in it, and those that their libraries make on other kernels.
 *
 *   strace -f -qq -o TRACE node_modules/.bin/vitest run --config test/agents/vitest.config.ts test/agents/episodes.test.ts
 *   node scripts/system-calls.ts TRACE…
 *
 * Without a trace the agents' part stays as it is. The numbers come from the kernel's own headers (Debian: linux-libc-dev).
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALLOWED } from '../plugins/executors/sandbox/calls.generated.ts'

const TARGET = join(import.meta.dirname, '../plugins/executors/sandbox/calls.generated.ts')
const HEADERS = { x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h', arm64: '/usr/include/asm-generic/unistd.h' }

/** What glibc, musl, V8 and ordinary programs call, on some kernel or on the other architecture. */
const FURTHER = `
  read write open close stat fstat lstat newfstatat statx poll ppoll ppoll_time64 select pselect6 lseek mmap mprotect munmap brk mremap msync
  mincore madvise mlock mlock2 munlock mlockall munlockall pkey_alloc pkey_free pkey_mprotect mseal map_shadow_stack membarrier
  rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend sigaltstack
  restart_syscall signalfd signalfd4 pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 sendfile splice tee copy_file_range
  access faccessat faccessat2 pipe pipe2 dup dup2 dup3 close_range sched_yield sched_getaffinity sched_setaffinity sched_getparam
  sched_getscheduler sched_setscheduler sched_getattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval getcpu
  getpriority setpriority ioprio_get pause nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times getitimer setitimer
  alarm timer_create timer_settime timer_gettime timer_getoverrun timer_delete timerfd_create timerfd_settime timerfd_gettime
  getpid gettid getppid getpgid getpgrp setpgid getsid setsid getuid geteuid getgid getegid getresuid getresgid getgroups
  setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capget capset
  connect accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown bind listen getsockname getpeername getsockopt
  fork vfork execve execveat exit exit_group wait4 waitid kill tkill tgkill pidfd_open pidfd_send_signal uname sysinfo getrusage
  getrlimit setrlimit prlimit64 fcntl fsync fdatasync sync_file_range truncate ftruncate fallocate fadvise64 readahead
  getdents getdents64 getcwd chdir fchdir rename renameat renameat2 mkdir mkdirat rmdir creat openat openat2 link linkat unlink unlinkat
  symlink symlinkat readlink readlinkat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat umask utime utimes utimensat futimesat
  statfs fstatfs setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr
  fremovexattr arch_prctl set_tid_address set_robust_list get_robust_list rseq futex futex_waitv futex_wake futex_wait futex_requeue
  epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 inotify_init inotify_init1
  inotify_add_watch inotify_rm_watch getrandom seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
`

/** Newer than some headers; the same on both. */
const NEWER = { fchmodat2: 452, map_shadow_stack: 453, futex_wake: 454, futex_wait: 455, futex_requeue: 456, mseal: 462 }

/** These are decided by their arguments, or never allowed: see seccomp.ts. A trace may have them. */
const DECIDED = new Set(
  `clone clone3 socket socketpair setsockopt ioctl prctl personality mknod mknodat flock sync syncfs memfd_create io_uring_setup
  io_uring_enter io_uring_register`.split(/\s+/),
)

function numbersIn(path: string): ReadonlyMap<string, number> {
  const found = [...readFileSync(path, 'utf8').matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)]
  // The generic header has another name for it.
  const named = found.map(([, name = '', number]) => [name === 'fstatat' ? 'newfstatat' : name, Number(number)] as const)
  return new Map([...named, ...Object.entries(NEWER)])
}

/** Names as the traces have them, of processes in a sandbox: from the program that bubblewrap starts there on. */
function callsIn(trace: string): ReadonlySet<string> {
  const names = new Set<string>()
  const started = new Set<string>()
  const lines = trace.split('\n').map((line) => /^(\d+)\s+(.*)$/.exec(line) ?? ['', '', ''])
  const starters = new Set(lines.flatMap(([, pid = '', call = '']) => (isStart(call) ? [pid] : [])))
  const outside = outsideOf(lines)
  for (const [, pid = '', call = ''] of lines) {
    if (isStart(call)) started.add(pid)
    if (outside.has(pid) || (starters.has(pid) && !started.has(pid))) continue
    const name = nameOf(call)
    // What the filter refused, a program did without.
    if (name !== '' && !/ E(?:PERM|NOSYS) /.test(call)) names.add(name)
  }
  return names
}

const isStart = (call: string): boolean => /^execve\("[^"]*\/setpriv".*inner\.mjs/.test(call)
const nameOf = (call: string): string => /^(?:<\.\.\. )?(\w+)(?:\(| resumed)/.exec(call)?.[1] ?? ''

/** Processes in a sandbox have numbers of its own, so they are those that no process was told when it started them. */
function outsideOf(lines: readonly (readonly string[])[]): ReadonlySet<string> {
  const told = lines.flatMap(([, , call = '']) => (/^(?:clone3?|v?fork)$/.test(nameOf(call)) ? [/= (\d+)$/.exec(call)?.[1] ?? ''] : []))
  return new Set([lines[0]?.[1] ?? '', ...told])
}

const traced = process.argv.slice(2).flatMap((path) => [...callsIn(readFileSync(path, 'utf8'))])
const before = Object.entries(ALLOWED).flatMap(([name, { agents }]) => (agents ? [name] : []))
const agents = new Set((traced.length > 0 ? traced : before).filter((name) => !DECIDED.has(name)))
const x64 = numbersIn(HEADERS.x64)
const arm64 = numbersIn(HEADERS.arm64)
const rows = [...new Set([...agents, ...FURTHER.trim().split(/\s+/)])].sort().flatMap((name) => {
  const numbers = { x64: x64.get(name) ?? null, arm64: arm64.get(name) ?? null }
  if (numbers.x64 === null && numbers.arm64 === null) return []
  return [`  ${name}: { x64: ${numbers.x64}, arm64: ${numbers.arm64}, agents: ${agents.has(name)} },`]
})
writeFileSync(
  TARGET,
  `/** Made by scripts/system-calls.ts. The system calls that are always allowed, by their numbers; \`agents\`: real agents were seen making them. */
export const ALLOWED: Readonly<
  Record<string, { readonly x64: number | null; readonly arm64: number | null; readonly agents: boolean }>
> = {
${rows.join('\n')}
}
`,
)
process.stdout.write(`${rows.length} calls, ${agents.size} of them seen\n`)
