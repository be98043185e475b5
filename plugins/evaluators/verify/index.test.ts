/** The evaluator verify, with real commands on real workspaces, and agents that left traps in them. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bareScene, evaluatorConformance, playOf } from '../../../conformance/index.ts'
import type { Episode, EpisodeEnd, Executor, Files, JsonObject, Play, Scene, Task } from '../../../src/contract/index.ts'
import { mountDisk, sharedFolder, temporaryFolder } from '../../../test/support/folder.ts'
import local from '../../executors/local/index.ts'
import { describeSandboxed } from '../../../test/support/sandbox.ts'
import sandbox from '../../executors/sandbox/index.ts'
import { copyWorkspace } from './copy.ts'
import verify from './index.ts'

const runner = await local.plugin.make({})

const played: Episode = { exitCode: 0, stdout: '', stderr: '', trajectory: [] }
const taskOf = (data: JsonObject): Task => ({ name: 't', prompt: 'p', role: 'gate', data })

const sceneOf = (workspace: string | null, executor: Executor = runner): Scene => bareScene({ workspace, executor })

function workspaceOf(files: Files, folder = temporaryFolder()): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const score = (data: JsonObject, workspace: string | null, executor?: Executor): Promise<number | null> =>
  verify.plugin.score(taskOf(data), played, sceneOf(workspace, executor))

describe('the evaluator verify', () => {
  const solved = workspaceOf({ 'out.txt': '42' }, sharedFolder())
  const empty = sharedFolder()
  const good = { ...played, stdout: 'done' }
  evaluatorConformance({
    describe,
    it,
    evaluator: verify.plugin,
    task: taskOf({ verify: 'grep -qx 42 out.txt' }),
    good,
    bad: played,
    sceneOf: (episode) => sceneOf(episode === good ? solved : empty),
  })

  it('runs a list of words without a shell, and text with one', async () => {
    const workspace = workspaceOf({ 'a b': '$HOME' })
    expect(await score({ verify: ['grep', '-qxF', '$HOME', 'a b'] }, workspace)).toBe(1)
    expect(await score({ verify: 'test "$(cat a*b)" = "\\$HOME" && exit 0' }, workspace)).toBe(1)
    expect(await score({ verify: 'exit 3' }, workspace)).toBe(0)
  })

  it.each<readonly [string, number]>([
    ['echo noise; echo 0.25', 0.25],
    ['echo 1', 1],
    ['echo 0', 0],
    ['echo 1.5', 0],
    ['echo -1', 0],
    ['echo NaN', 0],
    ['echo much better', 0],
    ['true', 0],
    ['echo 1; exit 1', 0],
  ])('goes by the number in the last line where the task says so: %s is %d', async (command, reward) => {
    expect(await score({ verify: command, verify_reward: true }, workspaceOf({}))).toBe(reward)
  })

  it('leaves the workspace as the agent left it, and nothing behind', async () => {
    const workspace = workspaceOf({ 'a.txt': '1' })
    const machine = folderForCopies()
    expect(await score({ verify: 'rm a.txt; echo x > b.txt', verify_files: { 'c.txt': '' } }, workspace)).toBe(1)
    expect(readdirSync(workspace)).toEqual(['a.txt'])
    expect(readdirSync(machine)).toEqual([])
  })

  it('copies folders, bytes that are no text, and which files are programs', async () => {
    const workspace = workspaceOf({ 'bin/run': '#!/bin/sh\nexit 0\n' })
    chmodSync(join(workspace, 'bin/run'), 0o4755)
    writeFileSync(join(workspace, 'data'), Buffer.from([0, 255, 254]))
    expect(await score({ verify: './bin/run && test "$(wc -c < data)" -eq 3 && ! test -u bin/run' }, workspace)).toBe(1)
  })

  it.each<readonly [EpisodeEnd, number | null]>([
    ['start', null],
    ['time', 0],
    ['memory', 0],
  ])('an agent that ended by %s gets %j', async (ended, points) => {
    expect(await verify.plugin.score(taskOf({ verify: 'true' }), { ...played, ended }, sceneOf(workspaceOf({})))).toBe(points)
  })

  it('a command that ran into a limit is a verdict on what the agent left', async () => {
    for (const ended of ['time', 'memory'] as const)
      expect(await score({ verify: 'true' }, workspaceOf({}), recorder({ ...played, ended }))).toBe(0)
  })

  it.each<readonly [string, JsonObject]>([
    ['is missing', { verify: 'no-such-program' }],
    ['is missing, without a shell', { verify: ['no-such-program', 'a'] }],
    ['is missing inside its script', { verify: 'sh verify/run.sh', verify_files: { 'verify/run.sh': 'true\nno-such-program' } }],
    ['may not be run', { verify: './verify/run.sh', verify_files: { 'verify/run.sh': 'true' } }],
    ['says so itself', { verify: 'exit 127' }],
  ])('is no verdict where its own program %s', async (_what, data) => {
    await expect(score(data, workspaceOf({ a: '1' }))).rejects.toMatchObject({ kind: 'unavailable', code: 'no_verdict' })
  })

  it.each<readonly [string, JsonObject]>([
    ['in a script of its own', { verify: 'sh app.sh' }],
    ['in what the verifier starts', { verify: 'sh verify/run.sh', verify_files: { 'verify/run.sh': 'sh app.sh && test -s out' } }],
    ['in a folder that it took away', { verify: 'cd src || exit 126' }],
  ])('an agent that has it end with 126 or 127 %s gets 0', async (_what, data) => {
    const task: Task = { ...taskOf(data), files: { 'app.sh': 'echo ok > out', 'src/a': '1' } }
    for (const code of [126, 127]) {
      const workspace = workspaceOf({ 'app.sh': `exit ${code}` })
      expect(await verify.plugin.score(task, played, sceneOf(workspace))).toBe(0)
    }
  })

  it('is no verdict where it could not be started, or could not read the copy', async () => {
    const workspace = workspaceOf({ a: '1' })
    await expect(score({ verify: 'true' }, workspace, recorder({ ...played, ended: 'start' }))).rejects.toThrow('could not be started')
    const blind: Executor = {
      run: async (play, signal) => {
        const { argv, ...rest } = play.launch('/root')
        const launch = { ...rest, argv: argv.map((word) => word.replace(/svc-episode-.*/, 'gone')) }
        return runner.run({ ...play, launch: () => launch }, signal)
      },
    }
    await expect(score({ verify: 'true' }, workspace, blind)).rejects.toThrow('cannot read the copy of the workspace')
  })

  it('a program that the agent should have left, and did not, is a verdict', async () => {
    expect(await score({ verify: './hello.sh' }, workspaceOf({}))).toBe(0)
    expect(await score({ verify: ['./hello.sh'] }, workspaceOf({ 'hello.sh': 'exit 0' }))).toBe(0)
  })

  it('keeps the exit code and the end of what was printed', async () => {
    const notes: unknown[] = []
    const scene: Scene = { ...sceneOf(workspaceOf({})), note: (...said) => void notes.push(said) }
    const command = 'echo out; for i in $(seq 4000); do echo xxxx; done >&2; echo the sum is 41 >&2; exit 3'
    expect(await verify.plugin.score(taskOf({ verify: command }), played, scene)).toBe(0)
    expect(notes).toEqual([
      [
        'the verifier: exit code 3: the sum is 41',
        { exit_code: 3, ended: null, stdout: 'out\n', stderr: expect.stringMatching(/^\[\d+ characters dropped\] [^]{8000}$/) },
      ],
    ])
  })

  it('cannot say where there is no workspace', async () => {
    expect(await score({ verify: 'true' }, null)).toBe(null)
  })

  it('asks for a command without a model, a file of the tree or a limit beyond its own', async () => {
    const executor = recorder(played)
    await score({ verify: 'true', verify_files: { 'verify/secret.sh': 'x' } }, workspaceOf({ a: '1' }), executor)
    const [play] = executor.plays
    expect([play?.files(play.model), play?.workspace, play?.model.apiKey]).toEqual([{}, {}, null])
    expect(play?.launch('/root').argv.slice(0, 2)).toEqual(['sh', '-c'])
  })

  it.each<readonly [string, JsonObject]>([
    ['no command', {}],
    ['a blank command', { verify: ' ' }],
    ['no words', { verify: [] }],
    ['a word that is none', { verify: ['true', 1] }],
    ['files that are none', { verify: 'true', verify_files: { a: 1 } }],
    ['a reward that is neither yes nor no', { verify: 'true', verify_reward: 'yes' }],
    ['a file that leads out', { verify: 'true', verify_files: { '../a': '' } }],
  ])('refuses a task with %s', async (_what, data) => {
    await expect(score(data, workspaceOf({}))).rejects.toMatchObject({ name: 'Refusal', kind: 'invalid' })
  })

  it('keeps no copy when the command cannot be run', async () => {
    const workspace = workspaceOf({ a: '1' })
    const machine = folderForCopies()
    const seen: string[] = []
    const broken: Executor = { run: ({ needs }) => (seen.push(...readdirSync(needs[0] ?? '')), Promise.reject(new Error('no room'))) }
    await expect(score({ verify: 'true' }, workspace, broken)).rejects.toThrow('no room')
    expect([seen, readdirSync(machine)]).toEqual([['a'], []])
  })

  it('leaves a copy that was cut off for the next start of an executor to remove', async () => {
    const workspace = workspaceOf({ a: '1' })
    const machine = folderForCopies()
    const seen: string[] = []
    const watching: Executor = { run: () => (seen.push(...readdirSync(machine)), Promise.resolve(played)) }
    await score({ verify: 'true' }, workspace, watching)
    const { pid } = spawnSync('true')
    const [name = ''] = seen
    mkdirSync(join(machine, name.replace(`-${process.pid}-`, `-${pid}-`)))
    mkdirSync(join(machine, name))
    await local.plugin.make({})
    expect(readdirSync(machine)).toEqual([name])
  })

  it('gives up where the disk is full, and keeps nothing: neither side gets a score', async () => {
    const workspace = workspaceOf({ a: 'x'.repeat(4_000_000) })
    const disk = folderForCopies(mountDisk('size=1m'))
    await expect(score({ verify: 'true' }, workspace)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(readdirSync(disk)).toEqual([])
  })
})

describe('what an agent left for the verifier', () => {
  it('gives way to the verifier’s own files', async () => {
    const workspace = workspaceOf({ 'check.sh': 'exit 0', 'deep/check.sh': 'exit 0' })
    expect(await score({ verify: 'sh check.sh', verify_files: { 'check.sh': 'exit 1' } }, workspace)).toBe(0)
    expect(await score({ verify: 'sh deep/check.sh', verify_files: { 'deep/check.sh': 'exit 1' } }, workspace)).toBe(0)
  })

  it('gives way where it is a folder, a file in place of a folder, or a link', async () => {
    const outside = temporaryFolder()
    const workspace = workspaceOf({ 'check.sh/x': '', way: 'a file' })
    symlinkSync(outside, join(workspace, 'led'))
    symlinkSync('way', join(workspace, 'linked.sh'))
    const files = { 'check.sh': 'exit 1', 'way/check.sh': 'exit 1', 'led/check.sh': 'exit 1', 'linked.sh': 'exit 1' }
    for (const path of Object.keys(files)) expect(await score({ verify: `sh ${path}`, verify_files: files }, workspace)).toBe(0)
    expect([readdirSync(outside), readFileSync(join(workspace, 'way'), 'utf8')]).toEqual([[], 'a file'])
  })

  it('is gone from the folder that is the verifier’s alone', async () => {
    const workspace = workspaceOf({ 'verify/helper.sh': 'exit 0' })
    const data = { verify: 'sh verify/run.sh', verify_files: { 'verify/run.sh': 'test ! -e verify/helper.sh' } }
    expect(await score(data, workspace)).toBe(1)
    expect(await score({ verify: 'test -e verify/helper.sh' }, workspace)).toBe(1)
  })

  it('is not followed out of the workspace', async () => {
    const secret = join(workspaceOf({ secret: 'x' }), 'secret')
    const workspace = workspaceOf({ 'a/b': '1' })
    symlinkSync(secret, join(workspace, 'absolute'))
    symlinkSync(dirname(secret), join(workspace, 'folder'))
    symlinkSync('..', join(workspace, 'up'))
    symlinkSync('nowhere', join(workspace, 'dangling'))
    symlinkSync('loop', join(workspace, 'loop'))
    symlinkSync('a/b', join(workspace, 'inside'))
    // Word by word this one stays inside; what it reaches does not.
    mkdirSync(join(workspace, 'c/d'), { recursive: true })
    symlinkSync('../..', join(workspace, 'c/d/root'))
    symlinkSync('c/d/root/../../etc', join(workspace, 'crooked'))
    const gone = ['absolute', 'folder', 'up', 'dangling', 'loop', 'crooked'].map((name) => `test ! -e ${name} && test ! -L ${name}`)
    expect(await score({ verify: [...gone, 'test -L inside', 'grep -q 1 inside'].join(' && ') }, workspace)).toBe(1)
  })

  it('is left out where reading it would never end', async () => {
    const workspace = workspaceOf({ a: '1' })
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(workspace, 'pipe')])
    expect(await score({ verify: 'test -e a && test ! -e pipe' }, workspace)).toBe(1)
  })

  it('scores nothing once it is more than will be copied', async () => {
    const large = workspaceOf({ sparse: '' })
    truncateSync(join(large, 'sparse'), 2 ** 40)
    expect(await score({ verify: 'true' }, large)).toBe(0)
  })

  it('is counted in bytes and in entries, folders and links too', async () => {
    const workspace = workspaceOf({ 'a/b': '1234', c: '12' })
    symlinkSync('c', join(workspace, 'd'))
    for (const [bytesMax, entriesMax, fits] of [
      [6, 4, true],
      [5, 4, false],
      [6, 3, false],
    ] as const)
      expect(await copyWorkspace(workspace, temporaryFolder(), { bytesMax, entriesMax })).toBe(fits)
  })

  it('may be deep, oddly named and unreadable', async () => {
    const workspace = workspaceOf({ [`${'d/'.repeat(50)}end`]: '1', 'a\nb "c" $d': '2' })
    mkdirSync(join(workspace, 'closed'), { mode: 0o000 })
    const command = `test -e ${'d/'.repeat(50)}end && ls | grep -q '"c" [$]d' && test -d closed`
    expect(await score({ verify: command }, workspace)).toBe(1)
    expect(existsSync(workspace)).toBe(true)
  })
})

/** Runs nothing, and keeps what it should have run. */
function recorder(answer: Episode): Executor & { readonly plays: readonly Play[] } {
  const plays: Play[] = []
  return {
    plays,
    async run(play) {
      plays.push(play)
      return answer
    },
  }
}

/** The temporary folder of the service, for this test alone. */
function folderForCopies(folder = temporaryFolder()): string {
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  return folder
}

/** Plays an episode that writes a file, as an agent would, and verifies it. Prints the score. */
const PLAYED_AND_VERIFIED = (executor: string): string => `
  const { default: { plugin } } = await import(${JSON.stringify(new URL('../../executors/', import.meta.url).href)} + ${JSON.stringify(executor)} + '/index.ts')
  const { default: { plugin: verify } } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
  const executor = await plugin.make({})
  const signal = new AbortController().signal
  const task = { name: 't', prompt: 'p', role: 'gate', data: { verify: 'grep -qx 42 out.txt && test -x deep/run && sh verify/run.sh', verify_files: { 'verify/run.sh': 'echo fine' } } }
  const scores = []
  await executor.run({
    files: () => ({}),
    workspace: {},
    model: { url: 'http://127.0.0.1:9', model: null, api: 'openai', apiKey: null },
    launch: () => ({ argv: ['sh', '-c', 'umask 077; echo 42 > out.txt; mkdir deep; echo > deep/run; chmod 700 deep/run'], env: {}, timeoutSeconds: 30 }),
    readTrajectory: async () => [],
    needs: [],
    inspect: async (workspace, episode) => {
      scores.push(await verify.score(task, episode, { workspace, models: {}, executor, reference: null, signal }))
    },
  }, signal)
  console.log(JSON.stringify(scores))
`

/** Uses a copy of Node in a folder that all users may read, since the one that runs this test may be in root's home. */
function runAs(user: number | null, program: string): string {
  const folder = mkdtempSync('/var/tmp/svc-test-')
  onTestFinished(() => void spawnSync('rm', ['-rf', folder]))
  writeFileSync(join(folder, 'try.mjs'), program)
  spawnSync('cp', [process.execPath, join(folder, 'node')])
  spawnSync('chmod', ['-R', 'a+rX', folder])
  const { stdout, stderr } = spawnSync(join(folder, 'node'), [join(folder, 'try.mjs')], {
    ...(user !== null && { uid: user, gid: user }),
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
  })
  return stdout + stderr
}

const USERS: readonly (readonly [string, number | null])[] =
  process.getuid?.() === 0
    ? [
        ['root', null],
        ['nobody', 65534],
      ]
    : [['this user', null]]

it.each(USERS)('%s verifies what an agent left, without a sandbox', (_name, user) => {
  expect(runAs(user, PLAYED_AND_VERIFIED('local'))).toBe('[1]\n')
})

await describeSandboxed('verify in a sandbox', () => {
  it.each(USERS)('%s verifies what an agent left', (_name, user) => {
    expect(runAs(user, PLAYED_AND_VERIFIED('sandbox'))).toBe('[1]\n')
  })

  it('runs as a user of its own where the service is root, as the agent does, and no other user of the machine may read the copy', async () => {
    const executor = await sandbox.plugin.make({})
    const workspace = workspaceOf({ 'folder/a': '42' })
    chmodSync(join(workspace, 'folder'), 0o700)
    chmodSync(join(workspace, 'folder/a'), 0o600)
    const modes: number[] = []
    const watching: Executor = {
      run: (play, signal) => {
        modes.push(...play.needs.map((path) => statSync(dirname(path)).mode & 0o777))
        return executor.run(play, signal)
      },
    }
    const verifyFiles = { verify_files: { 'verify/answer': '42\n' } }
    expect(await score({ verify: 'test "$(cat folder/a)" = "$(cat verify/answer)"', ...verifyFiles }, workspace, watching)).toBe(1)
    expect(modes).toEqual([0o700])
    const agent = playOf('', { launch: () => ({ argv: ['id', '-u'], env: {}, timeoutSeconds: 60 }) })
    const { stdout } = await executor.run(agent, new AbortController().signal)
    const alike = `test "$(id -u)" ${Number(stdout) < 2_000_000_000 ? '-lt' : '-ge'} 2000000000`
    expect(await score({ verify: alike }, workspace, executor)).toBe(1)
  })

  it('runs in the sandbox as it does without', async () => {
    const executor = await sandbox.plugin.make({})
    const workspace = workspaceOf({ a: '42' })
    symlinkSync('a', join(workspace, 'b'))
    const data = { verify: 'sh verify/run.sh', verify_files: { 'verify/run.sh': 'grep -qx 42 b && echo written > c && cat c' } }
    expect(await score(data, workspace, executor)).toBe(1)
    expect(await score({ verify: 'grep -qx 41 b' }, workspace, executor)).toBe(0)
  })
})
