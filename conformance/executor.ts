/** Conformance suite for executors, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { access, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Episode, Executor, JsonObject, Launch, ModelAddress, Play } from '../src/contract/index.ts'
import { assertGivenUp, assertRefused, assertUntouched, never, serve, withFolder, type Runner } from './support.ts'

export interface ExecutorSuite extends Runner {
  /** An executor in which this Node has the same path. */
  readonly make: () => Executor | Promise<Executor>
}

/** Ending a process tree takes a moment. */
const GIVE_UP_MS_MAX = 5000
const FOREVER = 'setInterval(() => undefined, 1000)'
/** Enough reads to notice a file that is still written. */
const LOOKS = 200

export function executorConformance(suite: ExecutorSuite): void {
  const { describe } = suite
  describe('running', () => describeRunning(suite))
  describe('files', () => describeFiles(suite))
  describe('remains', () => describeRemains(suite))
  describe('apart', () => describeApart(suite))
  describe('ending', () => describeEnding(suite))
  describe('the model', () => describeModel(suite))
}

function describeRunning(suite: ExecutorSuite): void {
  suite.it('an episode is what the command printed and how it ended', async () => {
    const script = 'console.log("é out"); console.error("err"); process.exitCode = 3'
    const { exitCode, stdout, stderr, trajectory, ended } = await run(suite, script)
    assert.deepEqual([exitCode, stdout.trim(), stderr.trim(), trajectory, ended], [3, 'é out', 'err', [], undefined])
  })
  suite.it('the command is asked for with the folder whose workspace it starts in', async () => {
    const script = 'console.log(require("fs").realpathSync(process.argv.at(-1) + "/workspace") === process.cwd())'
    assert.equal((await run(suite, script, { launch: (root) => launchOf(script, { words: [root] }) })).stdout.trim(), 'true')
  })
  suite.it('that folder is its home, unless the command has another', async () => {
    const script = 'console.log(process.env.HOME === process.argv.at(-1))'
    for (const env of [{}, { HOME: '/another/home' }]) {
      const launch = (root: string): Launch => launchOf(script, { env, words: ['HOME' in env ? env.HOME : root] })
      assert.equal((await run(suite, script, { launch })).stdout.trim(), 'true')
    }
  })
  suite.it('its input is empty', async () => {
    assert.equal((await run(suite, 'process.stdin.on("end", () => console.log("over")).resume()')).stdout.trim(), 'over')
  })
  suite.it('words and variables arrive as they are: no shell reads them', async () => {
    const odd = `$HOME "quoted" 'single' ; *`
    const script = 'console.log(JSON.stringify([process.argv.at(-1), process.env.ODD]))'
    const { stdout } = await run(suite, script, { launch: () => launchOf(script, { words: [odd], env: { ODD: odd } }) })
    assert.deepEqual(JSON.parse(stdout), [odd, odd])
  })
}

function describeFiles(suite: ExecutorSuite): void {
  suite.it('the files are there, above the workspace with the files of the task', async () => {
    const files = { 'a.txt': 'one', 'deep/er/b.txt': 'two é' }
    const workspace = { 'c.txt': 'three', 'deep/d.txt': 'four' }
    const script =
      '["../a.txt", "../deep/er/b.txt", "c.txt", "deep/d.txt"].map((path) => process.stdout.write(require("fs").readFileSync(path)))'
    assert.equal((await run(suite, script, { files: () => files, workspace })).stdout, 'onetwo éthreefour')
  })
  suite.it('a path that leads out of the folder is refused', async () => {
    for (const path of ['../outside', 'a/../../outside']) {
      await assertRefused('invalid', null, run(suite, '1', { files: () => ({ [path]: 'x' }) }))
      await assertRefused('invalid', null, run(suite, '1', { workspace: { [path]: 'x' } }))
    }
  })
  suite.it('a folder that the command needs can be read', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'program.js'), 'console.log("needed")')
      const launch = (): Launch => ({ ...launchOf(''), argv: [process.execPath, join(folder, 'program.js')] })
      assert.equal((await run(suite, '', { launch, needs: [folder] })).stdout.trim(), 'needed')
    })
  })
  suite.it('what is installed for the workspace is found there with room beside it, or refused', async () => {
    await withFolder(async (folder) => {
      const packages = join(folder, 'node_modules')
      await mkdir(join(packages, 'one'), { recursive: true })
      await writeFile(join(packages, 'one', 'index.js'), 'console.log("installed")')
      const workspace = { 'start.js': 'require("one"); require("fs").writeFileSync("node_modules/.cache", "")' }
      const found = run(suite, 'require(process.cwd() + "/start.js")', { workspace, dependencies: { node_modules: packages } })
      const isShown = await found.then(
        () => true,
        () => false,
      )
      if (isShown) assert.deepEqual([(await found).stdout.trim(), (await found).exitCode], ['installed', 0])
      else await assertRefused('unavailable', null, found)
      const gone = { node_modules: join(folder, 'gone/node_modules') }
      await assertRefused('unavailable', null, run(suite, '1', { dependencies: gone }))
    })
  })
  suite.it('command and files are afterwards what they were', async () => {
    const executor = await suite.make()
    const given = { launch: launchOf('1'), files: { a: '1' }, workspace: { b: '2' }, needs: [] }
    const play = ({ launch, files, ...rest }: typeof given): Play => ({ ...playOf(''), ...rest, launch: () => launch, files: () => files })
    await assertUntouched(given, (handed) => executor.run(play(handed), never()))
  })
}

function describeRemains(suite: ExecutorSuite): void {
  suite.it('what the agent left is read after the command, then its workspace is looked at, and then the folder goes', async () => {
    const seen: unknown[] = []
    const roots: string[] = []
    const readTrajectory = async (root: string): Promise<readonly JsonObject[]> => {
      roots.push(root)
      seen.push('read')
      return [{ left: await readFile(join(root, 'left.txt'), 'utf8') }]
    }
    const inspect = async (workspace: string, episode: Episode): Promise<void> =>
      void seen.push(await readFile(join(workspace, 'made.txt'), 'utf8'), episode)
    const script = 'require("fs").writeFileSync("../left.txt", "by the agent"); require("fs").writeFileSync("made.txt", "work")'
    const episode = await run(suite, script, { readTrajectory, inspect })
    assert.deepEqual(episode.trajectory, [{ left: 'by the agent' }])
    assert.deepEqual(seen, ['read', 'work', episode])
    await assertGone(roots)
  })
  for (const what of ['readTrajectory', 'inspect'] as const)
    suite.it(`what ${what} throws is thrown on, and the folder goes all the same`, async () => {
      const folders: string[] = []
      const broken = async (folder: string): Promise<never> => {
        folders.push(folder)
        throw new Error('an error of this suite')
      }
      await assert.rejects(run(suite, '1', { [what]: broken }), /an error of this suite/)
      await assertGone(folders)
    })
  suite.it('what the command started is dead before its workspace is read', async () => {
    const writer = 'for (;;) require("fs").appendFileSync("beats", "x")'
    const script = `const fs = require("fs")
      require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(writer)}], { stdio: "ignore" }).unref()
      setInterval(() => fs.existsSync("beats") && process.exit(), 5)`
    const sizes = new Set<number>()
    const inspect = async (workspace: string): Promise<void> => {
      for (let look = 0; look < LOOKS; look += 1) sizes.add((await stat(join(workspace, 'beats'))).size)
    }
    const { exitCode } = await run(suite, script, { inspect })
    assert.equal(exitCode, 0)
    assert.equal(sizes.size, 1, 'a process of the agent still runs')
  })
}

async function assertGone(folders: readonly string[]): Promise<void> {
  assert.equal(folders.length, 1)
  for (const folder of folders) await assert.rejects(access(folder), 'the folder is still there')
}

function describeApart(suite: ExecutorSuite): void {
  suite.it('runs at once each have a folder of their own', async () => {
    const script = 'require("fs").appendFileSync("a", process.argv.at(-1)); process.stdout.write(require("fs").readFileSync("a"))'
    const executor = await suite.make()
    const playWith = (word: string): Play => ({
      ...playOf(''),
      workspace: { a: 'start ' },
      launch: () => launchOf(script, { words: [word] }),
    })
    const runs = ['1', '2', '3'].map((word) => executor.run(playWith(word), never()))
    const printed = (await Promise.all(runs)).map(({ stdout }) => stdout)
    assert.deepEqual(printed, ['start 1', 'start 2', 'start 3'])
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
  suite.it('a command that cannot be started is an episode that ended at its start', async () => {
    const launch = { ...launchOf(''), argv: ['no-such-command-of-this-suite'] }
    const { exitCode, ended } = await run(suite, '', { launch: () => launch })
    assert.notEqual(exitCode, 0)
    assert.equal(ended, 'start')
  })
  suite.it('a command that takes longer than it may is ended, and what it printed is kept', async () => {
    const script = `process.stdout.write("begun"); ${FOREVER}`
    const { exitCode, stdout, ended } = await run(suite, script, { launch: () => launchOf(script, { timeoutSeconds: 1 }) })
    assert.notEqual(exitCode, 0)
    assert.deepEqual([stdout, ended], ['begun', 'time'])
  })
  suite.it('a command that prints for ever is ended', async () => {
    const { exitCode, ended } = await run(suite, 'const more = () => process.stdout.write("x".repeat(65536), more); more()')
    assert.notEqual(exitCode, 0)
    assert.equal(ended, 'output')
  })
  suite.it('a run that was aborted before it began is soon over', async () => {
    const running = (await suite.make()).run(playOf(FOREVER), AbortSignal.abort())
    await assertGivenUp(running, GIVE_UP_MS_MAX)
  })
}

function describeModel(suite: ExecutorSuite): void {
  suite.it('the files name where the model answers, and it answers there', () =>
    withModel(async ({ address, called }) => {
      const { stdout } = await run(suite, CALL, { model: address, files: namesModel })
      assert.equal(stdout, ANSWER)
      const { request } = await called
      assert.equal(request.headers.authorization, `Bearer ${address.apiKey}`)
    }),
  )
  suite.it('a run that is aborted on its way is soon over, and its command with it', () =>
    withModel(async ({ address, called }) => {
      const controller = new AbortController()
      const play = { ...playOf(`${CALL}; ${FOREVER}`), model: { ...address, model: 'silent' }, files: namesModel }
      const running = (await suite.make()).run(play, controller.signal)
      running.catch(() => undefined)
      const { closed } = await called
      controller.abort()
      await assertGivenUp(running, GIVE_UP_MS_MAX)
      await assertGivenUp(closed, GIVE_UP_MS_MAX)
    }),
  )
}

/** A model that is never called. */
const MODEL: ModelAddress = { url: 'http://127.0.0.1:9', model: 'm', api: 'openai', apiKey: 'key-of-the-suite' }

/** Calls the model that the file `model.json` names, and prints its answer. */
const CALL = `const { url, apiKey, model } = JSON.parse(require("fs").readFileSync("../model.json"))
  fetch(url + "/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer " + apiKey, "content-type": "application/json" },
    body: JSON.stringify({ model }),
  }).then((answer) => answer.text()).then((text) => process.stdout.write(text))`
const ANSWER = '{"answer":"é"}'

interface Call {
  readonly request: IncomingMessage
  /** The caller has disconnected. */
  readonly closed: Promise<unknown>
}
interface ServedModel {
  readonly address: ModelAddress
  readonly called: Promise<Call>
}

/** The model `silent` never answers. */
async function withModel(use: (model: ServedModel) => Promise<void>): Promise<void> {
  const { promise: called, resolve } = Promise.withResolvers<Call>()
  const server = await serve(async (request, response) => {
    resolve({ request, closed: new Promise((close) => response.on('close', close)) })
    if (!(await text(request)).includes('silent')) response.end(ANSWER)
  })
  try {
    await use({ address: { ...MODEL, url: server.url }, called })
  } finally {
    await server.close()
  }
}

const namesModel = (model: ModelAddress): Readonly<Record<string, string>> => ({ 'model.json': JSON.stringify(model) })

async function run(suite: ExecutorSuite, script: string, more: Partial<Play> = {}): Promise<Episode> {
  return (await suite.make()).run({ ...playOf(script), ...more }, never())
}

/** Runs the script with Node, in an empty folder. */
export const playOf = (script: string, more: Partial<Play> = {}): Play => ({
  files: () => ({}),
  workspace: {},
  model: MODEL,
  launch: () => launchOf(script),
  readTrajectory: async () => [],
  needs: [],
  ...more,
})

type Words = Partial<Omit<Launch, 'argv'>> & { readonly words?: readonly string[] }

function launchOf(script: string, { words = [], env = {}, timeoutSeconds = 60 }: Words = {}): Launch {
  return { argv: [process.execPath, '-e', script, '--', ...words], env, timeoutSeconds }
}
