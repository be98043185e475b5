/** The seccomp filter of a sandbox, as a BPF program: it allows the listed system calls, some only with known arguments, and no other. */
import { ALLOWED } from './calls.generated.ts'

/** Calls that programs take for forbidden rather than missing, by their numbers on x64 and arm64. Those of neither list are missing. */
const REFUSED: Readonly<Record<string, readonly [x64: number, arm64?: number]>> = {
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  process_madvise: [440, 440],
  // Mounts and file systems.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  // Namespaces.
  unshare: [272, 97],
  setns: [308, 268],
  // The kernel itself.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  syslog: [103, 116],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  vhangup: [153, 58],
  iopl: [172],
  ioperm: [173],
  modify_ldt: [154],
  // Settings of the machine.
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  // Memory that counts for no process.
  shmget: [29, 194],
  msgget: [68, 186],
  memfd_secret: [447, 447],
}
/** Answered with success, and not done: locks on files that other episodes see too, and writing out the disks of the machine. */
const PRETENDED: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  flock: [73, 32],
  sync: [162, 81],
  syncfs: [306, 267],
}
/** Allowed for some arguments only. */
const CLONE = [56, 220] as const
const IOCTL = [16, 29] as const
const PRCTL = [157, 167] as const
const SOCKET = [41, 198] as const
const SOCKETPAIR = [53, 199] as const
const SETSOCKOPT = [54, 208] as const
const PERSONALITY = [135, 92] as const
const MKNODAT = [259, 33] as const
/** Only on x64. */
const MKNOD = 133

/** The kernel's audit codes, and the index of the numbers above. */
const MACHINES: Readonly<
  Partial<Record<NodeJS.Architecture, { readonly audit: number; readonly at: 0 | 1; readonly name: 'x64' | 'arm64' }>>
> = {
  x64: { audit: 0xc000003e, at: 0, name: 'x64' },
  arm64: { audit: 0xc00000b7, at: 1, name: 'arm64' },
}

const NUMBER_AT = 0
const MACHINE_AT = 4
/** The lower half of an argument, which comes first on both. */
const argumentAt = (index: number): number => 16 + 8 * index

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const refuse = (errno: number): number => 0x00050000 | errno
const DONE = refuse(0)
const EPERM = refuse(1)
const EINVAL = refuse(22)
const ENOTTY = refuse(25)
const ENOSYS = refuse(38)
const ENOPROTOOPT = refuse(92)
const EAFNOSUPPORT = refuse(97)

/** Every flag of clone that makes a namespace. */
const NAMESPACES = 0x7e020000
/** Terminals, without those that type into one (TIOCSTI, TIOCLINUX); waiting bytes and flags of any file; names of network interfaces. */
const IOCTLS = [
  0x5401, 0x5402, 0x5403, 0x5404, 0x5409, 0x540a, 0x540b, 0x540c, 0x540d, 0x540e, 0x540f, 0x5410, 0x5411, 0x5413, 0x5414, 0x541b, 0x5420,
  0x5421, 0x5422, 0x5424, 0x5425, 0x5429, 0x5441, 0x5450, 0x5451, 0x5452, 0x80045430, 0x40045431, 0x802c542a, 0x402c542b, 0x402c542c,
  0x402c542d, 0x8905, 0x8910, 0x8912, 0x8913, 0x8915, 0x8927, 0x8933,
]
/** Names, signals of parents, rights to be dropped, memory hints and processor features; no tracer (PR_SET_PTRACER), no layout (PR_SET_MM). */
const PRCTLS = [
  1, 2, 3, 4, 7, 8, 15, 16, 21, 22, 23, 24, 27, 29, 30, 36, 37, 38, 39, 40, 41, 42, 47, 50, 51, 52, 53, 54, 55, 56, 0x53564d41,
]
const AF = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const
/** Whatever fits the type, TCP and UDP. Others are seldom used and often attacked. */
const PROTOCOLS = [0, 6, 17]
/** Of netlink: addresses and routes of the sandbox's own network. */
const NETLINK_ROUTE = [0]
/** Options of a socket by their level: IP, the socket itself, TCP, UDP, IPv6. */
const LEVELS = { ip: 0, socket: 1, tcp: 6, udp: 17, ipv6: 41 } as const
/** The sizes of its buffers, which stay as they are: they count for no process. */
const BUFFER_SIZES = [7, 8, 32, 33]
/** Programs in the kernel that read its packets. */
const SOCKET_PROGRAMS = [26, 50, 51, 52]
/** Modules of TCP, its repair mode and signatures. */
const TCP_MODULES = [13, 14, 19, 31]
/** Plain files, pipes and sockets; no device. */
const FILE_TYPES = [0, 0o100000, 0o010000, 0o140000]
const FILE_TYPE = 0o170000
/** The default, and the query for the current one. */
const PERSONALITIES = [0, 0xffffffff]
/** The x32 ABI. */
const X32 = 0x40000000

/** Null on an unknown architecture. */
export function seccompFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const machine = MACHINES[architecture]
  if (machine === undefined) return null
  const { at, name } = machine
  const numbersOf = (table: typeof REFUSED): readonly number[] => Object.values(table).flatMap((numbers) => numbers[at] ?? [])
  return Buffer.concat([
    load(MACHINE_AT),
    unless(machine.audit, answer(KILL)),
    load(NUMBER_AT),
    whenAny(X32, answer(ENOSYS)),
    ...rangesOf(Object.values(ALLOWED).flatMap((numbers) => numbers[name] ?? [])).map(([first, last]) =>
      within(first, last, answer(ALLOW)),
    ),
    when(CLONE[at], load(argumentAt(0)), whenAny(NAMESPACES, answer(EPERM)), answer(ALLOW)),
    when(IOCTL[at], ...only(1, IOCTLS, ENOTTY)),
    when(PRCTL[at], ...only(0, PRCTLS, EINVAL)),
    when(SOCKET[at], ...sockets()),
    when(SOCKETPAIR[at], ...only(0, [AF.unix], EAFNOSUPPORT)),
    when(SETSOCKOPT[at], ...socketOptions()),
    when(PERSONALITY[at], ...only(0, PERSONALITIES, EPERM)),
    when(MKNODAT[at], ...fileTypes(2)),
    ...(name === 'x64' ? [when(MKNOD, ...fileTypes(1))] : []),
    ...numbersOf(PRETENDED).map((number) => when(number, answer(DONE))),
    ...numbersOf(REFUSED).map((number) => when(number, answer(EPERM))),
    answer(ENOSYS),
  ])
}

const sockets = (): readonly Buffer[] => [
  load(argumentAt(0)),
  when(AF.unix, answer(ALLOW)),
  when(AF.inet, ...only(2, PROTOCOLS, EPERM)),
  when(AF.inet6, ...only(2, PROTOCOLS, EPERM)),
  when(AF.netlink, ...only(2, NETLINK_ROUTE, EPERM)),
  answer(EAFNOSUPPORT),
]

const socketOptions = (): readonly Buffer[] => [
  load(argumentAt(1)),
  when(LEVELS.socket, load(argumentAt(2)), ...each(BUFFER_SIZES, DONE), ...each(SOCKET_PROGRAMS, EPERM), answer(ALLOW)),
  when(LEVELS.tcp, load(argumentAt(2)), ...each(TCP_MODULES, EPERM), answer(ALLOW)),
  ...each([LEVELS.ip, LEVELS.udp, LEVELS.ipv6], ALLOW),
  answer(ENOPROTOOPT),
]

const fileTypes = (argument: number): readonly Buffer[] => [
  load(argumentAt(argument)),
  mask(FILE_TYPE),
  ...each(FILE_TYPES, ALLOW),
  answer(EPERM),
]

const only = (argument: number, values: readonly number[], otherwise: number): readonly Buffer[] => [
  load(argumentAt(argument)),
  ...each(values, ALLOW),
  answer(otherwise),
]

const each = (values: readonly number[], verdict: number): readonly Buffer[] => values.map((value) => when(value, answer(verdict)))

/** Neighbouring numbers as one comparison, which keeps the filter short. */
function rangesOf(numbers: readonly number[]): readonly (readonly [first: number, last: number])[] {
  const ranges: [number, number][] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && number <= last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges
}

const load = (offset: number): Buffer => instruction(0x20, 0, 0, offset)
const answer = (verdict: number): Buffer => instruction(0x06, 0, 0, verdict)

/** The body runs when the loaded value matches, and must return: otherwise what it loaded would be compared next. */
function when(value: number, ...body: readonly Buffer[]): Buffer {
  const steps = Buffer.concat(body)
  return Buffer.concat([instruction(0x15, 0, steps.length / 8, value), steps])
}

const unless = (value: number, body: Buffer): Buffer => Buffer.concat([instruction(0x15, body.length / 8, 0, value), body])
const whenAny = (bits: number, body: Buffer): Buffer => Buffer.concat([instruction(0x45, 0, body.length / 8, bits), body])

const mask = (bits: number): Buffer => instruction(0x54, 0, 0, bits)

function within(first: number, last: number, body: Buffer): Buffer {
  const skip = body.length / 8
  return Buffer.concat([instruction(0x35, 0, skip + 1, first), instruction(0x25, skip, 0, last), body])
}

/** One `struct sock_filter`. */
function instruction(code: number, ifTrue: number, ifFalse: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
