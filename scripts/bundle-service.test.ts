/** The service as it is built: its threads are there, and plug-ins from outside meet its own modules. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../test/support/folder.ts'
import { argumentsOf } from '../test/support/settings.ts'

const ROOT = join(import.meta.dirname, '..')
/** How a module names the file of its thread. */
const THREAD_NAME = /'\.\/([\w-]+)\.js'|threadEntry\('([\w-]+)'\)/g

/** Rooms for agents, pages, training of weights, imports and traces, and other commands. */
const UNNEEDED =
  /^src\/(?:harness|pages|evolution|weights|traces|reef\/carry)\/|^src\/cli\/(?:doctor|init|import|token|program-others)\.ts$|undici\/lib\/web\/fetch\/index/

const TOKEN = 'token-of-this-test-8f41c07d'
/** Says whether the tools it imports know a secret that the service was given. */
const RUNTIME = `
import { define } from '@svc-ai/svc/contract'
import { withoutSecrets } from '@svc-ai/svc/kit'
const answer = () => ({ known: withoutSecrets('${TOKEN}') !== '${TOKEN}' })
const models = async () => ({ kind: 'whole', status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer())) })
export default define('runtime', { make: () => ({ infer: models, models, status: async () => ({}), close: async () => undefined }) })
`

it('has every thread that the sources start', () => {
  const sources = ['src', 'plugins'].flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((name) => join(room, name)),
  )
  const starters = sources.filter((file) => /(?<!\.test)\.ts$/.test(file) && textOf(file).includes("import.meta.url.endsWith('.ts')"))
  const threads = starters.flatMap((file) =>
    [...textOf(file).matchAll(THREAD_NAME)].map(([, name, entry = name]) => join(dirname(file), `${entry}.js`)),
  )
  const ofStore = ['writer', 'reader', 'errand'].map((name) => `plugins/stores/sqlite/${name}.js`)
  expect(threads.length).toBeGreaterThan(2)
  expect([...threads, ...ofStore].filter((file) => !existsSync(join(ROOT, 'dist', file)))).toEqual([])
})

it('has each thread of the SQLite store in one file, which reads no built-in module that it does not use', () => {
  for (const name of ['writer', 'reader', 'errand', 'indexer', 'searcher']) {
    const text = textOf(`dist/plugins/stores/sqlite/${name}.js`)
    const imported = [...text.matchAll(/^import .*?"([^"]+)";$/gm)].map(([, from = '']) => from)
    expect(imported, name).toContain('node:sqlite')
    expect(
      imported.filter((from) => !from.startsWith('node:')),
      name,
    ).toEqual([])
    expect(text, name).not.toMatch(/node:(?:net|tls|dns|http|fs\/promises)"/)
  }
})

it('gives a plug-in that imports a room by the name of the package its own modules', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules/@svc-ai'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules/@svc-ai/svc'))
  writeFileSync(join(folder, 'runtime.mjs'), RUNTIME)
  const address = await serveIn(folder, { 'inference.runtime': './runtime.mjs', 'storage.record_backend': 'memory', 'svc.token': TOKEN })
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': 'outside' }
  const answer = await fetch(`${address}/v1/models`, { headers })
  expect(await answer.json()).toEqual({ known: true })
})

it('loads no room that the first answers do not need', async () => {
  const folder = temporaryFolder()
  const list = join(folder, 'loaded.txt')
  writeFileSync(join(folder, 'watch.mjs'), watching(list))
  const address = await serveIn(folder, {}, ['--import', join(folder, 'watch.mjs')])
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
  const urls = readFileSync(list, 'utf8').split('\n')
  const sources = urls.flatMap(sourcesOf)
  expect(sources).toContain('src/main.ts')
  // The writer's thread starts while the service is loaded.
  expect(sources.slice(0, sources.indexOf('src/main.ts'))).toContain('plugins/stores/sqlite/ahead.ts')
  expect(sources.filter((file) => UNNEEDED.test(file))).toEqual([])
  expect(urls.filter(isWide)).toEqual([])
  expect(await (await fetch(`${address}/svc/harness/adapters`)).json()).toHaveProperty('adapters')
  expect(readFileSync(list, 'utf8').split('\n').flatMap(sourcesOf)).toContain('src/harness/render.ts')
})

/** Every module that is loaded by the process, in a file. */
const watching = (list: string): string => `
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => { appendFileSync(${JSON.stringify(list)}, url + '\\n'); return next(url, context) } })
`

/** Of a wide file V8 keeps the text with two bytes a character. */
const isWide = (url: string): boolean => url.includes('/dist/') && /[^\0-\xFF]/.test(readFileSync(fileURLToPath(url), 'utf8'))

function sourcesOf(url: string): readonly string[] {
  const map = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : ''
  if (!existsSync(map)) return []
  const { sources }: { readonly sources: readonly string[] } = JSON.parse(readFileSync(map, 'utf8'))
  return sources.map((source) => relative(ROOT, join(dirname(map), source)))
}

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Answers the address of a built service that runs until the test is over. */
async function serveIn(folder: string, settings: Parameters<typeof argumentsOf>[0], flags: readonly string[] = []): Promise<string> {
  const args = ['serve', ...argumentsOf({ 'svc.port': 0, ...settings })]
  const child = spawn(process.execPath, [...flags, join(ROOT, 'bin/svc.mjs'), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /ready at (\S+)/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('the service ended before it was ready')
}
