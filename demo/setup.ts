/** Starts the demo's service and agent in a temporary folder. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@svc-ai/client'

const ROOT = join(import.meta.dirname, '..')
const SERVICE = join(ROOT, 'bin/svc.mjs')
const AGENT = join(ROOT, 'native/bin/svc-native.mjs')
export const CONFIGURATION = 'src/cli/welcome/svc.yaml'
const RECIPE = 'practice'
export const SCENARIO = 'demo'
const LOG = 'demo.log'
const LOOK_AGAIN_MS = 100

export interface DemoSetup {
  readonly url: string
  readonly folder: string
  readonly service: ReturnType<typeof connect>
  /** Runs `svc-native` with these arguments and returns its output. `onLine` gets each line as it comes. */
  agent(words: readonly string[], onLine?: (line: string) => void): Promise<string>
  episodes(): number
  close(): void
}

export async function openStage(): Promise<DemoSetup> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-demo-'))
  const running: ChildProcess[] = []
  const close = (): void => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    // The data folder is beside the file.
    copyFileSync(join(ROOT, CONFIGURATION), join(folder, 'svc.yaml'))
    const settings = ['-c', 'svc.yaml', '--inference.runtime', 'practice', '--svc.port', String(port)]
    running.push(start([SERVICE, 'serve', ...settings], folder))
    const service = connect({ url, scenario: SCENARIO, token: null })
    await until(async () => (await fetch(`${url}/healthz`)).ok, running)
    await fetch(`${url}/svc/scenarios`, { method: 'POST', body: JSON.stringify({ name: SCENARIO, recipe: RECIPE }) })
    running.push(
      start([AGENT, 'serve', '--tree', 'tree', '--scenario', SCENARIO, '--url', url, '--follow', 'head', '--poll-interval', '1'], folder),
    )
    const agent: DemoSetup['agent'] = (words, onLine) => run([AGENT, ...words, '--tree', 'tree'], folder, onLine)
    await until(async () => (await agent(['status'])) !== '', running)
    return { url, folder, service, agent, episodes: () => episodesIn(join(folder, '.svc/steps')), close }
  } catch (error) {
    process.stderr.write(readFileSync(join(folder, LOG), 'utf8'))
    close()
    throw error
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const environment = (folder: string) => ({ PATH: process.env['PATH'], HOME: folder })

function start(words: readonly string[], cwd: string): ChildProcess {
  const log = openSync(join(cwd, LOG), 'a')
  const child = spawn(process.execPath, words, { cwd, env: environment(cwd), stdio: ['ignore', 'ignore', log] })
  closeSync(log)
  return child
}

async function run(words: readonly string[], cwd: string, onLine?: (line: string) => void): Promise<string> {
  const child = spawn(process.execPath, words, { cwd, env: environment(cwd), stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((each) => each.trim() !== '')) onLine?.(line.trim())
  })
  await once(child, 'close')
  return printed.trim()
}

async function until(condition: () => Promise<boolean>, running: readonly ChildProcess[]): Promise<void> {
  while (!(await condition().catch(() => false))) {
    if (running.some(({ exitCode }) => exitCode !== null)) throw new Error('the demo could not start; see above')
    await sleep(LOOK_AGAIN_MS)
  }
}

function episodesIn(records: string): number {
  const scenario = namesIn(records)[0] ?? ''
  const newest = namesIn(join(records, scenario)).sort((a, b) => Number.parseInt(b) - Number.parseInt(a))[0] ?? ''
  return namesIn(join(records, scenario, newest, 'episodes')).length
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
