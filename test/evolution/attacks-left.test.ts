/** What episodes leave behind for those who read and verify it, and programs that dodge their end. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { bareScene } from '../../conformance/index.ts'
import sandbox from '../../plugins/executors/sandbox/index.ts'
import verify from '../../plugins/evaluators/verify/index.ts'
import type { Episode, Executor, JsonObject } from '../../src/contract/index.ts'
import { sharedFolder, temporaryFolder } from '../support/folder.ts'
import { describeSandboxed } from '../support/sandbox.ts'
import { sandboxWorld } from './sandbox-world.ts'
import { REACHING } from './tries.ts'

const at = sandboxWorld()

/** What an episode leaves under a name, in a shell, and how its readers find it: nothing, or what is plain in it. */
type LeftRow = readonly [title: string, name: string, script: string, kind: 'gone' | 'file' | 'folder']
const LEFT: readonly LeftRow[] = [
  ['a pipe that nobody writes to', 'pipe', 'mkfifo pipe', 'gone'],
  ['a socket', 'socket', `perl -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("socket"))'`, 'gone'],
  ['a link to a secret', 'link', 'ln -s MACHINE/secret.txt link', 'gone'],
  ['a link to a folder', 'folder-link', 'ln -s MACHINE folder-link', 'gone'],
  ['a link up', 'up', 'ln -s ../../../../../../etc up', 'gone'],
  ['a link to a process of the reader', 'self', 'ln -s /proc/self/environ self', 'gone'],
  ['a link to a device without end', 'zero', 'ln -s /dev/zero zero', 'gone'],
  ['a link to itself', 'loop', 'ln -s loop loop', 'gone'],
  ['a link with a newline in it', 'odd', `ln -s "$(printf 'a\\nb')" odd`, 'gone'],
  ['a file that nobody may read', 'closed', 'echo x > closed; chmod 000 closed', 'file'],
  [
    'a folder that nobody may enter',
    'locked',
    'mkdir -p locked/in; echo x > locked/in/file; chmod 000 locked/in; chmod 000 locked',
    'folder',
  ],
  ['a program that would run as its owner', 'setuid', 'cp /bin/true setuid; chmod 6755 setuid', 'file'],
  ['a file of holes', 'holes', 'truncate -s 16777216 holes', 'file'],
  [
    'a file that had no name',
    'nameless',
    `python3 -c 'import os; f = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600); os.write(f, b"x"); os.link(f"/proc/self/fd/{f}", "nameless", follow_symlinks=True)' 2>/dev/null || echo x > nameless`,
    'file',
  ],
  [
    'attributes',
    'labelled',
    `echo x > labelled; python3 -c 'import os; os.setxattr("labelled", "user.x", b"y" * 2000)' 2>/dev/null || true`,
    'file',
  ],
  ['a name with a newline', 'a\nb', `echo x > "$(printf 'a\\nb')"`, 'file'],
  ['a name like an option', '-rf', 'echo x > ./-rf', 'file'],
  ['a name of 255 bytes', 'n'.repeat(255), `echo x > ${'n'.repeat(255)}`, 'file'],
  ['a name that ends the line of a terminal', '\u001B[2J', `echo x > "$(printf '\\033[2J')"`, 'file'],
  ['a second name of a file', 'second', 'echo x > first; ln first second', 'file'],
  ['a lock that is held', 'held', 'echo x > held; (flock held sleep 100 &)', 'file'],
  ['times of the future', 'later', 'touch -d 2400-01-01 later', 'file'],
]

await describeSandboxed('what an episode leaves:', () => {
  const found = new Map<string, string>()
  let episode: Episode | null = null
  const inspect = async (workspace: string): Promise<void> => {
    for (const name of readdirSync(workspace)) {
      const stats = lstatSync(join(workspace, name))
      if (stats.isFile()) readFileSync(join(workspace, name))
      if (stats.isDirectory()) readdirSync(join(workspace, name), { recursive: true })
      const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
      found.set(name, stats.mode & 0o7000 ? 'privileged' : kind)
    }
  }

  beforeAll(async () => {
    const script = LEFT.map(([, , line]) => `(${line.replaceAll('MACHINE', at.machine)})`).join('\n')
    episode = await at.attempt(script, { program: 'sh', play: { inspect } })
  })

  it.each(LEFT.map(([title, name, , kind]) => ({ title, name, kind })))('$title', ({ name, kind }) => {
    expect([episode?.ended, found.get(name) ?? 'gone']).toEqual([undefined, kind])
  })
})

/** What an agent left in its workspace, the verifier's command, and the score. */
interface Trap {
  readonly title: string
  readonly files: Readonly<Record<string, string>>
  readonly data: JsonObject
  readonly score: number
}

const PLAYED: Episode = { exitCode: 0, stdout: '', stderr: '', trajectory: [] }
const PASS = '#!/bin/sh\nexit 0\n'
const check = (script: string): JsonObject => ({ 'verify/check': script })
const trap = (title: string, files: Trap['files'], data: JsonObject, score = 0): Trap => ({ title, files, data, score })
const TRAPS: readonly Trap[] = [
  trap('a node of its own', { node: PASS }, { verify: 'node -e "process.exit(1)"' }),
  trap('a grep of its own', { grep: PASS }, { verify: 'grep -q yes task.txt' }),
  trap('programs in a folder named bin', { 'bin/grep': PASS, 'usr/bin/grep': PASS }, { verify: 'grep -q yes task.txt' }),
  trap('a program named like the verifier’s', { 'verify/check': PASS }, { verify: 'sh verify/check', verify_files: check('exit 1') }),
  trap(
    'a helper in the verifier’s folder',
    { 'verify/lib.sh': 'exit 0' },
    { verify: 'sh verify/check', verify_files: check('[ -e verify/lib.sh ] && exit 0; exit 1') },
  ),
  trap(
    'a module of Python named like one',
    { 'json.py': 'import os; os._exit(0)' },
    { verify: 'python3 verify/check.py', verify_files: { 'verify/check.py': 'import json; raise SystemExit(1)' } },
  ),
  trap(
    'a start file of Python',
    { 'sitecustomize.py': 'import os; os._exit(0)', 'usercustomize.py': 'import os; os._exit(0)' },
    { verify: 'python3 verify/check.py', verify_files: { 'verify/check.py': 'raise SystemExit(1)' } },
  ),
  trap(
    'a configuration of Python',
    { 'pyvenv.cfg': 'home = .\n', 'python3._pth': '.\n' },
    { verify: 'python3 verify/check.py', verify_files: { 'verify/check.py': 'raise SystemExit(1)' } },
  ),
  trap(
    'a package of Node',
    { 'node_modules/assert/index.js': 'process.exit(0)', 'package.json': '{"imports":{"#x":"./x.js"}}' },
    { verify: 'node verify/check.cjs', verify_files: { 'verify/check.cjs': 'require("assert")(false)' } },
  ),
  trap(
    'options of Node in files',
    { '.noderc': '--require ./pass.js', '.env': 'NODE_OPTIONS=--require=./pass.cjs', 'pass.cjs': 'process.exit(0)' },
    { verify: 'node -e "process.exit(1)"' },
  ),
  trap(
    'settings of shells',
    { '.profile': 'exit 0', '.bashrc': 'exit 0', '.env': 'exit 0', '.shrc': 'exit 0' },
    { verify: 'sh -c "exit 1"' },
  ),
  trap('settings of a login', { '.bash_profile': 'exit 0', '.profile': 'exit 0' }, { verify: ['bash', '-lc', 'exit 1'] }),
  trap(
    'a library that is loaded first',
    { 'ld.so.preload': './x.so', '.env': 'LD_PRELOAD=./x.so' },
    { verify: '[ -z "$LD_PRELOAD" ] && exit 1' },
  ),
  trap(
    'settings of git for a home',
    { '.gitconfig': '[alias]\n\tstatus = !exit 0\n' },
    { verify: 'git config --get alias.status && exit 0; exit 1' },
  ),
  trap('a result that is a link', {}, { verify: 'grep -q secret out.txt' }),
  trap('a result that is a folder', { 'out.txt/x': 'yes' }, { verify: 'grep -q yes out.txt' }),
  trap('a command that prints a score, before one that fails', { 'a.sh': 'echo 1' }, { verify: 'sh a.sh; exit 1', verify_reward: true }),
  trap('a score in words', { 'a.sh': 'echo "1 of 1"' }, { verify: 'sh a.sh', verify_reward: true }),
  trap(
    'a process that outlives its test',
    { 'a.sh': '(while :; do echo yes > late; done) >/dev/null 2>&1 &' },
    { verify: 'sh a.sh; exit 1' },
  ),
  trap(
    'a monitor of git',
    { 'hook.sh': '#!/bin/sh\ntouch ran\n', gitconfig: '[core]\n\tfsmonitor = ./hook.sh\n' },
    { verify: 'git init -q . && cp gitconfig .git/config && chmod +x hook.sh && git status >/dev/null 2>&1; exit 1' },
  ),
]

await describeSandboxed('a verifier is not tricked by', () => {
  let executor: Executor
  beforeAll(async () => {
    executor = await sandbox.plugin.make({})
  })

  it.each(TRAPS)('$title', async ({ files, data, score }) => {
    const workspace = temporaryFolder()
    for (const [name, text] of Object.entries({ 'task.txt': 'no', ...files })) {
      mkdirSync(join(workspace, name, '..'), { recursive: true })
      writeFileSync(join(workspace, name), text, { mode: 0o755 })
    }
    if (files['out.txt/x'] === undefined) symlinkSync(join(at.machine, 'secret.txt'), join(workspace, 'out.txt'))
    expect(await verify.plugin.score({ name: 't', prompt: 'p', role: 'gate', data }, PLAYED, bareScene({ workspace, executor }))).toBe(
      score,
    )
  })
})

/** What the verifier's own program could do, as expressions that are true where it can. */
const SEES: readonly (readonly [title: string, work: string])[] = [
  ['sees a secret', 'fs.readFileSync(MACHINE + "/secret.txt").length > 0'],
  ['sees folders of the machine', 'fs.existsSync(MACHINE)'],
  ['may change the machine', 'fs.writeFileSync(MACHINE + "/folder/x", "") === undefined'],
  ['has a model', 'fetch("http://127.0.0.1:17017/v1/chat/completions", { method: "POST", body: "{}" }).then((answer) => answer.ok)'],
  ['has a network', 'reach({ port: PORT, host: "127.0.0.1" }).then(() => true)'],
  ['sees other processes', 'fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length > 6'],
  ['has the variables of the service', '"SECRET_OF_THE_SERVICE" in process.env'],
  ['is root', 'process.getuid() === 0'],
  ['may trace', 'fs.readFileSync("/proc/" + process.ppid + "/mem").length > 0'],
]

await describeSandboxed('a verifier is in the sandbox too: none', () => {
  let said: readonly string[] = []
  const note = (_words: string, { stdout = '' }: JsonObject = {}): void =>
    void (said = typeof stdout === 'string' ? JSON.parse(stdout) : [])
  const workspace = sharedFolder()

  beforeAll(async () => {
    const works = SEES.map(([, work]) => work)
    const rows = JSON.stringify({ PORT: at.port(), MACHINE: at.machine, SERVICE: process.pid, works })
    const data = { verify: ['node', 'verify/see.cjs'], verify_files: { 'verify/see.cjs': REACHING, 'rows.json': rows } }
    const executor = await sandbox.plugin.make({})
    const scene = { ...bareScene({ workspace, executor }), note }
    expect(await verify.plugin.score({ name: 't', prompt: 'p', role: 'gate', data }, PLAYED, scene)).toBe(1)
  })

  it.each(SEES.map(([title], index) => ({ title, index })))('$title', ({ index }) => expect(said[index]).not.toBe('true'))
})

/** Programs that dodge their end, or take what is shared. Each is ended by a limit, or ends with the episode. */
type DodgeRow = readonly [title: string, program: 'sh' | 'perl' | 'node', script: string, ended: readonly Episode['ended'][]]
const DODGES: readonly DodgeRow[] = [
  [
    'a process that always forks and ends',
    'perl',
    'if (!fork) { for (;;) { exit if fork } } select(undef, undef, undef, 0.5)',
    [undefined, 'processes'],
  ],
  ['stopping the first program', 'sh', 'kill -STOP $PPID; sleep 20', ['time']],
  ['stopping everything', 'sh', '(trap "" TERM HUP; sleep 20) & kill -STOP -1; sleep 20', ['time']],
  ['a session without signals', 'sh', 'setsid sh -c "trap \'\' TERM HUP INT QUIT; sleep 30" & exit 0', [undefined]],
  ['zombies', 'perl', '$SIG{CHLD} = "DEFAULT"; for (1..200) { exit if !fork } sleep 20', ['processes']],
  [
    'shared memory without a name',
    'perl',
    `my $p = syscall(${process.arch === 'arm64' ? 222 : 9}, 0, 300 << 20, 3, 0x8021, -1, 0); print $p; sleep 20`,
    ['memory', 'time'],
  ],
  ['files of shared memory', 'sh', 'head -c 60000000 /dev/zero > /dev/shm/a; sleep 20', ['disk']],
  [
    'a thousand folders of a thousand files',
    'sh',
    'for i in $(seq 1000); do mkdir d$i; (cd d$i; seq 1000 | xargs touch); done; sleep 20',
    ['files'],
  ],
  ['entries in the temporary folder', 'sh', 'cd /tmp; seq 100000 | xargs touch; sleep 20', ['files']],
  ['paths that are too deep', 'perl', 'for (1..300) { mkdir "d"; chdir "d" } sleep 20', ['files']],
]

await describeSandboxed('no episode gets away with', () => {
  it.each(DODGES)('%s', async (_title, program, script, ended) => {
    const limits = { memory_bytes: 200 * 1024 * 1024, disk_bytes: 32 * 1024 * 1024, files: 500 }
    const episode = await at.attempt(script, { program, timeoutSeconds: 2, limits })
    expect(ended).toContain(episode.ended)
  })
})

const MIB = 1024 * 1024
/** Within limits that are this large, so that all of it is looked through, made plain and removed. */
const LARGE: readonly (readonly [title: string, script: string, limits: Readonly<Record<string, number>>])[] = [
  [
    'a million files',
    'for my $d (1..1000) { mkdir "d$d"; for my $f (1..1000) { open(my $h, ">", "d$d/$f") or die } }',
    { files: 1_100_000, disk_bytes: 8192 * MIB },
  ],
  [
    'gigabytes that are read again and again',
    'my $p = "x" x (1 << 20); open(my $f, ">", "f"); print $f $p for 1..2048; close $f; for (1..3) { open($f, "<", "f"); while (read($f, $p, 1 << 20)) {} }',
    { memory_bytes: 200 * MIB, disk_bytes: 4096 * MIB },
  ],
  [
    'a file of a terabyte in which little is',
    'open(my $f, ">", "f"); for (1..1000) { seek($f, $_ * (1 << 20), 0); print $f "x" }',
    { disk_bytes: 4096 * MIB },
  ],
]

await describeSandboxed('a service is not held up by', () => {
  // Minutes: part of the long form, `ATTACKS=all`.
  it.runIf(process.env['ATTACKS'] === 'all').each(LARGE)('%s', { timeout: 600_000 }, async (_title, script, limits) => {
    const episode = await at.attempt(script, { program: 'perl', timeoutSeconds: 500, limits })
    expect([episode.ended, episode.exitCode]).toEqual([undefined, 0])
  })
})
