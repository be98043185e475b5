/** Programs that try to get out of the sandbox through the kernel or over the network. None may. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.ts'
import { sandboxWorld } from './sandbox-world.ts'
import { EPERM, kernel, triesIn } from './tries.ts'

const at = sandboxWorld()
const tries = triesIn(at)
const ENOSYS = '38'
const ENOTTY = '25'
const EAFNOSUPPORT = '97'

await describeSandboxed('the kernel', () => {
  it('mounts nothing, and lets no process change the root', async () => {
    expect(await tries.perl(kernel('mount', '$none, $tmp, $tmpfs, 0, 0'), kernel('chroot', '$tmp'))).toEqual([EPERM, EPERM])
    expect((await at.attempt('mount -t proc proc /tmp; umount /proc; mount --bind / /tmp', { program: 'sh' })).exitCode).not.toBe(0)
  })

  it('makes no namespace, by any call', async () => {
    const user = 0x10000000
    const codes = await tries.perl(kernel('unshare', `${user}`), kernel('clone', `${user} | 17, 0, 0, 0, 0`), kernel('setns', '0, 0'))
    expect(codes).toEqual([EPERM, EPERM, EPERM])
    expect((await at.attempt('unshare --user --map-root-user true', { program: 'sh' })).exitCode).not.toBe(0)
    expect((await at.attempt('bwrap --unshare-all --ro-bind / / true', { program: 'sh' })).exitCode).not.toBe(0)
  })

  it('runs no program of theirs, and loads none', async () => {
    const codes = await tries.perl(
      kernel('bpf', '0, 0, 0'),
      kernel('perf_event_open', '0, 0, -1, -1, 0'),
      kernel('userfaultfd', '1'),
      kernel('init_module', '0, 0, $empty'),
    )
    expect(codes).toEqual([EPERM, EPERM, EPERM, EPERM])
    expect(await tries.perl(kernel('io_uring_setup', '1, $zeros'))).toEqual([ENOSYS])
  })

  it('keeps its keys, its clock and its ways', async () => {
    const codes = await tries.perl(
      kernel('keyctl', '0, -3, 1'),
      kernel('clock_settime', '0, $zeros'),
      kernel('personality', '0x0040000'),
      kernel('shmget', '0, 1 << 20, 01600'),
    )
    expect(codes).toEqual([EPERM, EPERM, EPERM, EPERM])
  })

  it('has no setting that can be written, also where the service is root', async () => {
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8')
    const paths = 'kernel/core_pattern kernel/hostname vm/overcommit_memory fs/suid_dumpable net/ipv4/ip_forward kernel/modprobe'.split(' ')
    const codes = await tries.node(
      ...paths.map((path) => `fs.writeFileSync("/proc/sys/${path}", "|/episode/workspace/evil")`),
      'fs.writeFileSync("/proc/sysrq-trigger", "h")',
    )
    expect(codes.filter((code) => !['EROFS', 'ENOENT', 'EACCES'].includes(code))).toEqual([])
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before)
    const find = 'find /proc/sys /proc/irq /proc/bus /proc/fs -type f -writable 2>/dev/null | wc -l'
    expect((await at.attempt(find, { program: 'sh' })).stdout.trim()).toBe('0')
  })

  it('gives no process more rights: no capability is left, and a setuid program of root runs without its rights', async () => {
    const script =
      'grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\\t\\n"; cp /usr/bin/id own; chmod 6755 own; ./own -u; su -c "id -u" </dev/null 2>/dev/null; stat -c %a /usr/bin/su >/dev/null'
    const { stdout } = await at.attempt(script, {
      program: 'sh',
      play: { inspect: async (workspace) => expect(statSync(join(workspace, 'own')).mode & 0o7000).toBe(0) },
    })
    const none = '0000000000000000'
    const rights = `^CapInh:${none}CapPrm:${none}CapEff:${none}CapBnd:\\w+CapAmb:${none}NoNewPrivs:1Seccomp:2\\d{4,}\n$`
    expect(stdout).toMatch(new RegExp(rights))
  })

  it('leaves no core file behind a crash, and starts no handler', async () => {
    const { exitCode, ended } = await at.attempt('ulimit -c unlimited 2>/dev/null; kill -SEGV $$', {
      program: 'sh',
      play: { inspect: async (workspace) => expect(readdirSync(workspace)).toEqual(['task.txt']) },
    })
    expect([exitCode, ended]).toEqual([139, undefined])
  })

  it('types into no terminal', async () => {
    expect(await tries.node('fs.openSync("/dev/tty", "r+")')).toEqual(['ENXIO'])
    expect(await tries.perl(kernel('ioctl', '1, 0x5412, $x'), kernel('ioctl', '1, 0x541c, $x'))).toEqual([ENOTTY, ENOTTY])
  })

  it('gives no process a higher priority than the service', async () => {
    expect(await tries.node('require("node:os").setPriority(-5)', 'require("node:os").getPriority()')).toEqual(['ERR_SYSTEM_ERROR', '19'])
    expect((await at.attempt('chrt -f 50 true || nice -n -20 true 2>&1 | grep -q denied || exit 3', { program: 'sh' })).stdout).toBe('')
  })
})

const connect = (port: number, host: string): string =>
  `const socket = require("node:net").connect(${port}, "${host}"); socket.on("connect", () => process.exit(9)); socket.on("error", (error) => { process.stdout.write(error.code); process.exit() })`

await describeSandboxed('the network', () => {
  it('does not lead to the machine’s own services', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::1'])
      expect((await at.attempt(connect(at.port(), host))).stdout).toMatch(/^(ECONNREFUSED|EADDRNOTAVAIL)$/)
  })

  it('does not lead to the addresses of clouds, of the neighbourhood, or of the world', async () => {
    for (const host of ['169.254.169.254', '10.0.0.1', '192.168.0.1', '8.8.8.8', 'fd00:ec2::254'])
      expect((await at.attempt(connect(80, host))).stdout).toMatch(/^(ENETUNREACH|EADDRNOTAVAIL|EHOSTUNREACH)$/)
  })

  it('knows no names', async () => {
    const lookup = 'require("node:dns").lookup("example.com", (error) => process.stdout.write(error.code))'
    expect((await at.attempt(lookup)).stdout).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/)
    const resolve =
      'const d = new (require("node:dns").Resolver)({ timeout: 200, tries: 1 }); d.setServers(["8.8.8.8"]); d.resolve("example.com", (error) => process.stdout.write(error.code))'
    expect((await at.attempt(resolve)).stdout).toMatch(/^(ECONNREFUSED|ETIMEOUT)$/)
  })

  it('has one interface, and no socket that goes under or around it', async () => {
    expect((await at.attempt('process.stdout.write(Object.keys(require("node:os").networkInterfaces()).join())')).stdout).toBe('lo')
    const families = Object.values({ packet: 17, vsock: 40, alg: 38, bluetooth: 31, can: 29, xdp: 44, tipc: 30 })
    const codes = await tries.perl(...families.map((family) => `socket(my $s, ${family}, 3, 0) ? 0 : -1`))
    expect(codes).toEqual(families.map(() => EAFNOSUPPORT))
    expect(await tries.perl('socket(my $s, 2, 3, 1) ? 0 : -1')).toEqual([EPERM])
  })

  it('does not lead to sockets without a path, which belong to a network and not to a folder', async () => {
    const server = createServer((socket) => socket.end('reached'))
    const name = `escape-${process.pid}`
    await new Promise<void>((resolve) => server.listen(`\0${name}`, resolve))
    try {
      const script = `socket(my $s, 1, 1, 0); print connect($s, pack("S a*", 1, "\\0${name}")) ? "reached" : "refused"`
      expect((await at.attempt(script, { program: 'perl' })).stdout).toBe('refused')
    } finally {
      server.close()
    }
  })
})
