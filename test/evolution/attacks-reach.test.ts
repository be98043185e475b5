/** Programs that reach for the machine from inside: its processes, its kernel files, its networks. */
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.ts'
import { sandboxWorld } from './sandbox-world.ts'
import { REACHING } from './tries.ts'

const at = sandboxWorld()
const ABSTRACT = `svc-test-${process.pid}`
const SOCKET = join(tmpdir(), `${ABSTRACT}.sock`)

/** What is tried, in JavaScript that may wait, and what it may come to: a code of an error, or a value. */
type Row = readonly [title: string, work: string, results: readonly string[]]
const GONE = ['ENOENT']
const QUIET = ['0', 'ENOENT', 'EACCES']
const CLOSED = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EINVAL']
const read = (title: string, path: string, results: readonly string[] = GONE): Row => [title, `fs.readFileSync("${path}").length`, results]
const write = (title: string, path: string, text: string): Row => [title, `fs.writeFileSync("${path}", "${text}")`, CLOSED]
const reach = (title: string, to: string): Row => [
  title,
  `reach(${to})`,
  ['ENETUNREACH', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENOENT', 'EACCES', 'EPERM'],
]

const REACHES: readonly Row[] = [
  read('the log of the kernel', '/proc/kmsg', CLOSED),
  read('addresses of the kernel', '/proc/kallsyms', QUIET),
  read('memory of the machine', '/proc/kcore', QUIET),
  read('keys', '/proc/keys', QUIET),
  read('users of keys', '/proc/key-users', QUIET),
  read('pages of the machine', '/proc/kpagecount', CLOSED),
  read('flags of pages', '/proc/kpageflags', CLOSED),
  read('a crashed kernel', '/proc/vmcore'),
  read('timers', '/proc/timer_list', QUIET),
  read('disks', '/sys/block'),
  read('firmware', '/sys/firmware/dmi/tables/DMI'),
  read('groups of the machine', '/sys/fs/cgroup/cgroup.procs'),
  read('the memory of the first process', '/proc/1/mem', CLOSED),
  read('the variables of the first process', '/proc/1/environ', ['0', ...CLOSED]),
  read('passwords', '/etc/shadow'),
  read('the machine’s name for itself', '/etc/machine-id'),
  read('names of the network', '/etc/resolv.conf'),
  read('the sockets of systemd', '/run/systemd/private'),
  read('the socket of containers', '/run/docker.sock'),
  read('homes', '/root/.ssh/id_rsa'),
  read('secrets of containers', '/run/secrets/kubernetes.io/serviceaccount/token'),
  write('an order to the kernel', '/proc/sysrq-trigger', 'b'),
  write('a program for crashes', '/proc/sys/kernel/core_pattern', '|/tmp/x'),
  write('a program for modules', '/proc/sys/kernel/modprobe', '/tmp/x'),
  write('the caches', '/proc/sys/vm/drop_caches', '3'),
  write('how many processes there may be', '/proc/sys/kernel/pid_max', '301'),
  write('routes of the network', '/proc/sys/net/ipv4/ip_forward', '1'),
  write('a map of users', '/proc/self/uid_map', '0 0 1'),
  write('who is killed last', '/proc/self/oom_score_adj', '-1000'),
  write('the memory of the first process', '/proc/1/mem', 'x'),
  write('a device', '/dev/sda', 'x'),
  write('a file beside the devices', '/dev/escaped', 'x'),
  reach('a service of the machine', `{ port: PORT, host: "127.0.0.1" }`),
  reach('a service of the machine, by version 6', `{ port: PORT, host: "::1" }`),
  reach('all addresses of the machine', `{ port: PORT, host: "0.0.0.0" }`),
  reach('the keys of a cloud', `{ port: 80, host: "169.254.169.254" }`),
  reach('a neighbour', `{ port: 80, host: "10.0.0.1" }`),
  reach('the world', `{ port: 443, host: "1.1.1.1" }`),
  reach('the world, by version 6', `{ port: 443, host: "2606:4700:4700::1111" }`),
  reach('a socket without a name in files', `{ path: "\\0${ABSTRACT}" }`),
  reach('a socket of the machine by its path', `{ path: "${SOCKET}" }`),
  [
    'a name',
    'new Promise((done, fail) => require("node:dns").lookup("example.com", (error) => (error ? fail(error) : done("found"))))',
    ['ENOTFOUND', 'EAI_AGAIN'],
  ],
  [
    'a name, asked for directly',
    'new Promise((done, fail) => { const dns = new (require("node:dns").Resolver)({ timeout: 500, tries: 1 }); dns.setServers(["8.8.8.8"]); dns.resolve4("example.com", (error) => (error ? fail(error) : done("found"))) })',
    ['ECONNREFUSED', 'ETIMEOUT', 'ENETUNREACH'],
  ],
  [
    'a packet to everyone',
    'new Promise((done, fail) => { const s = require("node:dgram").createSocket("udp4"); s.on("error", fail); s.bind(0, () => { s.setBroadcast(true); s.send("x", 9, "255.255.255.255", (error) => { s.close(); error ? fail(error) : done("sent") }) }) })',
    ['ENETUNREACH', 'EACCES'],
  ],
  ['a signal to the service', 'process.kill(SERVICE, "SIGUSR1")', ['ESRCH']],
  ['a signal to the group of the service', 'process.kill(-SERVICE, "SIGTERM")', ['ESRCH']],
  [
    'a debugger in the first program',
    'process._debugProcess(process.ppid)',
    ['ENOENT', 'EPERM', 'ESRCH', 'undefined', 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM'],
  ],
  ['a higher priority', 'require("node:os").setPriority(-5)', ['ERR_SYSTEM_ERROR', 'EACCES', 'EPERM']],
  ['another user', 'process.setuid(0)', ['EPERM', 'EINVAL']],
  ['another group', 'process.setgid(0)', ['EPERM', 'EINVAL']],
  ['the terminal', 'fs.openSync("/dev/tty", "r+")', ['ENXIO', ...CLOSED]],
  ['a file owned by root', '(fs.writeFileSync("own", ""), fs.chownSync("own", 0, 0))', CLOSED],
  [
    'more open files',
    'require("node:child_process").execSync("ulimit -n 99999 2>&1", { shell: "/bin/sh" }).toString()',
    ['undefined', '2'],
  ],
]

await describeSandboxed('the machine, from inside:', () => {
  let said: readonly string[] = []
  const server = createServer((socket) => socket.end('outside'))
  const named = createServer((socket) => socket.end('outside'))

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(`\0${ABSTRACT}`, resolve))
    await new Promise<void>((resolve) => named.listen(SOCKET, resolve))
    const rows = { PORT: at.port(), MACHINE: at.machine, SERVICE: process.pid, works: REACHES.map(([, work]) => work) }
    const { stdout, stderr } = await at.attempt(REACHING, {
      timeoutSeconds: 60,
      play: { workspace: { 'rows.json': JSON.stringify(rows) } },
    })
    expect(stdout, stderr).not.toBe('')
    said = JSON.parse(stdout)
  })
  afterAll(() => {
    server.close()
    named.close()
  })

  it.each(REACHES.map(([title, , results], index) => ({ title, results, index })))('$title', ({ results, index }) => {
    expect(results).toContain(said[index])
  })
})
