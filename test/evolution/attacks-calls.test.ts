/** Every way into the kernel that agents do not need, tried one by one in one episode: each is refused or does not exist. */
import { beforeAll, describe, expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.ts'
import { sandboxWorld } from './sandbox-world.ts'

const at = sandboxWorld()

const EPERM = 1
const EINVAL = 22
const ENOSYS = 38
const ENOPROTOOPT = 92
const EAFNOSUPPORT = 97
const REFUSED = [EPERM]
const MISSING = [ENOSYS]

/** What the call would give, its numbers on x64 and arm64, its arguments in perl, and what it must fail with. */
type Row = readonly [title: string, call: readonly [x64: number, arm64: number | null], words: string, errnos: readonly number[]]

const CALLS: readonly Row[] = [
  ['a process with flags that no filter sees (clone3)', [435, 435], '$zeros, 88', MISSING],
  ['a ring of calls past the filter (io_uring_setup)', [425, 425], '8, $zeros', MISSING],
  ['calls through a ring (io_uring_enter)', [426, 426], '0, 0, 0, 0, 0', MISSING],
  ['buffers for a ring (io_uring_register)', [427, 427], '0, 0, 0, 0', MISSING],
  ['the older ring (io_setup)', [206, 0], '8, $zeros', MISSING],
  ['memory without a name (memfd_create)', [319, 279], '$x, 0', MISSING],
  ['memory that the kernel itself cannot read (memfd_secret)', [447, 447], '0', REFUSED],
  ['faults handled by a program (userfaultfd)', [323, 282], '1', REFUSED],
  ['a program in the kernel (bpf)', [321, 280], '5, $zeros, 120', REFUSED],
  ['counters of the processor (perf_event_open)', [298, 241], '$zeros, 0, -1, -1, 0', REFUSED],
  ['a key in a ring (keyctl)', [250, 219], '0, -3, 1', REFUSED],
  ['a new key (add_key)', [248, 217], '$x, $x, $x, 1, -3', REFUSED],
  ['a key by its name (request_key)', [249, 218], '$x, $x, 0, -3', REFUSED],
  ['tracing a parent (ptrace)', [101, 117], '16, getppid(), 0, 0', REFUSED],
  ['being traced (ptrace)', [101, 117], '0, 0, 0, 0', REFUSED],
  ['reading the memory of another (process_vm_readv)', [310, 270], 'getppid(), 0, 0, 0, 0, 0', REFUSED],
  ['writing the memory of another (process_vm_writev)', [311, 271], 'getppid(), 0, 0, 0, 0, 0', REFUSED],
  ['comparing kernel objects (kcmp)', [312, 272], '$$, $$, 0, 0, 0', REFUSED],
  ['a descriptor of another (pidfd_getfd)', [438, 438], '0, 0, 0', REFUSED],
  ['advice for the memory of another (process_madvise)', [440, 440], '0, 0, 0, 0, 0', REFUSED],
  ['reaping the memory of another (process_mrelease)', [448, 448], '0, 0', MISSING],
  ['a mount', [165, 40], '$none, $tmp, $tmpfs, 0, 0', REFUSED],
  ['an unmount', [166, 39], '$tmp, 2', REFUSED],
  ['another root (pivot_root)', [155, 41], '$tmp, $tmp', REFUSED],
  ['another root (chroot)', [161, 51], '$tmp', REFUSED],
  ['a copy of a mount (open_tree)', [428, 428], '-100, $tmp, 1', REFUSED],
  ['moving a mount (move_mount)', [429, 429], '-1, $x, -1, $x, 0', REFUSED],
  ['a new file system (fsopen)', [430, 430], '$tmpfs, 0', REFUSED],
  ['its settings (fsconfig)', [431, 431], '0, 0, 0, 0, 0', REFUSED],
  ['its mount (fsmount)', [432, 432], '0, 0, 0', REFUSED],
  ['a mounted file system (fspick)', [433, 433], '-100, $tmp, 0', REFUSED],
  ['other flags of a mount (mount_setattr)', [442, 442], '-100, $tmp, 0, 0, 0', REFUSED],
  ['the list of mounts (listmount)', [458, 458], '$zeros, $zeros, 1, 0', MISSING],
  ['the sources of a mount (statmount)', [457, 457], '$zeros, $zeros, 64, 0', MISSING],
  ['a file by its number on the disk (open_by_handle_at)', [304, 265], '-100, $zeros, 0', REFUSED],
  ['the number of a file on the disk (name_to_handle_at)', [303, 264], '-100, $tmp, $zeros, $zeros, 0', REFUSED],
  ['watching all files of a disk (fanotify_init)', [300, 262], '0, 0', REFUSED],
  ['quotas (quotactl)', [179, 60], '0, 0, 0, 0', REFUSED],
  ['swap (swapon)', [167, 224], '$tmp, 0', REFUSED],
  ['accounting into a file (acct)', [163, 89], '$tmp', REFUSED],
  ['a namespace (unshare)', [272, 97], '0x10000000', REFUSED],
  ['a namespace with a process (clone)', [56, 220], '0x10000000 | 17, 0, 0, 0, 0', REFUSED],
  ['a namespace of cgroups (clone)', [56, 220], '0x02000000 | 17, 0, 0, 0, 0', REFUSED],
  ['the namespace of another (setns)', [308, 268], '0, 0', REFUSED],
  ['a module (init_module)', [175, 105], '$x, 0, $empty', REFUSED],
  ['a module from a file (finit_module)', [313, 273], '0, $empty, 0', REFUSED],
  ['the end of a module (delete_module)', [176, 106], '$x, 0', REFUSED],
  ['another kernel (kexec_load)', [246, 104], '0, 0, 0, 0', REFUSED],
  ['a restart (reboot)', [169, 142], '0xfee1dead, 672274793, 0, 0', REFUSED],
  ['the log of the kernel (syslog)', [103, 116], '3, $zeros, 100', REFUSED],
  ['the clock (clock_settime)', [227, 112], '0, $zeros', REFUSED],
  ['the clock (settimeofday)', [164, 170], '$zeros, 0', REFUSED],
  ['the pace of the clock (adjtimex)', [159, 171], '$zeros', REFUSED],
  ['the name of the machine (sethostname)', [170, 161], '$x, 1', REFUSED],
  ['shared memory of System V (shmget)', [29, 194], '0, 1 << 20, 01600', REFUSED],
  ['semaphores of System V (semget)', [64, 190], '0, 1, 01600', MISSING],
  ['queues of System V (msgget)', [68, 186], '0, 01600', REFUSED],
  ['a queue with a name (mq_open)', [240, 180], '$x, 66, 0600, 0', MISSING],
  ['pages given to a pipe (vmsplice)', [278, 75], '1, $zeros, 0, 0', MISSING],
  ['moving pages of another (move_pages)', [279, 239], '0, 0, 0, 0, 0, 0', MISSING],
  ['memory of another node (mbind)', [237, 235], '0, 0, 0, 0, 0, 0', MISSING],
  ['a layout without chance (personality)', [135, 92], '0x0040000', REFUSED],
  ['a device (mknodat, block)', [259, 33], '-100, $disk, 0060666, (254 << 8)', REFUSED],
  ['a device (mknodat, character)', [259, 33], '-100, $disk, 0020666, (1 << 8) | 1', REFUSED],
  ['text typed into a terminal (TIOCSTI)', [16, 29], '1, 0x5412, $x', [25]],
  ['a paste into a console (TIOCLINUX)', [16, 29], '1, 0x541c, $x', [25]],
  ['a virtual machine (KVM_CREATE_VM)', [16, 29], '1, 0xae01, 0', [25]],
  ['encrypting a folder (FS_IOC_SET_ENCRYPTION_POLICY)', [16, 29], '1, 0x800c6613, $zeros', [25]],
  ['freezing a file system (FIFREEZE)', [16, 29], '1, 0xc0045877, $zeros', [25]],
  ['a tracer that may be anyone (PR_SET_PTRACER)', [157, 167], '0x59616d61, -1, 0, 0, 0', [EINVAL]],
  ['another layout of memory (PR_SET_MM)', [157, 167], '35, 1, 0, 0, 0', [EINVAL]],
  ['counters read by programs (PR_SET_TSC)', [157, 167], '26, 2, 0, 0, 0', [EINVAL]],
  ['the number of no call', [1023, 1023], '0', MISSING],
  ['the call of a later kernel', [470, 470], '0', MISSING],
]

/** Families, types and protocols of sockets. */
type SocketRow = readonly [title: string, family: number, type: number, protocol: number, errnos: readonly number[]]

const FAMILY = [EAFNOSUPPORT]
const SOCKETS: readonly SocketRow[] = [
  ['packets past the network (packet)', 17, 3, 0, FAMILY],
  ['the host of a virtual machine (vsock)', 40, 1, 0, FAMILY],
  ['the cryptography of the kernel (alg)', 38, 5, 0, FAMILY],
  ['bluetooth', 31, 3, 0, FAMILY],
  ['a bus of vehicles (can)', 29, 3, 1, FAMILY],
  ['packets without copies (xdp)', 44, 3, 0, FAMILY],
  ['a cluster (tipc)', 30, 1, 0, FAMILY],
  ['reliable datagrams (rds)', 21, 5, 0, FAMILY],
  ['amateur radio (ax25)', 3, 5, 0, FAMILY],
  ['x25', 9, 5, 0, FAMILY],
  ['appletalk', 5, 2, 0, FAMILY],
  ['logical links (llc)', 26, 1, 0, FAMILY],
  ['keys of IPsec (key)', 15, 3, 2, FAMILY],
  ['messages over TCP (kcm)', 41, 5, 0, FAMILY],
  ['remote memory (smc)', 43, 1, 0, FAMILY],
  ['phones (phonet)', 35, 2, 0, FAMILY],
  ['a family of no name', 46, 1, 0, FAMILY],
  ['sockets of all processes (netlink, sock_diag)', 16, 3, 4, REFUSED],
  ['the audit of the kernel (netlink)', 16, 3, 9, REFUSED],
  ['the firewall (netlink)', 16, 3, 12, REFUSED],
  ['events of devices (netlink)', 16, 3, 15, REFUSED],
  ['families made by modules (netlink, generic)', 16, 3, 16, REFUSED],
  ['raw packets (icmp)', 2, 3, 1, REFUSED],
  ['pings', 2, 2, 1, REFUSED],
  ['streams of another protocol (sctp)', 2, 1, 132, REFUSED],
  ['several paths (mptcp)', 2, 1, 262, REFUSED],
  ['partial checksums (udplite)', 2, 2, 136, REFUSED],
]

/** Options that would change what the kernel holds or runs for a socket, and how each must end: 0 is success without effect. */
const OPTIONS: readonly (readonly [title: string, level: number, option: number, errno: number])[] = [
  ['a program that reads packets (SO_ATTACH_FILTER)', 1, 26, EPERM],
  ['a loaded program (SO_ATTACH_BPF)', 1, 50, EPERM],
  ['a program that spreads packets (SO_ATTACH_REUSEPORT_CBPF)', 1, 51, EPERM],
  ['a module over TCP (TCP_ULP)', 6, 31, EPERM],
  ['a connection out of thin air (TCP_REPAIR)', 6, 19, EPERM],
  ['options of packets (SOL_PACKET)', 263, 5, ENOPROTOOPT],
  ['a larger buffer (SO_SNDBUF)', 1, 7, 0],
  ['a larger buffer (SO_RCVBUF)', 1, 8, 0],
]

const WORDS = 'my ($none, $tmp, $tmpfs, $empty, $zeros, $disk, $x) = ("none", "/tmp", "tmpfs", "", "\\0" x 256, "disk", "x");'
const numberOf = ([x64, arm64]: Row[1]): number => (process.arch === 'arm64' ? (arm64 ?? 1023) : x64)
const callOf = ([, call, words]: Row): string => `syscall(${numberOf(call)}, ${words})`
const socketOf = ([, family, type, protocol]: SocketRow): string => `socket(my $s, ${family}, ${type}, ${protocol}) ? 0 : -1`
const optionOf = ([, level, option]: (typeof OPTIONS)[number]): string =>
  `setsockopt($tcp, ${level}, ${option}, pack("l", 1 << 26)) ? 0 : -1`

await describeSandboxed('attacks on the kernel', () => {
  const said: string[] = []
  const works = [...CALLS.map(callOf), ...SOCKETS.map(socketOf), ...OPTIONS.map(optionOf)]

  beforeAll(async () => {
    const lines = works.map((work) => `$! = 0; print(((${work}) // -1) < 0 ? $!+0 : "done", " ");`)
    const { stdout, stderr } = await at.attempt(`${WORDS} socket(my $tcp, 2, 1, 0); ${lines.join('\n')}`, { program: 'perl' })
    said.push(...stdout.trim().split(' '))
    expect(said, stderr).toHaveLength(works.length)
  })

  describe('a system call', () => {
    it.each(CALLS.map((row, index) => ({ row, index, title: row[0] })))('$title', ({ row: [, , , errnos], index }) => {
      expect(errnos.map(String)).toContain(said[index])
    })
  })

  describe('a socket', () => {
    it.each(SOCKETS.map((row, index) => ({ row, index, title: row[0] })))('$title', ({ row, index }) => {
      expect(row[4].map(String)).toContain(said[CALLS.length + index])
    })
  })

  describe('an option of a socket', () => {
    it.each(OPTIONS.map((row, index) => ({ row, index, title: row[0] })))('$title', ({ row: [, , , errno], index }) => {
      expect(said[CALLS.length + SOCKETS.length + index]).toBe(errno === 0 ? 'done' : String(errno))
    })
  })

  it('a larger buffer is said to be there, and is not', async () => {
    const script = 'socket(my $s, 1, 2, 0); setsockopt($s, 1, 7, pack("l", 1 << 26)); print unpack("l", getsockopt($s, 1, 7))'
    expect(Number((await at.attempt(script, { program: 'perl' })).stdout)).toBeLessThanOrEqual(2 * 212_992)
  })

  it('calls of 32-bit programs end the program', async () => {
    if (process.arch !== 'x64') return
    // int 0x80 in a page of its own: mov eax, 20 (getpid); int 0x80; ret.
    const script = `my $page = syscall(9, 0, 4096, 7, 0x22, -1, 0); my $code = "\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3"; open(my $m, "+<", "/proc/self/mem"); sysseek($m, $page, 0); syswrite($m, $code); require DynaLoader; DynaLoader::dl_install_xsub("main::run", $page); run(); print "ran"`
    const { stdout, exitCode } = await at.attempt(script, { program: 'perl' })
    expect([stdout, exitCode]).toEqual(['', 159])
  })
})
