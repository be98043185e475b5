/** The package of the service as `npm pack` makes it: installed without a network into an empty folder, and run from there. */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { followDocument } from '../docs/blocks.ts'
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
  const address = await serve(practiceIn(temporaryFolder()))
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
  expect(checkTypes('plugin.ts')).toBe('')
})

describe('a plug-in that is written from its page alone', () => {
  const EXAMPLE = /, whole:\n\n```ts\n([\s\S]*?)^```$/m
  const SUITE = /^## Its suite\n\n```ts\n([\s\S]*?)^```$/m

  beforeAll(() => {
    for (const kind of ['recipe', 'evaluator']) {
      mkdirSync(join(home, kind))
      writeFileSync(join(home, kind, 'mine.ts'), block(kind, EXAMPLE))
      writeFileSync(join(home, kind, 'mine.test.ts'), block(kind, SUITE))
    }
  })

  it('fits the types of the package', () => {
    expect(checkTypes('recipe/mine.ts', 'evaluator/mine.ts')).toBe('')
  })

  it('passes the suite of its kind, as the page calls it', () => {
    symlinkSync(join(ROOT, 'node_modules/vitest'), join(home, 'node_modules/vitest'))
    const said = run(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--no-color', '--root', home], home)
    expect(said).toMatch(/Test Files {2}2 passed/)
  })

  it('is a recipe that learns: the configuration and the commands of its page work', async () => {
    const data = temporaryFolder()
    const named = block('recipe', /^ {4}use: (\S+)$/m)
    mkdirSync(join(home, 'recipe', dirname(named)), { recursive: true })
    cpSync(join(home, 'recipe/mine.ts'), join(home, 'recipe', named))
    writeFileSync(join(home, 'recipe/svc.yaml'), block('recipe', /^```yaml\n([\s\S]*?)^```$/m))
    const address = await serve(practiceIn(data), ['-c', 'recipe/svc.yaml'])
    const { blocks } = await followDocument('docs/extend/recipe.md', data, { SVC_URL: address })
    const [, counted = '', noted = ''] = blocks
    expect(JSON.parse(counted)).toMatchObject({ commits: [{ operation: 'train', metrics: { reports: 1 } }] })
    expect(JSON.parse(noted)).toMatchObject({ state: 'published', settled: true })
  })
})

function block(kind: string, pattern: RegExp): string {
  const [, found] = pattern.exec(readFileSync(join(ROOT, `docs/extend/${kind}.md`), 'utf8')) ?? []
  if (found === undefined) throw new Error(`docs/extend/${kind}.md has no block ${String(pattern)}`)
  return found
}

const practiceIn = (data: string) => ({
  'svc.port': 0,
  'inference.runtime': 'practice',
  'storage.agent_record_dir': join(data, 'records'),
  'storage.artifact_repository': join(data, 'artifacts.git'),
})

/** Answers what the compiler finds. */
function checkTypes(...files: readonly string[]): string {
  for (const name of ['@types', 'undici-types'])
    cpSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name), { recursive: true })
  const options = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2024', '--types', 'node', '--noEmit']
  return run(process.execPath, [TSC, ...options, ...files], home)
}

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
const serve = (settings: Parameters<typeof argumentsOf>[0], more: readonly string[] = []): Promise<string> =>
  firstLine(['serve', ...more, ...argumentsOf(settings)], /ready at (\S+)/)

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
