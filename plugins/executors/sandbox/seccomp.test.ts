import { describe, expect, it } from 'vitest'
import { seccompFilter } from './seccomp.ts'

const X64 = 0xc000003e
const ARM64 = 0xc00000b7
const I386 = 0x40000003
const ALLOWED = 0x7fff0000
const KILLED = 0x80000000
const EPERM = 0x00050001
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
    if (code === 0x45) at += 8 * filter.readUInt8(at + ((loaded & value) === 0 ? 3 : 2))
  }
  throw new Error('the filter ends without an answer')
}

const ON_X64 = { read: 0, execve: 59, ptrace: 101, mount: 165, clone: 56, clone3: 435, ioctl: 16, socket: 41, personality: 135, bpf: 321 }
const ON_ARM64 = {
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
  const of = (name: keyof typeof calls, ...words: readonly number[]): number => verdict(filter, machine, calls[name], ...words)

  it('lets ordinary calls through', () => {
    expect([of('read'), of('execve'), verdict(filter, machine, 1000)]).toEqual([ALLOWED, ALLOWED, ALLOWED])
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
    expect([of('ioctl', 0, 0x5401), of('ioctl', 0, 0x5412), of('ioctl', 0, 0x541c)]).toEqual([ALLOWED, EPERM, EPERM])
  })

  it('lets sockets be local or of the internet', () => {
    expect([1, 2, 10, 16].map((family) => of('socket', family))).toEqual([ALLOWED, ALLOWED, ALLOWED, ALLOWED])
    expect([17, 38, 40].map((family) => of('socket', family))).toEqual([EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT])
  })

  it('lets no process turn protections off', () => {
    expect([of('personality', 0xffffffff), of('personality', 0), of('personality', 0x0040000)]).toEqual([ALLOWED, ALLOWED, EPERM])
  })

  it('ends a program of another machine’s numbers, which would mean other calls', () => {
    expect(verdict(filter, I386, calls.read)).toBe(KILLED)
    expect(verdict(filter, machine, 0x40000000 | calls.read)).toBe(ENOSYS)
  })
})

it('is none where the numbers are not known', () => {
  expect(seccompFilter('riscv64')).toBeNull()
})
