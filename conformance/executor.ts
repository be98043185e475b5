/** What every executor must do, as a suite that any test runner with `describe` and `it` can run. */
import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Episode, Executor, JsonObject, Launch, Play } from '../src/contract/index.ts'
import { assertGivenUp, assertRefused, assertUntouched, type Runner } from './support.ts'

export interface ExecutorSuite extends Runner {
  /** One that runs commands where the Node of this suite is found under its own path. */
  readonly make: () => Executor | Promise<Executor>
}

/** Ending a process tree takes a moment. */
const GIVE_UP_MS_MAX = 5000
const FOREVER = 'setInterval(() => undefined, 1000)'

export function executorConformance(suite: ExecutorSuite): void {
  const { describe } = suite
  describe('running', () => describeRunning(suite))
  describe('apart', () => describeApart(suite))
  describe('ending', () => describeEnding(suite))
}

function describeRunning(suite: ExecutorSuite): void {
  suite.it('an episode is what the command printed and how it ended', async () => {
    const script = 'console.log("é out"); console.error("err"); process.exitCode = 3'
    const { exitCode, stdout, stderr, trajectory } = await run(suite, script)
    assert.deepEqual([exitCode, stdout.trim(), stderr.trim(), trajectory], [3, 'é out', 'err', []])
  })
  suite.it('the files are there, in the folder the command starts in', async () => {
    const files = { 'a.txt': 'one', 'deep/er/b.txt': 'two é' }
    const script = 'for (const path of ["a.txt", "deep/er/b.txt"]) process.stdout.write(require("fs").readFileSync(path))'
    assert.equal((await run(suite, script, { files })).stdout, 'onetwo é')
  })
  suite.it('the command is asked for with the folder that it starts in', async () => {
    const executor = await suite.make()
    const script = 'console.log(require("fs").realpathSync(process.argv.at(-1)) === process.cwd())'
    const launch = (root: string): Launch => launchOf(script, { words: [root] })
    assert.equal((await executor.run({ ...playOf(''), launch }, never())).stdout.trim(), 'true')
  })
  suite.it('what the agent left in the folder is read after the command and before the folder goes', async () => {
    const executor = await suite.make()
    const script = 'require("fs").writeFileSync("left.txt", "by the agent")'
    const { trajectory } = await executor.run({ ...playOf(script), readTrajectory: readWhatIsLeft }, never())
    assert.deepEqual(trajectory, [{ left: 'by the agent' }])
  })
  suite.it('a trajectory that cannot be read is no episode, and its folder goes all the same', async () => {
    const executor = await suite.make()
    const roots: string[] = []
    const readTrajectory = async (root: string): Promise<never> => {
      roots.push(root)
      throw new Error('this log is none that the suite knows')
    }
    await assert.rejects(executor.run({ ...playOf('1'), readTrajectory }, never()), /this log is none/)
    assert.equal(roots.length, 1)
    for (const root of roots) await assert.rejects(access(root), 'the folder is still there')
  })
  suite.it('words and variables arrive as they are: no shell reads them', async () => {
    const odd = `$HOME "quoted" 'single' ; *`
    const script = 'console.log(JSON.stringify([process.argv.at(-1), process.env.ODD]))'
    const { stdout } = await run(suite, script, { words: [odd], env: { ODD: odd } })
    assert.deepEqual(JSON.parse(stdout), [odd, odd])
  })
  suite.it('a path that leads out of the folder is refused', async () => {
    for (const path of ['../outside', 'a/../../outside']) await assertRefused('invalid', run(suite, '1', { files: { [path]: 'x' } }))
  })
  suite.it('command and files are afterwards what they were', async () => {
    const executor = await suite.make()
    const given = { launch: launchOf('1'), files: { a: '1' } }
    await assertUntouched(given, ({ launch, files }) => executor.run({ ...playOf(''), launch: () => launch, files }, never()))
  })
}

async function readWhatIsLeft(root: string): Promise<readonly JsonObject[]> {
  return [{ left: await readFile(join(root, 'left.txt'), 'utf8') }]
}

function describeApart(suite: ExecutorSuite): void {
  suite.it('runs at once each have a folder of their own', async () => {
    const script = 'require("fs").appendFileSync("a", process.argv.at(-1)); process.stdout.write(require("fs").readFileSync("a"))'
    const executor = await suite.make()
    const runs = ['1', '2', '3'].map((word) => executor.run(playOf(script, { words: [word], files: { a: 'start ' } }), never()))
    assert.deepEqual(
      (await Promise.all(runs)).map(({ stdout }) => stdout),
      ['start 1', 'start 2', 'start 3'],
    )
  })
  suite.it('the environment of the service stays with the service', async () => {
    process.env['SECRET_OF_THIS_SUITE'] = 'secret'
    try {
      const { stdout } = await run(suite, 'console.log(JSON.stringify(process.env))')
      assert.ok(!stdout.includes('SECRET_OF_THIS_SUITE'), 'the command sees what it was not given')
    } finally {
      delete process.env['SECRET_OF_THIS_SUITE']
    }
  })
}

function describeEnding(suite: ExecutorSuite): void {
  suite.it('a command that cannot be started is an episode that failed', async () => {
    const executor = await suite.make()
    const launch = { ...launchOf(''), argv: ['no-such-command-of-this-suite'] }
    const { exitCode } = await executor.run({ ...playOf(''), launch: () => launch }, never())
    assert.notEqual(exitCode, 0)
  })
  suite.it('a command that takes longer than it may is ended, and what it printed is kept', async () => {
    const { exitCode, stdout } = await run(suite, `process.stdout.write("begun"); ${FOREVER}`, { timeoutSeconds: 1 })
    assert.notEqual(exitCode, 0)
    assert.equal(stdout, 'begun')
  })
  suite.it('a run that was aborted before it began is soon over', async () => {
    const running = (await suite.make()).run(playOf(FOREVER), AbortSignal.abort())
    await assertGivenUp(running, GIVE_UP_MS_MAX)
  })
  suite.it('a run that is aborted on its way is soon over, and its command with it', async () => {
    const executor = await suite.make()
    const controller = new AbortController()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const connected = new Promise<Socket>((resolve) => server.once('connection', resolve))
    const running = executor.run(playOf(`require("net").connect(${portOf(server)}, "127.0.0.1")`), controller.signal)
    running.catch(() => undefined)
    try {
      const command = await connected
      const ended = new Promise((resolve) => command.resume().on('error', resolve).on('close', resolve))
      controller.abort()
      await assertGivenUp(running, GIVE_UP_MS_MAX)
      await ended
    } finally {
      server.close()
    }
  })
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

interface Run {
  readonly words?: readonly string[]
  readonly env?: Launch['env']
  readonly files?: Readonly<Record<string, string>>
  readonly timeoutSeconds?: number
}

async function run(suite: ExecutorSuite, script: string, more: Run = {}): Promise<Episode> {
  return (await suite.make()).run(playOf(script, more), never())
}

const playOf = (script: string, { files = {}, ...more }: Run = {}): Play => ({
  files,
  launch: () => launchOf(script, more),
  readTrajectory: async () => [],
})

function launchOf(script: string, { words = [], env = {}, timeoutSeconds = 60 }: Omit<Run, 'files'> = {}): Launch {
  return { argv: [process.execPath, '-e', script, '--', ...words], env, timeoutSeconds }
}

const never = (): AbortSignal => new AbortController().signal
