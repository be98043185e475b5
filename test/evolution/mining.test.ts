/** Mining with real git, real test runners and the sandbox; killed, and on a full disk. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import verify from '../../plugins/evaluators/verify/index.ts'
import sandbox from '../../plugins/executors/sandbox/index.ts'
import git from '../../plugins/miners/git/index.ts'
import { historyIn, nodeTest } from '../../plugins/miners/git/testing/history.ts'
import type { MinedTask, Miner } from '../../src/contract/index.ts'
import { mineTasks, readMinedTask, type Judge } from '../../src/mining/index.ts'
import { mountDisk, sharedFolder, temporaryFolder } from '../support/folder.ts'
import { describeSandboxed } from '../support/sandbox.ts'
import { until } from '../support/wait.ts'

const signal = new AbortController().signal
const report = (): void => undefined

const judgeHere = async (): Promise<Judge> => ({
  name: 'sandbox',
  executor: await sandbox.plugin.make({}),
  evaluator: async () => verify.plugin,
})

const taskOf = (n: number): MinedTask => ({
  name: `task-${n}`,
  prompt: `Do thing ${'abcdefghijklmnop'[n]?.repeat(30)}.`,
  files: { 'a/b.txt': 'x'.repeat(1000) },
  data: { answer: 'a' },
  origin: `test:${n}`,
  module: `m${n}`,
  reference: { files: { done: '' }, removed: [] },
})

/** An agent that leaves its own tests, or links in their place, gets no point. */
async function cheats(directory: string, name: string): Promise<void> {
  const { task } = await readMinedTask(directory, name)
  const { executor } = await judgeHere()
  const scene = { models: {}, executor, reference: null, signal }
  const played = { exitCode: 0, stdout: '', stderr: '', trajectory: [] }
  const workspace = temporaryFolder()
  for (const [path, text] of Object.entries({ ...task.files, 'fake/sum.test.js': '' })) {
    mkdirSync(join(workspace, path, '..'), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  symlinkSync('fake', join(workspace, 'test'))
  expect(await verify.plugin.score(task, played, { ...scene, workspace })).toBe(0)
}

await describeSandboxed('the git miner in the sandbox', () => {
  const history = historyIn(sharedFolder())
  history.commit('root', {
    'package.json': '{"type":"module"}\n',
    'src/sum.js': 'export const sum = (a, b) => a - b\n',
    'tool.sh': 'echo 1\n',
    'calc.py': 'x = 1\n',
  })
  const made = history.commit('Let the tool print two, as its users expect', {
    'tool.sh': 'echo 2\n',
    Makefile: 'test:\n\ttest "$$(sh tool.sh)" = 2\n',
    'tests/tool.txt': '2\n',
  })
  const python = history.commit('Let the value of the calculator be two', {
    'calc.py': 'x = 2\n',
    'tests/test_calc.py': 'import sys\nsys.path.insert(0, ".")\nfrom calc import x\n\ndef test_x():\n    assert x == 2\n',
  })
  const hasPytest = spawnSync('/usr/bin/python3', ['-c', 'import pytest']).status === 0

  it(`runs node --test, make test and pytest (${hasPytest ? 'which is there' : 'which is not there, so its commit waits'}), reaching neither the network nor the home of the user`, async () => {
    const server = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const reaches = `import { existsSync } from 'node:fs'
import { test as isolated } from 'node:test'
isolated('isolated', async () => {
  assert.equal(existsSync(${JSON.stringify(join(history.folder, 'package.json'))}), false)
  assert.notEqual(process.env.HOME, ${JSON.stringify(process.env['HOME'] ?? '')})
  await assert.rejects(fetch('http://127.0.0.1:${port}'))
})
`
    const node = history.commit('Let sum add its two numbers', {
      'src/sum.js': 'export const sum = (a, b) => a + b\n',
      'test/sum.test.js': nodeTest('../src/sum.js', 'sum', 'assert.equal(sum(1, 2), 3)') + reaches,
    })
    const directory = join(temporaryFolder(), 'tasks')
    const run = {
      directory,
      miner: await git.plugin.make({}),
      source: history.folder,
      tasksMax: 9,
      seed: 's',
      judge: await judgeHere(),
      report,
      signal,
    }
    const { added, passedOver } = await mineTasks(run)
    server.close()
    const wanted = hasPytest ? [node, python, made] : [node, made]
    expect(added.map((name) => name.split('-').at(-1))).toEqual(wanted.map((id) => id.slice(0, 10)))
    expect(passedOver).toEqual(
      hasPytest ? [] : [{ origin: `git:${python}`, reason: expect.stringContaining('a program of the verifier is missing') }],
    )
    await cheats(directory, added[0] ?? '')
  }, 120_000)
})

describe('mining that is interrupted', () => {
  it('by kill -9 leaves whole tasks alone, and goes on where it was', async () => {
    const directory = join(temporaryFolder(), 'tasks')
    const code = `
import { existsSync } from 'node:fs'
import { mineTasks } from ${JSON.stringify(join(import.meta.dirname, '../../src/mining/index.ts'))}
const offers = ${JSON.stringify(Array.from({ length: 12 }, (_, n) => taskOf(n)))}
const judge = { name: 'idle', executor: {}, evaluator: async () => ({ score: async (_task, _episode, { workspace }) => (existsSync(workspace + '/done') ? 1 : 0) }) }
const miner = { async *mine() { yield* offers } }
const result = await mineTasks({ directory: ${JSON.stringify(directory)}, miner, source: '', tasksMax: 12, seed: 's', judge, report: () => undefined, signal: new AbortController().signal })
console.log(result.added.length + result.kept)`
    const start = () =>
      spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
    const shown = (): readonly string[] => {
      try {
        return readdirSync(directory).filter((name) => !name.startsWith('.'))
      } catch {
        return []
      }
    }
    for (const count of [1, 4, 7]) {
      const child = start()
      const ended = once(child, 'exit')
      await until(async () => shown().length >= count)
      child.kill('SIGKILL')
      await ended
      for (const name of shown())
        expect(await readMinedTask(directory, name)).toMatchObject({
          task: { files: { 'a/b.txt': 'x'.repeat(1000) } },
          reference: { files: { done: '' } },
        })
    }
    const last = start()
    let printed = ''
    last.stdout.on('data', (part: Buffer) => (printed += part.toString()))
    await once(last, 'close')
    expect([printed.trim(), readdirSync(directory).toSorted()]).toEqual([
      '12',
      Array.from({ length: 12 }, (_, n) => `task-${n}`).toSorted(),
    ])
  }, 60_000)

  it('by a full disk says so, and leaves no part of a task', async () => {
    const directory = join(mountDisk('size=1m'), 'tasks')
    const large = { ...taskOf(1), files: { 'a.txt': 'x'.repeat(600_000) } }
    const miner: Miner = {
      async *mine() {
        yield taskOf(0)
        yield large
        yield { ...large, name: 'task-2', origin: 'test:2', prompt: taskOf(2).prompt }
      },
    }
    const judge: Judge = {
      name: 'idle',
      executor: { run: () => Promise.reject(new Error('unused')) },
      evaluator: async () => ({ score: async (_t, _e, { workspace }) => (readdirSync(workspace ?? '').includes('done') ? 1 : 0) }),
    }
    const result = await mineTasks({ directory, miner, source: '', tasksMax: 9, seed: 's', judge, report, signal }).catch(
      (error: unknown) => error,
    )
    expect(JSON.stringify(result instanceof Error ? result.message : result)).toMatch(/ENOSPC|no space/i)
    expect(readdirSync(directory).filter((name) => !name.startsWith('.passed'))).toEqual(['task-0', 'task-1'])
  })
})
