/**
 * How long an episode takes in the sandbox, compared with a plain process: the same small agent, which calls the model, runs a shell and writes
 * a file, by turns in one run. `--before DIR` also takes the executors of another checkout.
 */
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Executor, Play } from '../src/contract/index.ts'
import { median } from './stats.ts'

const { values } = parseArgs({ options: { before: { type: 'string' }, episodes: { type: 'string', default: '30' } } })
const WARM_UP = 2

const model = createServer((request, response) => void request.resume().on('end', () => response.end('{"choices":[]}')))
await new Promise<void>((done) => model.listen(0, '127.0.0.1', done))
const address = model.address()
const port = typeof address === 'object' && address !== null ? address.port : 0

const AGENT = `
const { url, apiKey } = JSON.parse(require("node:fs").readFileSync("../model.json"))
const ask = () => fetch(url + "/v1/chat/completions", { method: "POST", headers: { authorization: "Bearer " + apiKey }, body: '{"messages":[]}' }).then((answer) => answer.text())
ask().then(() => require("node:child_process").execSync("grep -c . task.txt > count.txt")).then(ask)`

const play: Play = {
  files: (to) => ({ 'model.json': JSON.stringify(to) }),
  workspace: { 'task.txt': 'the task\n' },
  model: { url: `http://127.0.0.1:${port}`, model: 'm', api: 'openai', apiKey: 'key' },
  launch: () => ({ argv: [process.execPath, '-e', AGENT], env: {}, timeoutSeconds: 60 }),
  readTrajectory: async () => [],
  needs: [],
}

interface Contestant {
  readonly name: string
  readonly executor: Executor
  readonly milliseconds: number[]
}

async function contestant(name: string, checkout: string, kind: string): Promise<Contestant> {
  const module: { default: { plugin: { make(config: object): Promise<Executor> } } } = await import(
    pathToFileURL(join(checkout, 'plugins/executors', kind, 'index.ts')).href
  )
  return { name, executor: await module.default.plugin.make({}), milliseconds: [] }
}

const here = resolve(import.meta.dirname, '..')
const contestants = [
  await contestant('local', here, 'local'),
  await contestant('sandbox', here, 'sandbox'),
  ...(values.before === undefined ? [] : [await contestant('sandbox, before', resolve(values.before), 'sandbox')]),
]

for (let round = -WARM_UP; round < Number(values.episodes); round += 1) {
  for (const { executor, milliseconds } of contestants) {
    const begun = performance.now()
    const { exitCode, stderr } = await executor.run(play, new AbortController().signal)
    if (exitCode !== 0) throw new Error(`an episode failed: ${stderr}`)
    if (round >= 0) milliseconds.push(performance.now() - begun)
  }
}
model.close()

const base = median(contestants[0]?.milliseconds ?? [])
for (const { name, milliseconds } of contestants) {
  const middle = median(milliseconds)
  console.log(`${name.padEnd(16)} ${middle.toFixed(0).padStart(6)} ms   ${(middle / base).toFixed(2)} x local`)
}
