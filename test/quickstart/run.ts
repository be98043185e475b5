/**
 * Follows docs/quickstart.md in a fresh clone: `node test/quickstart/run.ts`. Prints the time of each step, and exits with code 1 when a step
 * does not do what the page says. Removes everything it made.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { once } from 'node:events'
import { freePort } from '../support/listen.ts'

/** The steps of a page: each numbered heading with the shell blocks below it. */
interface Step {
  readonly title: string
  readonly blocks: readonly string[]
}

const HEADING = /^## (\d+\. .+)$/m
const FENCE = /^```sh\n([\s\S]*?)^```$/gm

function stepsOf(page: string): readonly Step[] {
  const [, ...parts] = page.split(HEADING)
  const titles = parts.filter((_, index) => index % 2 === 0)
  return titles.map((title, index) => ({
    title,
    blocks: [...(parts[2 * index + 1] ?? '').matchAll(FENCE)].map(([, block = '']) => block),
  }))
}

/** A bash session that runs commands one after another, and kills everything it started when closed. */
interface Session {
  /** What it printed; rejects when a command failed. */
  run(commands: string): Promise<string>
  close(): void
}

const DONE = '=== done'

function openSession(cwd: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Session {
  // Its own process group, so that background processes end with it.
  const bash = spawn('bash', ['-euo', 'pipefail'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  let printed = ''
  for (const stream of [bash.stdout, bash.stderr]) stream.setEncoding('utf8').on('data', (text: string) => void (printed += text))
  bash.stdin.on('error', () => undefined)
  const ended = once(bash, 'exit').then(() => 'ended' as const)
  const late = once(signal, 'abort').then(() => 'late' as const)
  const close = (): void => {
    try {
      if (bash.pid !== undefined) process.kill(-bash.pid, 'SIGKILL')
    } catch {
      // All gone already.
    }
  }
  // Runs before earlier cleanups remove its folder.
  process.prependOnceListener('exit', close)
  return {
    async run(commands) {
      printed = ''
      // Its commands must not read the next input.
      bash.stdin.write(`{\n${commands}\n} < /dev/null\necho '${DONE}'\n`)
      while (!printed.includes(DONE)) {
        const how = await Promise.race([once(bash.stdout, 'data').then(() => 'more' as const), ended, late])
        if (how === 'more') continue
        throw new Error(`${how === 'late' ? 'it takes too long' : 'a command failed'}:\n${commands}\n── it said\n${printed}`)
      }
      return printed.slice(0, printed.indexOf(DONE))
    },
    close,
  }
}

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = 'docs/quickstart.md'
const PORT_OF_THE_PAGE = '8900'
const MILLISECONDS_MAX = 15 * 60 * 1000
const GONE_LOOKS_MAX = 100
const LOG_LINES = 20

const folder = mkdtempSync(join(tmpdir(), 'svc-quickstart-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await quickstart().catch(explain)

async function quickstart(): Promise<void> {
  const began = performance.now()
  const clone = join(folder, 'clone')
  await timed('clone', async () => execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone]))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const session = openSession(clone, environment(url), AbortSignal.timeout(MILLISECONDS_MAX))
  try {
    for (const { title, blocks } of stepsOf(readFileSync(join(clone, PAGE), 'utf8'))) {
      const said = await timed(title, () => session.run(blocks.map((block) => onPort(block, port)).join('\n')))
      await checks(title, said, url)
    }
    await timed('it is gone', () => gone(url))
  } finally {
    session.close()
  }
  say(`${seconds(began)}  from the clone to an improvement seen, taken back and served again`)
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  say(`${seconds(began)}  ${what}`)
  return result
}

function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** A clean environment, except npm's package cache. */
function environment(url: string): Readonly<Record<string, string>> {
  const home = join(folder, 'home')
  mkdirSync(home)
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((each) => !each.startsWith(ROOT) && !each.includes('node_modules'))
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  return { PATH: path.join(delimiter), HOME: home, TMPDIR: tmpdir(), LC_ALL: 'C.UTF-8', npm_config_cache: cache, SVC_URL: url }
}

/** The page's port may be in use. */
function onPort(block: string, port: number): string {
  return block.replaceAll('npm start', `npm start -- --svc.port ${port}`).replaceAll(PORT_OF_THE_PAGE, String(port))
}

async function checks(title: string, said: string, url: string): Promise<void> {
  if (title.startsWith('1.')) expect(said, `svc is ready at ${url}`)
  if (title.startsWith('2.')) expect(said, 'after   3 of 3', 'published')
  if (title.startsWith('3.')) expect(said, 'chat.completion', 'inference')
  if (title.startsWith('4.')) expect(String((await fetch(`${url}/console`)).status), '200')
  if (title.startsWith('5.')) expect(said, 'rollback')
}

function expect(said: string, ...parts: readonly string[]): void {
  for (const part of parts) if (!said.includes(part)) throw new Error(`nothing says ${JSON.stringify(part)} in:\n${said}`)
}

/** The last block stops the service. */
async function gone(url: string): Promise<void> {
  for (let look = 0; look < GONE_LOOKS_MAX; look += 1) {
    if (!(await fetch(`${url}/healthz`).catch(() => null))) return
    await sleep(100)
  }
  throw new Error('the service still answers after it was stopped')
}

function explain(error: unknown): void {
  process.exitCode = 1
  say(`FAILED ${error instanceof Error ? error.message : String(error)}`)
  for (const name of ['out', 'log']) say(`── the end of .svc/${name}\n${lastLines(join(folder, 'clone', '.svc', name))}`)
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(-LOG_LINES).join('\n')
  } catch {
    return '(there is none)'
  }
}
