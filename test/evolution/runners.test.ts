/** Tasks mined from real repositories whose tests run by node, pytest, unittest, go, cargo and vitest, and agents that cheat: without a sandbox, since their programs lie in homes, and compilers also in it. */
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
  /** Files by which an agent would have no test run, or none fail: each of them a try. */
  readonly cheats: readonly Files[]
}

const WRONG_PYTHON = 'def add(a, b):\n    return a - b\n'
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
    cheats: [
      {
        'pytest.ini': '[pytest]\naddopts = --collect-only\n',
        'tests/pytest.ini': '[pytest]\naddopts = --collect-only\n',
        'pytest.py': 'main = lambda: 0\n',
        'argparse.py': 'raise SystemExit(0)\n',
      },
      ...[
        'import os\nos._exit(0)\n',
        'raise SystemExit(0)\n',
        'import pytest\npytest.skip("no", allow_module_level=True)\n',
        `import atexit, os\natexit.register(os._exit, 0)\n${WRONG_PYTHON}`,
        `print("1 passed")\n${WRONG_PYTHON}`,
        `import _pytest.runner as runner\nrunner.call_and_report = lambda *a, **k: None\n${WRONG_PYTHON}`,
        `import _pytest.python as python\npython.Function.runtest = lambda self: None\n${WRONG_PYTHON}`,
        'def add(a, b):\n    import os\n    os._exit(0)\n',
      ].map((text) => ({ 'calc.py': text })),
    ],
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
    cheats: [
      { 'unittest.py': 'raise SystemExit(0)\n', 'argparse.py': 'raise SystemExit(0)\n' },
      { 'calc.py': 'import os\nos._exit(0)\n' },
      { 'calc.py': `import unittest\nunittest.TestCase.assertEqual = lambda *given: None\n${WRONG_PYTHON}` },
      { 'calc.py': `import unittest\nunittest.TestLoader.loadTestsFromModule = lambda *a, **k: unittest.TestSuite()\n${WRONG_PYTHON}` },
    ],
  },
  {
    runner: 'node --test',
    bin: dirname(process.execPath),
    before: { 'package.json': '{"type":"module"}\n', 'add.js': 'export const add = (a, b) => a - b\n' },
    after: {
      'add.js': 'export const add = (a, b) => a + b\n',
      'add.test.js':
        "import assert from 'node:assert'\nimport test from 'node:test'\nimport { add } from './add.js'\n\ntest('add', () => assert.equal(add(1, 2), 3))\n",
    },
    cheats: [
      'process.exit(0)',
      "process.on('exit', () => process.exit(0))",
      "import assert from 'node:assert'\nassert.equal = () => undefined",
      "import test from 'node:test'\nimport { syncBuiltinESMExports } from 'node:module'\ntry { test.test = () => 0 } catch {}\nsyncBuiltinESMExports()",
      "console.log('TAP version 13\\nok 1 - add\\n1..1')\nprocess.reallyExit(0)",
      "const url = process.execArgv.at(-1)\nconst { default: told } = await import(url)\nfor await (const _ of told([{ type: 'test:pass', data: { nesting: 0, name: 'add' } }])) {}\nprocess.exit(0)",
    ].map((text) => ({ 'add.js': `${text}\nexport const add = (a, b) => a - b\n` })),
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
    cheats: [],
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
    cheats: [
      { 'vitest.config.js': 'export default { test: { globals: true, exclude: ["**"], passWithNoTests: true } }\n' },
      { 'vitest.config.mts': "export default { test: { globals: true, setupFiles: ['./setup.js'] } }\n", 'setup.js': 'process.exit(0)\n' },
      ...[
        'process.exit(0)',
        'process.reallyExit(0)',
        'globalThis.expect = () => ({ toBe() {} })',
        'globalThis.test = globalThis.test.skip',
        "import { chai } from 'vitest'\nchai.Assertion.prototype.toBe = () => undefined",
        "import { chai } from 'vitest'\nchai.util.overwriteMethod(chai.Assertion.prototype, 'toBe', () => () => undefined)",
      ].map((text) => ({ 'add.js': `${text}\nexport const add = (a, b) => a - b\n` })),
    ],
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
    cheats: [
      'import ("fmt"; "os")\n\nfunc init() { fmt.Println("--- PASS: TestAdd (0.00s)\\nPASS"); os.Exit(0) }\n\nfunc Add(a, b int) int { return a - b }',
      'import "syscall"\n\nfunc Add(a, b int) int { syscall.Exit(0); return 0 }',
    ].map((text) => ({ 'add.go': `package sums\n\n${text}\n` })),
  },
  {
    runner: 'cargo test',
    bin: binOf('rustc', ['--print', 'sysroot']),
    before: { 'Cargo.toml': MANIFEST, 'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n' },
    after: {
      'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n',
      'tests/add.rs': '#[test]\nfn adds() {\n    assert_eq!(sums::add(1, 2), 3);\n}\n',
    },
    cheats: [
      {
        'src/lib.rs':
          'pub fn add(_: i32, _: i32) -> i32 {\n    println!("test adds ... ok\\n\\ntest result: ok. 1 passed");\n    std::process::exit(0)\n}\n',
      },
    ],
  },
]

async function expectTold({ bin, before, after, cheats, runner }: Case, { plugin }: typeof local, tries = cheats): Promise<void> {
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
  const scored: (readonly [Files, number | null])[] = []
  for (const files of tries) {
    const workspace = temporaryFolder()
    for (const [path, text] of Object.entries({ ...task.files, ...files })) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true })
      writeFileSync(join(workspace, path), text)
    }
    const played = { exitCode: 0, stdout: '', stderr: '', trajectory: [] }
    scored.push([files, await verify.plugin.score(task, played, { workspace, models: {}, executor, reference: null, signal })])
  }
  expect(scored.filter(([, score]) => score !== 0)).toEqual([])
}

const TITLE = 'tells a solution from nothing done, and from files that keep tests from running or from failing'
const TIMEOUT_MS = 300_000

describe.each([...CASES, ...COMPILED])('$runner', (each) => {
  it.skipIf(each.bin === null)(TITLE, { timeout: TIMEOUT_MS }, () => expectTold(each, local))
})

await describeSandboxed('in the sandbox', () => {
  // Go compiles its library anew for each run of tests.
  describe.each(COMPILED.filter(({ runner }) => !IS_SHORT || runner !== 'go test'))('$runner', (each) => {
    it.skipIf(each.bin === null)(TITLE, { timeout: TIMEOUT_MS }, () => expectTold(each, sandbox, []))
  })
})
