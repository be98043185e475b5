/** Tasks mined from real repositories whose tests run by pytest, unittest, go, cargo and vitest: without a sandbox, since their programs lie in homes, and compilers also in it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import verify from '../../plugins/evaluators/verify/index.ts'
import local from '../../plugins/executors/local/index.ts'
import sandbox from '../../plugins/executors/sandbox/index.ts'
import git from '../../plugins/miners/git/index.ts'
import { historyIn } from '../../plugins/miners/git/testing/history.ts'
import type { Files } from '../../src/contract/index.ts'
import { mineTasks, readMinedTask } from '../../src/mining/index.ts'
import { sharedFolder, temporaryFolder } from '../support/folder.ts'
import { describeSandboxed } from '../support/sandbox.ts'
import { IS_SHORT } from '../support/short.ts'

afterEach(() => vi.unstubAllEnvs())

const signal = new AbortController().signal

/** The folder of a program as it is outside of anybody's home; null where there is none. */
function binOf(program: string, args: readonly string[]): string | null {
  try {
    return join(execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim(), 'bin')
  } catch {
    return null
  }
}

/** Where Python finds no pytest, and nothing else that was installed. */
function binOfBarePython(): string | null {
  const folder = sharedFolder()
  const python = binOf('python3', ['-c', 'import sys; print(sys.prefix)'])
  writeFileSync(join(folder, 'python3'), `#!/bin/sh\nexec ${python}/python3 -S "$@"\n`, { mode: 0o755 })
  return python === null ? null : folder
}

interface Case {
  readonly runner: string
  readonly bin: string | null
  readonly before: Files
  readonly after: Files
  /** Files by which an agent would have no test run. */
  readonly cheat?: Files
}

const MANIFEST = '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n'

const CASES: readonly Case[] = [
  {
    runner: 'pytest',
    bin: binOf('python3', ['-c', 'import pytest, sys; print(sys.prefix)']),
    before: { 'calc.py': 'def add(a, b):\n    return a - b\n' },
    after: {
      'calc.py': 'def add(a, b):\n    return a + b\n',
      'tests/test_calc.py': 'from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n',
    },
    cheat: {
      'pytest.ini': '[pytest]\naddopts = --collect-only\n',
      'tests/pytest.ini': '[pytest]\naddopts = --collect-only\n',
      'pytest.py': 'main = lambda: 0\n',
      'argparse.py': 'raise SystemExit(0)\n',
    },
  },
  {
    runner: 'unittest',
    bin: binOfBarePython(),
    before: { 'calc.py': 'def add(a, b):\n    return a - b\n' },
    after: {
      'calc.py': 'def add(a, b):\n    return a + b\n',
      'tests/test_calc.py':
        'import unittest\n\nfrom calc import add\n\n\nclass Test(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n',
    },
    cheat: { 'unittest.py': 'raise SystemExit(0)\n', 'argparse.py': 'raise SystemExit(0)\n' },
  },
  {
    runner: 'all.mjs, which looks for tests everywhere',
    bin: dirname(process.execPath),
    before: {
      'package.json': '{"type":"module","scripts":{"test":"node all.mjs"}}\n',
      'all.mjs': "import { globSync } from 'node:fs'\nfor (const path of globSync('**/*.test.js')) await import(`./${path}`)\n",
      'src/add.js': 'export const add = (a, b) => a - b\n',
    },
    after: {
      'src/add.js': 'export const add = (a, b) => a + b\n',
      'src/add.test.js': "import { add } from './add.js'\nif (add(1, 2) !== 3) process.exit(1)\n",
    },
  },
  {
    runner: 'vitest',
    bin: join(import.meta.dirname, '../../node_modules/.bin'),
    before: {
      'package.json': '{"type":"module","scripts":{"test":"vitest run"}}\n',
      'vitest.config.js': 'export default { test: { globals: true } }\n',
      'add.js': 'export const add = (a, b) => a - b\n',
    },
    after: {
      'add.js': 'export const add = (a, b) => a + b\n',
      'add.test.js': "import { add } from './add.js'\n\ntest('add', () => expect(add(1, 2)).toBe(3))\n",
    },
  },
]

const COMPILED: readonly Case[] = [
  {
    runner: 'go test',
    bin: binOf('go', ['env', 'GOROOT']),
    before: { 'go.mod': 'module example.com/sums\n\ngo 1.20\n', 'add.go': 'package sums\n\nfunc Add(a, b int) int { return a - b }\n' },
    after: {
      'add.go': 'package sums\n\nfunc Add(a, b int) int { return a + b }\n',
      'add_test.go':
        'package sums\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
    },
  },
  {
    runner: 'cargo test',
    bin: binOf('rustc', ['--print', 'sysroot']),
    before: { 'Cargo.toml': MANIFEST, 'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n' },
    after: {
      'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n',
      'tests/add.rs': '#[test]\nfn adds() {\n    assert_eq!(sums::add(1, 2), 3);\n}\n',
    },
  },
]

async function expectTold({ bin, before, after, cheat, runner }: Case, { plugin }: typeof local): Promise<void> {
  vi.stubEnv('PATH', [bin ?? '', process.env['PATH'] ?? ''].join(delimiter))
  const history = historyIn(temporaryFolder())
  history.commit('root', before)
  history.commit('Let the sum of two numbers be their sum', after)
  const directory = join(temporaryFolder(), 'tasks')
  const executor = await plugin.make({})
  const judge = { name: 'tried', executor, evaluator: async () => verify.plugin }
  const miner = await git.plugin.make({})
  const run = {
    directory,
    miner,
    source: history.folder,
    tasksMax: 1,
    seed: 's',
    judge,
    secondsMax: 120,
    report: () => undefined,
    signal,
  }
  const { added, passedOver } = await mineTasks(run)
  expect({ added: added.length, passedOver }).toEqual({ added: 1, passedOver: [] })
  const { task } = await readMinedTask(directory, added[0] ?? '')
  expect(JSON.stringify(task.data)).toContain(runner.split(/[ ,]/)[0])
  if (cheat === undefined) return
  const workspace = temporaryFolder()
  for (const [path, text] of Object.entries({ ...task.files, ...cheat })) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  const played = { exitCode: 0, stdout: '', stderr: '', trajectory: [] }
  expect(await verify.plugin.score(task, played, { workspace, models: {}, executor, reference: null, signal })).toBe(0)
}

const TITLE = 'tells a solution from nothing done, and from files that keep tests from running'
const TIMEOUT_MS = 300_000

describe.each([...CASES, ...COMPILED])('$runner', (each) => {
  it.skipIf(each.bin === null)(TITLE, { timeout: TIMEOUT_MS }, () => expectTold(each, local))
})

await describeSandboxed('in the sandbox', () => {
  // Go compiles its library anew for each run of tests.
  describe.each(COMPILED.filter(({ runner }) => !IS_SHORT || runner !== 'go test'))('$runner', (each) => {
    it.skipIf(each.bin === null)(TITLE, { timeout: TIMEOUT_MS }, () => expectTold(each, sandbox))
  })
})
