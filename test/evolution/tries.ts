/** Escape attempts from Node, whose errors have a code, and from perl, which calls the kernel directly. */
import { expect } from 'vitest'
import type { SandboxWorld } from './sandbox-world.ts'

/** Collects the result of each attempt, for `SAY` to print. */
export const TRY =
  'const fs = require("node:fs"); const said = []; const attempt = (work) => { try { said.push(String(work() ?? "done")) } catch (error) { said.push(error.code) } };'
export const SAY = 'process.stdout.write(said.join(" "))'

export const EPERM = '1'

export interface Tries {
  /** The results in order: an error code or a value. */
  node(...works: readonly string[]): Promise<readonly string[]>
  /** The errno of each call, or 0. */
  perl(...works: readonly string[]): Promise<readonly string[]>
}

export const triesIn = (at: SandboxWorld): Tries => ({
  async node(...works) {
    const { stdout, stderr, ended } = await at.attempt(`${TRY} ${works.map((work) => `attempt(() => ${work});`).join(' ')} ${SAY}`)
    expect(ended, stderr).toBeUndefined()
    return stdout.split(' ')
  },
  async perl(...works) {
    const script = works.map((work) => `$! = 0; print(((${work}) // -1) < 0 ? $!+0 : 0, " ");`).join('\n')
    const { stdout, stderr, ended } = await at.attempt(`${WORDS} ${script}`, { program: 'perl' })
    expect(ended, stderr).toBeUndefined()
    return stdout.trim().split(' ')
  },
})

/** The kernel needs writable buffers. */
const WORDS = 'my ($none, $tmp, $tmpfs, $empty, $zeros, $disk, $x) = ("none", "/tmp", "tmpfs", "", "\\0" x 120, "disk", "x");'

/** One system call, in perl. */
export const kernel = (name: keyof typeof CALLS, words: string): string => `syscall(${number(name)}, ${words})`

/** Numbers of system calls. */
const CALLS = {
  ptrace: { x64: 101, arm64: 117 },
  mount: { x64: 165, arm64: 40 },
  unshare: { x64: 272, arm64: 97 },
  clone: { x64: 56, arm64: 220 },
  chroot: { x64: 161, arm64: 51 },
  keyctl: { x64: 250, arm64: 219 },
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  io_uring_setup: { x64: 425, arm64: 425 },
  personality: { x64: 135, arm64: 92 },
  process_vm_readv: { x64: 310, arm64: 270 },
  ioctl: { x64: 16, arm64: 29 },
  setns: { x64: 308, arm64: 268 },
  init_module: { x64: 175, arm64: 105 },
  shmget: { x64: 29, arm64: 194 },
  clock_settime: { x64: 227, arm64: 112 },
  mknodat: { x64: 259, arm64: 33 },
} as const
const number = (name: keyof typeof CALLS): number => CALLS[name][process.arch === 'arm64' ? 'arm64' : 'x64']

/** Does the works of `rows.json` one after the other, each of which may wait. Prints the code or value of each. */
export const REACHING = `
const fs = require("node:fs")
const { PORT, MACHINE, SERVICE, works } = JSON.parse(fs.readFileSync("rows.json"))
const reach = (to) => new Promise((done, fail) => {
  const socket = require("node:net").connect(to, () => { socket.destroy(); done("connected") }).on("error", fail)
  setTimeout(() => fail({ code: "ENETUNREACH" }), 2000).unref()
})
const tried = async (work) => { try { return String(await eval(work)) } catch (error) { return String(error.code ?? error.status) } }
const main = async () => {
  const said = []
  for (const work of works) said.push(await tried(work))
  process.stdout.write(JSON.stringify(said))
  process.exit()
}
main()`
