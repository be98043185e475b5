/** Tasks mined from a checkout whose tests need what is installed in it: packages of npm, the repository's own packages, and a virtual environment. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import verify from '../../plugins/evaluators/verify/index.ts'
import local from '../../plugins/executors/local/index.ts'
import sandbox from '../../plugins/executors/sandbox/index.ts'
import git from '../../plugins/miners/git/index.ts'
import { historyIn, type TestHistory } from '../../plugins/miners/git/testing/history.ts'
import type { Files, MinedTask } from '../../src/contract/index.ts'
import { mineTasks, readMinedTask } from '../../src/mining/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { describeSandboxed } from '../support/sandbox.ts'

const signal = new AbortController().signal
const report = (): undefined => undefined
const played = { exitCode: 0, stdout: '', stderr: '', trajectory: [] }

function writeInto(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { mode: 0o755 })
  }
}

/** A runner of npm's kind, an assertion, and a package of the repository's own, as npm installs them. */
function installPackages(folder: string): void {
  writeInto(folder, {
    'node_modules/runner/bin.mjs':
      '#!/usr/bin/env node\nimport { writeFileSync } from "node:fs"\nwriteFileSync("node_modules/.runner-cache", "")\nawait import(process.cwd() + "/test/add.test.mjs")\n',
    'node_modules/@tiny/same/package.json': '{"name":"@tiny/same","type":"module","main":"index.js"}\n',
    'node_modules/@tiny/same/index.js': 'export const same = (a, b) => { if (a !== b) process.exit(1) }\n',
  })
  mkdirSync(join(folder, 'node_modules/.bin'))
  symlinkSync('../runner/bin.mjs', join(folder, 'node_modules/.bin/runner'))
  symlinkSync('../../packages/base', join(folder, 'node_modules/@tiny/base'))
}

const IGNORED = 'node_modules\n.venv\n'
const PACKAGES: Kind = {
  install: installPackages,
  before: {
    '.gitignore': IGNORED,
    'package.json': '{"type":"module","scripts":{"test":"runner"}}\n',
    'packages/base/package.json': '{"name":"@tiny/base","type":"module","main":"index.js"}\n',
    'packages/base/index.js': 'export const base = 0\n',
  },
  after: {
    'packages/base/index.js': 'export const base = 1\n',
    'test/add.test.mjs': "import { same } from '@tiny/same'\nimport { base } from '@tiny/base'\nsame(base, 1)\n",
  },
  cheat: {
    'node_modules/@tiny/same/package.json': '{"type":"module","main":"index.js"}',
    'node_modules/@tiny/same/index.js': 'export const same = () => undefined\n',
    'node_modules/.bin/runner': '#!/bin/sh\nexit 0\n',
  },
}

/** One module is installed in it, and the package lies in src. */
function installEnvironment(folder: string): void {
  execFileSync('python3', ['-m', 'venv', '--without-pip', join(folder, '.venv')], { stdio: 'ignore' })
  const lib = join(folder, '.venv/lib')
  const [version = ''] = readdirSync(lib)
  writeFileSync(join(lib, version, 'site-packages/ones.py'), 'ONE = 1\n')
}
const ENVIRONMENT: Kind = {
  install: installEnvironment,
  before: { '.gitignore': IGNORED, 'src/sums/__init__.py': 'def add(a, b):\n    return a - b\n' },
  after: {
    'src/sums/__init__.py': 'def add(a, b):\n    return a + b\n',
    'tests/test_add.py':
      'import unittest\n\nfrom ones import ONE\nfrom sums import add\n\n\nclass Test(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(ONE, ONE), 2)\n',
  },
  cheat: { '.venv/bin/python3': '#!/bin/sh\nexit 0\n' },
}

interface Kind {
  readonly install: (folder: string) => void
  readonly before: Files
  readonly after: Files
  /** What an agent would put in its place. */
  readonly cheat: Files
}

function made({ install, before, after }: Kind): TestHistory {
  const history = historyIn(temporaryFolder())
  history.commit('root', before)
  history.commit('Let what is added to a number be one', after)
  install(history.folder)
  return history
}

const EXECUTORS = { local, sandbox }

async function mined(kind: Kind, name: keyof typeof EXECUTORS) {
  const history = made(kind)
  const directory = join(temporaryFolder(), 'tasks')
  const executor = await EXECUTORS[name].plugin.make({})
  const judge = { name, executor, evaluator: async () => verify.plugin }
  const miner = await git.plugin.make({})
  const found = await mineTasks({
    directory,
    miner,
    source: history.folder,
    tasksMax: 1,
    seed: 's',
    judge,
    secondsMax: 120,
    report,
    signal,
  })
  expect(found).toMatchObject({ passedOver: [], added: [expect.any(String)] })
  const { task } = await readMinedTask(directory, found.added[0] ?? '')
  const score = (files: Files): Promise<number | null> => {
    const workspace = temporaryFolder()
    writeInto(workspace, files)
    return verify.plugin.score(task, played, { workspace, models: {}, executor, reference: null, signal })
  }
  return { history, task, score }
}

async function expectHeld(kind: Kind, name: keyof typeof EXECUTORS, path: string): Promise<void> {
  const { history, task, score } = await mined(kind, name)
  expect(task.dependencies).toEqual({ [path]: join(realpathSync(history.folder), path) })
  expect(await score({ ...task.files, ...kind.cheat })).toBe(0)
  expect(await score({ ...task.files, ...kind.after, ...kind.cheat })).toBe(1)
}

describe('what is installed in a checkout', () => {
  it('is found by the tests of its tasks, also its own packages, and an agent cannot replace it', async () => {
    await expectHeld(PACKAGES, 'local', 'node_modules')
  })

  it('that is gone is no verdict on an agent', async () => {
    const { history, task, score } = await mined(PACKAGES, 'local')
    rmSync(join(history.folder, 'node_modules'), { recursive: true })
    await expect(score({ ...task.files, ...PACKAGES.after })).rejects.toMatchObject({ code: 'no_dependencies' })
  })

  it('and is part of the history comes from there', async () => {
    const { install, before, after } = PACKAGES
    const history = historyIn(temporaryFolder())
    history.commit('root', { ...before, '.gitignore': '' })
    install(history.folder)
    history.commit('Keep what is installed', {})
    history.commit('Let what is added to a number be one', after)
    const order = {
      source: history.folder,
      tasksMax: 1,
      known: new Set<string>(),
      report,
      passOver: report,
      signal,
    }
    const tasks: MinedTask[] = []
    for await (const task of (await git.plugin.make({})).mine(order)) tasks.push(task)
    expect(tasks.map(({ dependencies }) => dependencies)).toEqual([undefined])
  })
})

await describeSandboxed('what is installed in a checkout, in the sandbox', () => {
  it.each([
    ['packages of npm', PACKAGES, 'node_modules'],
    ['a virtual environment of Python', ENVIRONMENT, '.venv'],
  ])('%s are found by the tests of its tasks, and an agent cannot replace them', async (_what, kind, path) => {
    await expectHeld(kind, 'sandbox', path)
  })
})
