/** Programs that exhaust the machine, and leftover files that attack their reader or remover. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Episode } from '../../src/contract/index.ts'
import { describeSandboxed } from '../support/sandbox.ts'
import { until } from '../support/wait.ts'
import { sandboxWorld, readLog, type Attempt } from './sandbox-world.ts'

const at = sandboxWorld()
const FS = 'const fs = require("node:fs");'
const FOREVER = 'setInterval(() => undefined, 1000);'

async function readAll(workspace: string): Promise<void> {
  for (const name of readdirSync(workspace)) readFileSync(join(workspace, name))
}

const THREADS: Attempt = { env: { UV_THREADPOOL_SIZE: '400' } }
const FORKED_MEMORY = 'for (1..20) { fork or last } my $all = "x" x (64 << 20); sleep 30'
const SEVERAL_FILES = `${FS} const part = Buffer.alloc(10 << 20, 1); for (const path of ["a", "/tmp/b", "/dev/shm/c", "d"]) fs.writeFileSync(path, part); ${FOREVER}`
const UNNAMED_FILES = `${FS} const part = Buffer.alloc(20 << 20, 1); for (const path of ["a", "b", "c"]) { const file = fs.openSync(path, "w"); fs.unlinkSync(path); fs.writeSync(file, part) } ${FOREVER}`
const LINKS = `${FS} for (let i = 0; ; i += 1) { fs.mkdirSync("/tmp/folder-" + i); fs.symlinkSync("x", "/dev/shm/link-" + i) }`
const HIDDEN_LOOPS = 'trap "" TERM INT HUP; setsid sh -c "trap \'\' TERM; while :; do :; done" & while :; do :; done'

await describeSandboxed('using everything up', () => {
  it.each<readonly [string, Episode['ended'], string, Attempt]>([
    // By exec: a shell that cannot fork any more ends, and all of them could be gone before the limit is checked.
    ['forks for ever', 'processes', 'b() { b & b & exec sleep 30; }; b', { program: 'sh' }],
    ['forks for ever, each out of reach of the one before', 'processes', 'fork, setpgrp while 1', { program: 'perl' }],
    [
      'starts threads without end',
      'processes',
      `${FS} for (let i = 0; i < 2000; i += 1) fs.stat("/", () => undefined); ${FOREVER}`,
      THREADS,
    ],
    ['takes all memory', 'memory', 'const all = []; setInterval(() => all.push(Buffer.alloc(1 << 26, 1)), 10)', {}],
    ['takes all memory, a little in each of many processes', 'memory', FORKED_MEMORY, { program: 'perl', limits: { processes: 4096 } }],
    ['fills the disk with one file', 'disk', `${FS} const part = Buffer.alloc(1 << 20, 1); for (;;) fs.appendFileSync("big", part)`, {}],
    ['fills the disk with several, also beside its folder', 'disk', SEVERAL_FILES, {}],
    ['fills the disk with files that have no name any more', 'disk', UNNAMED_FILES, {}],
    ['makes files without end', 'files', `${FS} for (let i = 0; ; i += 1) fs.writeFileSync("file-" + i, "")`, {}],
    ['makes folders and links without end, beside its folder', 'files', LINKS, {}],
    ['takes more time than it has, however it hides', 'time', HIDDEN_LOOPS, { program: 'sh', timeoutSeconds: 1 }],
  ])('%s', async (_what, ended, script, attempt) => {
    expect((await at.attempt(script, attempt)).ended).toBe(ended)
  })

  it('says that a file is larger than any disk', async () => {
    const script = `${FS} process.on("SIGXFSZ", () => undefined); try { fs.truncateSync("holes", 1e15) } catch {} try { fs.writeFileSync("holes", ""); fs.truncateSync("holes", 1e15) } catch (error) { process.stdout.write(error.code) }`
    const sizes: number[] = []
    const inspect = async (workspace: string): Promise<void> => void sizes.push(statSync(join(workspace, 'holes')).size)
    expect((await at.attempt(script, { play: { inspect } })).stdout).toBe('EFBIG')
    expect(sizes).toEqual([0])
  })

  it('opens files without end', async () => {
    const script = `${FS} const open = () => { try { for (;;) fs.openSync("/dev/null") } catch (error) { process.stdout.write(error.code) } }; open()`
    expect((await at.attempt(script)).stdout).toBe('EMFILE')
  })

  it('prints without end, and what it printed first is kept', async () => {
    const { ended, stdout, stderr } = await at.attempt('yes 1>&2', { program: 'sh' })
    expect([ended, stdout, stderr.slice(0, 4), stderr.length]).toEqual(['output', '', 'y\ny\n', 16 * 1024 * 1024])
  })

  it('is given up when its signal aborts, whatever it does', async () => {
    const controller = new AbortController()
    const files = (): Record<string, string> => {
      void until(at.isRunning).then(() => controller.abort(new Error('enough')))
      return {}
    }
    const script = 'trap "" TERM; while :; do (setsid sh -c "echo x > file" &); done'
    await expect(
      at.attempt(script, { program: 'sh', signal: controller.signal, limits: { processes: 1000 }, play: { files } }),
    ).rejects.toThrow('enough')
  })
})

await describeSandboxed('remains', () => {
  it('hold no log when the agent removed it', async () => {
    const { trajectory, exitCode } = await at.attempt(`${FS} fs.writeFileSync("../log.jsonl", "{}"); fs.unlinkSync("../log.jsonl")`)
    expect([trajectory, exitCode]).toEqual([[], 0])
  })

  it('lead no reader out of the folder: a log that is a link to a file of the machine', async () => {
    const target = join(at.machine, 'secret.txt')
    for (const script of [
      `fs.symlinkSync(${JSON.stringify(target)}, "../log.jsonl")`,
      `fs.symlinkSync("../../../../../../../..${target}", "../log.jsonl")`,
    ])
      expect((await at.attempt(`${FS} ${script}`)).trajectory).toEqual([])
  })

  it('lead no reader out of the folder: a folder of logs that is a link', async () => {
    const script = `${FS} fs.symlinkSync(${JSON.stringify(at.machine)}, "../logs"); fs.mkdirSync("a"); fs.symlinkSync("..", "a/loop"); fs.symlinkSync("/", "all")`
    const seen: string[] = []
    const inspect = async (workspace: string): Promise<void> =>
      void seen.push(...readdirSync(workspace, { recursive: true, encoding: 'utf8' }))
    const { trajectory } = await at.attempt(script, { play: { readTrajectory: (root) => readLog(join(root, 'logs/secret.txt')), inspect } })
    expect([trajectory, seen.sort()]).toEqual([[], ['a', 'task.txt']])
  })

  it('make no reader wait: a pipe, a socket and a device where a log should be', async () => {
    const pipes = await at.attempt('mkfifo ../log.jsonl pipe; ln -s /dev/zero zero', { program: 'sh', play: { inspect: readAll } })
    expect(pipes.trajectory).toEqual([])
    const socket = `require("node:net").createServer().listen("../log.jsonl", () => process.kill(process.pid, "SIGKILL"))`
    expect((await at.attempt(socket)).trajectory).toEqual([])
  })

  it('are removed without following a link out of them', async () => {
    const script = `${FS} for (const [name, to] of Object.entries({ a: ${JSON.stringify(at.machine)}, b: "/", c: "../../../..", d: "/tmp" })) fs.symlinkSync(to, name); fs.mkdirSync("e"); fs.symlinkSync(${JSON.stringify(join(at.machine, 'folder'))}, "e/f")`
    expect((await at.attempt(script)).exitCode).toBe(0)
  })

  it('are removed when they are deeper than any path is long', async () => {
    const script = `${FS} for (let i = 0; i < 4000; i += 1) { fs.mkdirSync("d"); process.chdir("d") }`
    expect((await at.attempt(script, { limits: { files: 20_000 } })).ended).toBe('files')
  })

  it('are removed when names are as long and deep as names can be', async () => {
    const script = `${FS} const name = "n".repeat(255); for (let i = 0; i < 60; i += 1) { fs.mkdirSync(name); process.chdir(name) }`
    expect((await at.attempt(script)).ended).toBe('files')
  })

  it('are removed when their mode lets no user enter or read them', async () => {
    const script = `${FS} fs.mkdirSync("a/b/c", { recursive: true }); fs.writeFileSync("a/b/c/d", "x"); fs.writeFileSync("e", "x"); for (const path of ["a/b/c/d", "a/b/c", "a/b", "a", "e", "..", "."]) fs.chmodSync(path, 0)`
    const texts: string[] = []
    const inspect = async (workspace: string): Promise<void> => void texts.push(readFileSync(join(workspace, 'a/b/c/d'), 'utf8'))
    expect((await at.attempt(script, { play: { inspect } })).ended).toBeUndefined()
    expect(texts).toEqual(['x'])
  })

  it('may have any name', async () => {
    const script = `${FS} for (const name of ["a\\nb", "-rf", "$(touch evil)", "\\u202egnp.exe", " ", "*", "\\\\", "'; rm -rf ~", "\\x1b[2J"]) fs.writeFileSync(name, "x"); fs.writeFileSync(Buffer.from([0xff, 0xfe, 0x80]), "x"); fs.mkdirSync(Buffer.from([0xff])); fs.symlinkSync(${JSON.stringify(at.machine)}, Buffer.from([0xff, 0x2f, 0xfe]))`
    const paths: Buffer[] = []
    const inspect = async (workspace: string): Promise<void> => {
      for (const name of readdirSync(workspace, { encoding: 'buffer' })) paths.push(Buffer.concat([Buffer.from(`${workspace}/`), name]))
      expect(paths.filter((path) => lstatSync(path).isSymbolicLink())).toEqual([])
    }
    expect((await at.attempt(script, { play: { inspect } })).exitCode).toBe(0)
    expect(paths).toHaveLength(12)
  })

  it('are a workspace, whatever the agent replaced it with', async () => {
    const works = [
      `fs.symlinkSync(${JSON.stringify(at.machine)}, "/episode/workspace")`,
      'fs.writeFileSync("/episode/workspace", "x")',
      '1',
    ]
    for (const work of works) {
      const seen: unknown[] = []
      const inspect = async (workspace: string): Promise<void> => void seen.push(readdirSync(workspace))
      const script = `${FS} fs.renameSync("/episode/workspace", "/episode/other"); ${work}`
      expect((await at.attempt(script, { play: { inspect } })).exitCode).toBe(0)
      expect(seen).toEqual([[]])
    }
  })

  it('print as they are, without a terminal on the way', async () => {
    const words = '\u001b]0;owned\u0007\u001b[2J\u0000\r\u0008'
    expect((await at.attempt(`process.stdout.write(${JSON.stringify(words)})`)).stdout).toBe(words)
  })

  it('do nothing to the next episode: not by a library, a setting, a hook or a module that it left', async () => {
    const left = `${FS} for (const path of ["/tmp/evil.js", "/dev/shm/evil.js", "/episode/.bashrc", "/episode/.npmrc", "/episode/.gitconfig", "/episode/node_modules/fs.js", "/episode/workspace/.git/hooks/post-checkout", "/episode/workspace/node_modules/test/index.js"]) { fs.mkdirSync(require("node:path").dirname(path), { recursive: true }); fs.writeFileSync(path, "evil") } try { fs.writeFileSync("/etc/ld.so.preload", "/tmp/evil.so") } catch (error) { process.stdout.write(error.code) }`
    expect((await at.attempt(left)).stdout).toBe('EROFS')
    // Node itself may lie there.
    const look = `find /tmp /dev/shm /episode -type f ! -path '${process.execPath}' | sort; cat /etc/ld.so.preload 2>/dev/null; env | grep -c LD_`
    expect((await at.attempt(look, { program: 'sh' })).stdout).toBe(
      '/episode/model.json\n/episode/rules.md\n/episode/workspace/task.txt\n0\n',
    )
  })
})
