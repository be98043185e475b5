/** The package of the service as `npm pack` makes it: installed without a network into an empty folder, and run from there. */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { sharedFolder, temporaryFolder } from '../support/folder.ts'
import { argumentsOf } from '../support/settings.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const { version, exports }: { readonly version: string; readonly exports: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)

const folder = sharedFolder()
const home = join(folder, 'an empty folder')
const installed = join(home, 'node_modules', '@svc-ai', 'svc')
const svc = join(home, 'node_modules', '.bin', 'svc')
const WITHOUT_NETWORK = ['--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'empty cache')]
let tarball = ''

beforeAll(() => {
  // Its `prepack` builds what is published.
  run('npm', ['pack', '--pack-destination', folder], ROOT)
  tarball = join(folder, `svc-ai-svc-${version}.tgz`)
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"private": true, "type": "module"}')
  run('npm', ['install', ...WITHOUT_NETWORK, tarball], home)
})

it('brings everything it needs: npm fetches nothing, and finds every package of ours inside', () => {
  const lock: { readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly inBundle?: boolean }>> } = JSON.parse(
    readFileSync(join(home, 'node_modules', '.package-lock.json'), 'utf8'),
  )
  const outside = Object.entries(lock.packages).filter(([, entry]) => entry.inBundle !== true)
  expect(outside.map(([path, { resolved = '' }]) => [path, resolved.split(':')[0]])).toEqual([['node_modules/@svc-ai/svc', 'file']])
  for (const name of ['client', 'agent', 'native']) expect(existsSync(join(installed, 'node_modules', '@svc-ai', name, 'dist'))).toBe(true)
})

it('has the command svc, by its own name and by npx', () => {
  expect(run(svc, ['--version'], home)).toBe(version)
  expect(run('npx', ['--offline', 'svc', '--version'], home)).toBe(version)
})

it('is run by npx from the tarball alone', () => {
  const words = ['--yes', ...WITHOUT_NETWORK, '--package', tarball, 'svc', '--version']
  expect(run('npx', words, temporaryFolder())).toBe(version)
})

it('serves without building: the mock model answers with a receipt, and the console is there', async () => {
  const data = temporaryFolder()
  const address = await serve({
    'svc.port': 0,
    'inference.runtime': 'practice',
    'storage.agent_record_dir': join(data, 'records'),
    'storage.artifact_repository': join(data, 'artifacts.git'),
  })
  const answer = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-svc-scenario': 'packed', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'practice', messages: [{ role: 'user', content: 'What is 17 + 25?' }] }),
  })
  expect(await answer.text()).toContain('"object":"chat.completion"')
  expect(answer.headers.get('x-svc-agent-record-id')).not.toBeNull()
  expect((await fetch(`${address}/console/`)).status).toBe(200)
})

it('has the documents: svc docs shows them from the package alone', async () => {
  const address = await firstLine(['docs', 'quickstart', '--port', '0', '--no-open'], /^(http:\S+)$/)
  const page = await fetch(address)
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('<h1>Quickstart</h1>')
  expect((await fetch(new URL('/search-index.js', address))).status).toBe(200)
  expect((await fetch(new URL('/gone', address))).status).toBe(404)
})

it.each(Object.keys(exports).map((path) => path.replace('.', '@svc-ai/svc')))('exports %s', (name) => {
  writeFileSync(join(home, 'import.mjs'), `console.log(Object.keys(await import('${name}')).length > 0)\n`)
  expect(run(process.execPath, ['import.mjs'], home)).toBe('true')
})

it('has the types that a plug-in is checked against', () => {
  const plugin = readFileSync(join(ROOT, 'examples/selection/more-wins.ts'), 'utf8').replace(
    '../../src/contract/index.ts',
    '@svc-ai/svc/contract',
  )
  const wrong = `\n// @ts-expect-error: a decision has a reason\nexport const wrong = define('selection', { decide: () => ({ selected: true }) })\n`
  writeFileSync(join(home, 'plugin.ts'), `${plugin}${wrong}`)
  cpSync(join(ROOT, 'node_modules/@types'), join(home, 'node_modules/@types'), { recursive: true })
  cpSync(join(ROOT, 'node_modules/undici-types'), join(home, 'node_modules/undici-types'), { recursive: true })
  const options = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2024', '--types', 'node', '--noEmit']
  expect(run(process.execPath, [TSC, ...options, 'plugin.ts'], home)).toBe('')
})

/** Without what npm says to the scripts it runs, such as this one. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^SVC_/i.test(name))
  return { ...Object.fromEntries(own), PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` }
}

/** Answers what it printed. */
function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env: environment(), encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`)
  return stdout.trim()
}

/** Answers the address of a service that runs until the test is over. */
const serve = (settings: Parameters<typeof argumentsOf>[0]): Promise<string> =>
  firstLine(['serve', ...argumentsOf(settings)], /ready at (\S+)/)

/** Answers what a command that runs until the test is over says of itself. */
async function firstLine(args: readonly string[], pattern: RegExp): Promise<string> {
  const child = spawn(svc, args, { cwd: home, env: environment(), stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, found] = pattern.exec(line) ?? []
    if (found !== undefined) return found
  }
  throw new Error(`svc ${args[0]} ended before it was ready`)
}
