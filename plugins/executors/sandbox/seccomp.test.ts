import { describe, expect, it } from 'vitest'
import { ALLOWED as ALLOWED_CALLS } from './calls.generated.ts'
import { seccompFilter } from './seccomp.ts'

const X64 = 0xc000003e
const ARM64 = 0xc00000b7
const I386 = 0x40000003
const ALLOWED = 0x7fff0000
const KILLED = 0x80000000
const DONE = 0x00050000
const EPERM = 0x00050001
const EINVAL = 0x00050016
const ENOTTY = 0x00050019
const ENOPROTOOPT = 0x0005005c
const ENOSYS = 0x00050026
const EAFNOSUPPORT = 0x00050061

/** What the kernel would do with it. */
function verdict(filter: Buffer, machine: number, call: number, ...words: readonly number[]): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call, 0)
  data.writeUInt32LE(machine, 4)
  for (const [index, word] of words.entries()) data.writeUInt32LE(word, 16 + 8 * index)
  let loaded = 0
  for (let at = 0; at < filter.length; at += 8) {
    const value = filter.readUInt32LE(at + 4)
    const code = filter.readUInt16LE(at)
    if (code === 0x06) return value
    if (code === 0x20) loaded = data.readUInt32LE(value)
    if (code === 0x15) at += 8 * filter.readUInt8(at + (loaded === value ? 2 : 3))
    if (code === 0x54) loaded = (loaded & value) >>> 0
    if (code === 0x35) at += 8 * filter.readUInt8(at + (loaded >= value ? 2 : 3))
    if (code === 0x25) at += 8 * filter.readUInt8(at + (loaded > value ? 2 : 3))
    if (code === 0x45) at += 8 * filter.readUInt8(at + ((loaded & value) === 0 ? 3 : 2))
  }
  throw new Error('the filter ends without an answer')
}

const ON_X64 = {
  others: [56, 135, 133, 259, 54],
  setsockopt: 54,
  prctl: 157,
  mknodat: 259,
  flock: 73,
  socketpair: 53,
  read: 0,
  execve: 59,
  ptrace: 101,
  mount: 165,
  clone: 56,
  clone3: 435,
  ioctl: 16,
  socket: 41,
  personality: 135,
  bpf: 321,
}
const ON_ARM64 = {
  others: [220, 92, 33, 208],
  setsockopt: 208,
  prctl: 167,
  mknodat: 33,
  flock: 32,
  socketpair: 199,
  read: 63,
  execve: 221,
  ptrace: 117,
  mount: 40,
  clone: 220,
  clone3: 435,
  ioctl: 29,
  socket: 198,
  personality: 92,
  bpf: 280,
}

describe.each([
  ['x64', X64, ON_X64],
  ['arm64', ARM64, ON_ARM64],
] as const)('the filter for %s', (architecture, machine, calls) => {
  const filter = seccompFilter(architecture) ?? Buffer.alloc(0)
  const of = (name: Exclude<keyof typeof calls, 'others'>, ...words: readonly number[]): number =>
    verdict(filter, machine, calls[name], ...words)

  it('lets ordinary calls through', () => {
    expect([of('read'), of('execve')]).toEqual([ALLOWED, ALLOWED])
  })

  it('knows no other call: not those of later kernels, nor numbers that no kernel has', () => {
    expect([463, 470, 500, 511, 548, 600, 1000, 0x3fffffff, 0xffffffff].map((call) => verdict(filter, machine, call))).toEqual(
      Array.from({ length: 9 }, () => ENOSYS),
    )
  })

  it('allows what is listed, call by call, and of the rest only what it looks into', () => {
    const listed = new Set(Object.values(ALLOWED_CALLS).flatMap((numbers) => numbers[architecture] ?? []))
    const others = Array.from({ length: 1024 }, (_, call) => call).filter(
      (call) => verdict(filter, machine, call) === ALLOWED && !listed.has(call),
    )
    // With arguments of zero: clone, a choice of personality, plain files, and an option of IP.
    expect(others).toEqual([...calls.others].sort((a, b) => a - b))
    expect([...listed].filter((call) => verdict(filter, machine, call) !== ALLOWED)).toEqual([])
  })

  it('refuses calls that agents do not need', () => {
    expect([of('ptrace'), of('mount'), of('bpf')]).toEqual([EPERM, EPERM, EPERM])
  })

  it('knows no call whose arguments it could not see', () => {
    expect(of('clone3')).toBe(ENOSYS)
  })

  it('lets a process be started, and no namespace', () => {
    const thread = 0x003d0f00
    expect([17, thread].map((flags) => of('clone', flags))).toEqual([ALLOWED, ALLOWED])
    expect([0x10000011, 0x40000011, 0x00020011].map((flags) => of('clone', flags))).toEqual([EPERM, EPERM, EPERM])
  })

  it('lets no one type into a terminal', () => {
    const codes = [0x5401, 0x5412, 0x541c, 0x80047601, 0xae00]
    expect(codes.map((code) => of('ioctl', 0, code))).toEqual([ALLOWED, ENOTTY, ENOTTY, ENOTTY, ENOTTY])
  })

  it('lets sockets be local or of the internet', () => {
    expect([1, 2, 10, 16].map((family) => of('socket', family))).toEqual([ALLOWED, ALLOWED, ALLOWED, ALLOWED])
    expect([17, 38, 40].map((family) => of('socket', family))).toEqual([EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT])
    expect([0, 6, 17, 1, 132, 262].map((protocol) => of('socket', 2, 1, protocol))).toEqual([
      ALLOWED,
      ALLOWED,
      ALLOWED,
      EPERM,
      EPERM,
      EPERM,
    ])
    expect([0, 4, 9, 12].map((protocol) => of('socket', 16, 3, protocol))).toEqual([ALLOWED, EPERM, EPERM, EPERM])
    expect([1, 2].map((family) => of('socketpair', family))).toEqual([ALLOWED, EAFNOSUPPORT])
  })

  it('lets no buffer of a socket grow, and no program be attached to one', () => {
    expect([2, 7, 8, 32, 26, 50].map((option) => of('setsockopt', 0, 1, option))).toEqual([ALLOWED, DONE, DONE, DONE, EPERM, EPERM])
    expect([1, 31].map((option) => of('setsockopt', 0, 6, option))).toEqual([ALLOWED, EPERM])
    expect(of('setsockopt', 0, 263, 1)).toBe(ENOPROTOOPT)
  })

  it('makes no device, takes no lock that others see, and lets no process be traced by another', () => {
    expect([0o100644, 0o010644, 0o140644, 0o020644, 0o060644].map((mode) => of('mknodat', 0, 0, mode))).toEqual([
      ALLOWED,
      ALLOWED,
      ALLOWED,
      EPERM,
      EPERM,
    ])
    expect(of('flock')).toBe(DONE)
    expect([15, 38, 0x59616d61, 35].map((option) => of('prctl', option))).toEqual([ALLOWED, ALLOWED, EINVAL, EINVAL])
  })

  it('lets no process turn protections off', () => {
    expect([of('personality', 0xffffffff), of('personality', 0), of('personality', 0x0040000)]).toEqual([ALLOWED, ALLOWED, EPERM])
  })

  it('ends a program of another machine’s numbers, which would mean other calls', () => {
    expect(verdict(filter, I386, calls.read)).toBe(KILLED)
    expect(verdict(filter, machine, 0x40000000 | calls.read)).toBe(ENOSYS)
    expect(verdict(filter, machine, (0x40000000 | 520) >>> 0)).toBe(ENOSYS)
  })
})

it('is none where the numbers are not known', () => {
  expect(seccompFilter('riscv64')).toBeNull()
})
