/** The seccomp filter of a sandbox, as a BPF program. */

/** System calls that agents do not need or that allowed sandbox escapes, by their numbers on x64 and arm64. */
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
/** Programs fall back when these return ENOSYS. A filter cannot inspect their arguments. */
const ABSENT: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
}
/** Refused for some arguments only. */
const CLONE = [56, 220] as const
const IOCTL = [16, 29] as const
const SOCKET = [41, 198] as const
const PERSONALITY = [135, 92] as const

/** The kernel's audit codes, and the index of the numbers above. */
const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, { readonly audit: number; readonly at: 0 | 1 }>>> = {
  x64: { audit: 0xc000003e, at: 0 },
  arm64: { audit: 0xc00000b7, at: 1 },
}

const NUMBER_AT = 0
const MACHINE_AT = 4
/** The lower half of an argument, which comes first on both. */
const argumentAt = (index: number): number => 16 + 8 * index

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const refuse = (errno: number): number => 0x00050000 | errno
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** Every flag of clone that makes a namespace. */
const NAMESPACES = 0x7e020000
/** Simulated terminal input (TIOCSTI, TIOCLINUX). */
const TERMINAL_INPUT = [0x5412, 0x541c]
/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. Some others bypass network namespaces. */
const FAMILIES = [1, 2, 10, 16]
/** The default, and the query for the current one. */
const PERSONALITIES = [0, 0xffffffff]
/** The x32 ABI. */
const X32 = 0x40000000

/** Null on an unknown architecture. */
export function seccompFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const machine = MACHINES[architecture]
  if (machine === undefined) return null
  const numbersOf = (table: typeof REFUSED): readonly number[] => Object.values(table).flatMap((numbers) => numbers[machine.at] ?? [])
  return Buffer.concat([
    load(MACHINE_AT),
    unless(machine.audit, answer(KILL)),
    load(NUMBER_AT),
    whenAny(X32, answer(refuse(ENOSYS))),
    ...numbersOf(REFUSED).map((number) => when(number, answer(refuse(EPERM)))),
    ...numbersOf(ABSENT).map((number) => when(number, answer(refuse(ENOSYS)))),
    when(CLONE[machine.at], load(argumentAt(0)), whenAny(NAMESPACES, answer(refuse(EPERM))), answer(ALLOW)),
    when(IOCTL[machine.at], load(argumentAt(1)), ...TERMINAL_INPUT.map((code) => when(code, answer(refuse(EPERM)))), answer(ALLOW)),
    when(SOCKET[machine.at], ...only(FAMILIES, EAFNOSUPPORT)),
    when(PERSONALITY[machine.at], ...only(PERSONALITIES, EPERM)),
    answer(ALLOW),
  ])
}

const only = (values: readonly number[], errno: number): readonly Buffer[] => [
  load(argumentAt(0)),
  ...values.map((value) => when(value, answer(ALLOW))),
  answer(refuse(errno)),
]

const load = (offset: number): Buffer => instruction(0x20, 0, 0, offset)
const answer = (verdict: number): Buffer => instruction(0x06, 0, 0, verdict)

/** The body runs when the loaded value matches, and must return: otherwise what it loaded would be compared next. */
function when(value: number, ...body: readonly Buffer[]): Buffer {
  const steps = Buffer.concat(body)
  return Buffer.concat([instruction(0x15, 0, steps.length / 8, value), steps])
}

const unless = (value: number, body: Buffer): Buffer => Buffer.concat([instruction(0x15, body.length / 8, 0, value), body])
const whenAny = (bits: number, body: Buffer): Buffer => Buffer.concat([instruction(0x45, 0, body.length / 8, bits), body])

/** One `struct sock_filter`. */
function instruction(code: number, ifTrue: number, ifFalse: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
