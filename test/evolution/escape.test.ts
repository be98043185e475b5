/** Programs that try to get out of the sandbox: at the machine's files, at what the service knows, at other processes. None may. */
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.ts'
import { sandboxWorld } from './sandbox-world.ts'
import { EPERM, kernel, SAY, triesIn, TRY } from './tries.ts'

const at = sandboxWorld()
const tries = triesIn(at)
const FOREVER = 'setInterval(() => undefined, 1000)'

await describeSandboxed('the files of the machine', () => {
  it('are not there to be read: a secret, the passwords, the home of root, the logs, the sockets of the system', async () => {
    const system = '/etc/shadow /root/.ssh /home /var/log /run/docker.sock /var/run/dbus /sys'.split(' ')
    const paths = [join(at.machine, 'secret.txt'), ...system]
    expect(new Set(await tries.node(...paths.map((path) => `fs.statSync(${JSON.stringify(path)}).ino`)))).toEqual(new Set(['ENOENT']))
  })

  it('cannot be written, anywhere', async () => {
    const folders = '/ /usr /usr/bin /bin /lib /etc /etc/ssl /etc/ssl/certs /dev /proc /run /run/svc /var /root'.split(' ')
    const codes = await tries.node(...folders.map((folder) => `fs.writeFileSync(${JSON.stringify(join(folder, 'escaped'))}, "x")`))
    expect(codes.filter((code) => !['EROFS', 'ENOENT', 'EACCES'].includes(code))).toEqual([])
  })

  it('cannot be changed where they are shown: programs, the settings, Node, its own inputs', async () => {
    const shown = '/usr/bin/env /etc/passwd /etc/hosts /run/svc/inner.mjs /episode/rules.md /episode/model.json'.split(' ')
    const calls = ['appendFileSync("PATH", "x")', 'chmodSync("PATH", 0o777)', 'unlinkSync("PATH")']
    const works = [process.execPath, ...shown].flatMap((path) => calls.map((call) => `fs.${call.replace('PATH', path)}`))
    expect((await tries.node(...works)).filter((code) => !['EROFS', 'EBUSY', 'EACCES', 'EPERM', 'ETXTBSY'].includes(code))).toEqual([])
  })

  it('cannot be linked to', async () => {
    const paths = ['/usr/bin/env', process.execPath, '/etc/passwd', '/run/svc/model.sock', '/episode/rules.md']
    const codes = await tries.node(...paths.map((path, index) => `fs.linkSync("${path}", "link-${index}")`))
    expect(codes.filter((code) => !['EXDEV', 'EPERM', 'EROFS'].includes(code))).toEqual([])
  })

  it('are not reached through what is open, above the root, or behind a process', async () => {
    const paths = '/proc/1/root /proc/self/root /proc/1/cwd /proc/2/cwd /episode/../.. /proc/self/fd/0/../.. /proc/1/root/../..'.split(' ')
    const works = paths.map((path) => `fs.readFileSync("${path}" + ${JSON.stringify(join(at.machine, 'secret.txt'))}, "utf8")`)
    expect((await tries.node(...works)).every((code) => ['ENOENT', 'EACCES', 'ENOTDIR'].includes(code))).toBe(true)
  })

  it('are not open already: nothing but the three usual files is handed on', async () => {
    const script =
      'opendir(my $d, "/proc/self/fd"); print join(" ", sort { $a <=> $b } grep { /^\\d+$/ && readlink("/proc/self/fd/$_") !~ m{/proc/} } readdir $d)'
    expect((await at.attempt(script, { program: 'perl' })).stdout).toBe('0 1 2')
  })

  it('of other episodes are not there, while those run', async () => {
    // Node itself may lie there.
    const own = JSON.stringify(process.execPath.split('/')[2])
    const script = `${TRY} attempt(() => fs.readdirSync("/tmp").filter((name) => name !== ${own}).length + fs.readdirSync("/").filter((name) => /svc-episode/.test(name)).length); fs.writeFileSync("/tmp/mine", "x"); ${SAY}`
    const episodes = await Promise.all([at.attempt(script), at.attempt(script), at.attempt(script)])
    expect(episodes.map(({ stdout }) => stdout)).toEqual(['0', '0', '0'])
  })

  it('stay apart from devices: no disk, no memory, no virtual machine, and none can be made', async () => {
    const devices = '/dev/mem /dev/kmem /dev/kvm /dev/sda /dev/vda /dev/nvme0 /dev/fuse /dev/net/tun /dev/loop-control /dev/vsock'.split(
      ' ',
    )
    expect(new Set(await tries.node(...devices.map((path) => `fs.openSync("${path}", "r+")`)))).toEqual(new Set(['ENOENT']))
    expect(await tries.perl(kernel('mknodat', '-100, $disk, 0060666, (254 << 8)'))).toEqual([EPERM])
  })
})

await describeSandboxed('what the service knows', () => {
  it('is not in the environment of any process', async () => {
    const script = `${TRY} for (const name of fs.readdirSync("/proc").filter((entry) => /^\\d+$/.test(entry))) attempt(() => fs.readFileSync("/proc/" + name + "/environ", "latin1")); said.push(JSON.stringify(process.env)); ${SAY}`
    const { stdout } = await at.attempt(script)
    expect(stdout).not.toContain(at.secret)
    expect(stdout).not.toContain('SECRET_OF_THE_SERVICE')
  })

  it('is not in the words of any process, and the machine’s processes are not there', async () => {
    const script = `${TRY} const all = fs.readdirSync("/proc").filter((entry) => /^\\d+$/.test(entry)); said.push(all.length); for (const name of all) attempt(() => fs.readFileSync("/proc/" + name + "/cmdline", "latin1")); ${SAY}`
    const { stdout } = await at.attempt(script)
    expect(Number(stdout.split(' ')[0])).toBeLessThanOrEqual(3)
    expect(stdout).not.toContain('token-of-the-evaluation-routes')
    expect(stdout).not.toContain(at.machine)
    expect(stdout).not.toContain('svc-episode-')
  })

  it('is in none of its files: not the token of the evaluation routes, nor where they are', async () => {
    const { stdout } = await at.attempt(
      `process.stdout.write(require("node:child_process").execSync("cat /episode/model.json; grep -rs token-of-the /episode /run /etc /tmp || true"))`,
    )
    expect(JSON.parse(stdout)).toMatchObject({ url: 'http://127.0.0.1:17017', model: 'm' })
    expect(stdout).not.toContain('token-of-the-evaluation-routes')
  })

  it('cannot be read out of the kernel: its log, its memory, its symbols, its keys', async () => {
    const paths = ['/proc/kmsg', '/proc/kcore', '/proc/kallsyms', '/proc/keys', '/proc/timer_list', '/proc/slabinfo', '/dev/kmsg']
    const said = await tries.node(...paths.map((path) => `fs.readFileSync("${path}").length`))
    expect(said.every((word) => ['ENOENT', 'EPERM', 'EACCES', '0'].includes(word))).toBe(true)
  })
})

await describeSandboxed('other processes', () => {
  it('outlive a kill of every process it can name', async () => {
    const { exitCode, ended } = await at.attempt('kill -9 -1; kill -9 1; sleep 20', { program: 'sh' })
    expect([exitCode, ended]).toEqual([137, undefined])
  })

  it('outlive a kill of its parent and of the first process', async () => {
    const { exitCode, ended } = await at.attempt(
      `try { process.kill(1, "SIGKILL") } catch {} process.kill(process.ppid, "SIGKILL"); ${FOREVER}`,
    )
    expect([exitCode, ended]).toEqual([137, undefined])
  })

  it('of the machine have no number that could be signalled', async () => {
    const kills = [process.pid, process.ppid].map((pid) => `process.kill(${pid}, "SIGKILL")`)
    expect(new Set(await tries.node(...kills))).toEqual(new Set(['ESRCH']))
  })

  it('cannot be traced, nor their memory be read or written', async () => {
    const calls = [
      kernel('ptrace', '0, 0, 0, 0'),
      kernel('ptrace', '16, getppid(), 0, 0'),
      kernel('process_vm_readv', 'getppid(), 0, 0, 0, 0, 0'),
    ]
    expect(await tries.perl(...calls)).toEqual([EPERM, EPERM, EPERM])
  })

  it('that it starts and detaches end with it, before the workspace is inspected', async () => {
    const writer = 'for (;;) require("node:fs").appendFileSync("beats", "x")'
    const script = `const { spawn } = require("node:child_process"); spawn("setsid", [process.execPath, "-e", ${JSON.stringify(writer)}], { detached: true, stdio: "ignore" }).unref(); setInterval(() => require("node:fs").existsSync("beats") && process.exit(), 5)`
    const sizes = new Set<number>()
    const inspect = async (workspace: string): Promise<void> => {
      for (let look = 0; look < 300; look += 1) sizes.add(statSync(join(workspace, 'beats')).size)
    }
    expect((await at.attempt(script, { play: { inspect } })).exitCode).toBe(0)
    expect(sizes.size).toBe(1)
  })

  it('that wait for the grader do not live to see it', async () => {
    const wait = 'while [ ! -e graded ]; do :; done; echo passed > verdict'
    const script = `setsid sh -c '${wait}' >/dev/null 2>&1 & (trap "" TERM HUP INT; nohup sh -c '${wait}' >/dev/null 2>&1 &) ; exit 0`
    const seen = new Set<string>()
    const inspect = async (workspace: string): Promise<void> => {
      writeFileSync(join(workspace, 'graded'), '')
      for (let look = 0; look < 300; look += 1) for (const name of readdirSync(workspace)) seen.add(name)
    }
    expect((await at.attempt(script, { program: 'sh', play: { inspect } })).ended).toBeUndefined()
    expect([...seen].sort()).toEqual(['graded', 'task.txt'])
  })
})
