/** The service as it is built: its threads are there, and plug-ins from outside meet its own modules. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../test/support/folder.ts'
import { argumentsOf } from '../test/support/settings.ts'

const ROOT = join(import.meta.dirname, '..')
/** How a module names the file of its thread, in the build. */
const THREAD_NAME = /'(\.\/[\w-]+\.js)'/g

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
  const threads = starters.flatMap((file) => [...textOf(file).matchAll(THREAD_NAME)].map(([, name = '']) => join(dirname(file), name)))
  const ofStore = ['writer', 'reader', 'errand'].map((name) => `plugins/stores/sqlite/${name}.js`)
  expect(threads.length).toBeGreaterThan(2)
  expect([...threads, ...ofStore].filter((file) => !existsSync(join(ROOT, 'dist', file)))).toEqual([])
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

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Answers the address of a built service that runs until the test is over. */
async function serveIn(folder: string, settings: Parameters<typeof argumentsOf>[0]): Promise<string> {
  const args = ['serve', ...argumentsOf({ 'svc.port': 0, ...settings })]
  const child = spawn(process.execPath, [join(ROOT, 'bin/svc.mjs'), ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /ready at (\S+)/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('the service ended before it was ready')
}
