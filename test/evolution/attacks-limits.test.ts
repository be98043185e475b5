/** Programs that hold more than they may, in places where no list of processes or files shows it. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Episode } from '../../src/contract/index.ts'
import { describeSandboxed } from '../support/sandbox.ts'
import { sandboxWorld, type Attempt } from './sandbox-world.ts'

const at = sandboxWorld()
const MEMORY = 200 * 1024 * 1024
const FS = 'const fs = require("node:fs");'
const SOCKETS = 'use Socket; my @all; my $part = "x" x 65536;'
const FULL = 'fcntl($a, 4, 2048); while (syswrite($a, $part)) {}'

/** Fills pairs of local sockets in many processes: 7.9 GiB were once held so. */
const floodOf = (type: string, processes: number): string =>
  `${SOCKETS} for (1..${processes}) { last if !fork } for (1..480) { socketpair(my $a, my $b, AF_UNIX, ${type}, 0) or last; push @all, $a, $b; ${FULL} } sleep 30`
const UDP = `${SOCKETS} for (1..20) { last if !fork } for (1..480) { socket(my $b, PF_INET, SOCK_DGRAM, 0); bind($b, sockaddr_in(0, INADDR_LOOPBACK)); socket(my $a, PF_INET, SOCK_DGRAM, 0); my $to = getsockname($b); push @all, $a, $b; for (1..200) { send($a, "x" x 1400, 0x40, $to) } } sleep 30`
const TCP = `${SOCKETS} for (1..20) { last if !fork } socket(my $l, PF_INET, SOCK_STREAM, 0); bind($l, sockaddr_in(0, INADDR_LOOPBACK)); listen($l, 100); my $to = getsockname($l); for (1..300) { socket(my $a, PF_INET, SOCK_STREAM, 0); connect($a, $to); accept(my $b, $l); push @all, $a, $b; ${FULL} } sleep 30`
/** A file without a name, whose only descriptor lies in a socket. */
const HIDDEN_FILES = `import array, os, socket, time
a, b = socket.socketpair()
for n in range(8):
    f = os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(f, b'x' * (8 << 20))
    a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [f]))])
    os.close(f)
time.sleep(30)`
const python = (script: string): string => `cat > /tmp/p.py <<'EOF'\n${script}\nEOF\nexec python3 /tmp/p.py`

await describeSandboxed('hidden memory and files', () => {
  it.each<readonly [string, readonly Episode['ended'][], string, Attempt]>([
    [
      'buffers of local streams',
      ['memory', 'files', 'processes'],
      floodOf('SOCK_STREAM', 20),
      { program: 'perl', limits: { memory_bytes: MEMORY } },
    ],
    ['buffers of local datagrams', ['memory', 'files'], floodOf('SOCK_DGRAM', 20), { program: 'perl', limits: { memory_bytes: MEMORY } }],
    ['buffers of packets', ['memory', 'files'], UDP, { program: 'perl', limits: { memory_bytes: MEMORY } }],
    ['buffers of connections', ['memory', 'files'], TCP, { program: 'perl', limits: { memory_bytes: MEMORY } }],
    ['files in flight between processes', ['files', 'disk'], python(HIDDEN_FILES), { program: 'sh' }],
    [
      'events without end',
      ['files'],
      `for (1..20) { last if !fork } for (1..1000) { syscall(${process.arch === 'arm64' ? '19, 0, 0' : '290, 0, 0'}) } sleep 30`,
      { program: 'perl' },
    ],
    [
      'pipes without end',
      ['files'],
      'for (1..20) { last if !fork } my @all; for (1..490) { pipe(my $a, my $b) or last; push @all, $a, $b } sleep 30',
      { program: 'perl' },
    ],
    [
      'files that were removed and are still open',
      ['disk'],
      `${FS} for (let i = 0; i < 9; i += 1) { const file = fs.openSync("f" + i, "w"); fs.unlinkSync("f" + i); fs.writeSync(file, Buffer.alloc(8 << 20, 1)) } setTimeout(() => {}, 30000)`,
      {},
    ],
    ['a million names of one file', ['files'], `${FS} fs.writeFileSync("a", ""); for (let i = 0; ; i += 1) fs.linkSync("a", "l" + i)`, {}],
    [
      'pipes with names that nobody reads',
      ['files'],
      'i=0; while :; do mkfifo f$i || sleep 30; i=$((i+1)); done',
      { program: 'sh', limits: { processes: 200 } },
    ],
    ['folders in folders', ['files'], `${FS} for (;;) { fs.mkdirSync("d"); process.chdir("d") }`, {}],
    [
      'memory locked by many',
      ['memory'],
      'for (1..6) { last if !fork } my $all = "x" x (64 << 20); sleep 30',
      { program: 'perl', limits: { memory_bytes: MEMORY } },
    ],
  ])('%s', async (_title, ended, script, attempt) => {
    expect(ended).toContain((await at.attempt(script, attempt)).ended)
  })

  it('a file with holes is as large as what is in it', async () => {
    const sizes: number[] = []
    const inspect = async (workspace: string): Promise<void> => void sizes.push(statSync(join(workspace, 'holes')).blocks)
    const script = `${FS} fs.writeFileSync("holes", ""); fs.truncateSync("holes", 30 << 20)`
    expect((await at.attempt(script, { play: { inspect } })).ended).toBeUndefined()
    expect(sizes[0]).toBeLessThan(64)
  })

  it('a daemon that left its session, its parent and its name ends with the episode', async () => {
    const script = `my $p = fork; if (!$p) { require POSIX; POSIX::setsid(); exit if fork; $0 = "init"; chdir "/"; close STDIN; close STDOUT; close STDERR; for (;;) { open(my $f, ">>", "/episode/workspace/beat"); print $f "x"; close $f } } sleep 1`
    const names: string[] = []
    const inspect = async (workspace: string): Promise<void> => {
      const before = statSync(join(workspace, 'beat')).size
      for (let look = 0; look < 200; look += 1) names.push(...readdirSync(workspace))
      expect(statSync(join(workspace, 'beat')).size).toBe(before)
    }
    expect((await at.attempt(script, { program: 'perl', play: { inspect } })).ended).toBeUndefined()
    expect(names).toContain('beat')
  })

  it('a lock tells no other episode anything, and keeps none of them waiting', async () => {
    const hold = 'use Fcntl ":flock"; open(my $f, "<", "/usr/bin/env"); print flock($f, LOCK_EX | LOCK_NB) ? "locked" : "busy"; sleep 2'
    const episodes = await Promise.all([at.attempt(hold, { program: 'perl' }), at.attempt(hold, { program: 'perl' })])
    expect(episodes.map(({ stdout }) => stdout)).toEqual(['locked', 'locked'])
  })

  it('ordinary programs run: shells, git, python, threads, pipes, terminals, locks, temporary files', async () => {
    const script = `set -e
      git init -q . && git -c user.name=a -c user.email=a@b add -A && git -c user.name=a -c user.email=a@b commit -qm x && git log --oneline | wc -l
      python3 -c 'import threading, subprocess, tempfile, socket, multiprocessing as m; t = threading.Thread(target=print, args=("thread",)); t.start(); t.join(); print(subprocess.check_output(["echo", "child"]).decode().strip()); tempfile.TemporaryFile().write(b"x"); print(len(socket.if_nameindex()))'
      find / -xdev -name env -path '*bin*' 2>/dev/null | sort | head -1; seq 1000 | sort -rn | head -1; cp /usr/bin/env e; tar cf - e | tar tf -; flock e echo held; timeout 5 sleep 0.1; script -qc 'echo terminal' /dev/null | tr -d '\\r'; date +%Y | wc -c; id -u | wc -l; df . | wc -l; nice -n 1 true; mktemp >/dev/null; sync; ls -la / >/dev/null; du -sh . >/dev/null`
    const { stdout, stderr, exitCode } = await at.attempt(script, { program: 'sh' })
    expect([exitCode, stderr]).toEqual([0, expect.anything()])
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(['1', 'thread', 'child', '1000', 'e', 'held', 'terminal']))
  })
})
