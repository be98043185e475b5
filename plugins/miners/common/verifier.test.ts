/** Where the tests of a commit run, and what their script does, by what the repository holds. */
import { expect, it } from 'vitest'
import type { Files } from '../../../src/contract/index.ts'
import { verifierOf, type TestSituation } from './verifier.ts'

const packageWith = (test: string | null, more: object = {}): string =>
  JSON.stringify({ ...more, scripts: test === null ? { lint: 'eslint' } : { test } })

const scriptFor = (situation: TestSituation): readonly string[] => verifierOf(situation)?.files['verify/run.sh']?.split('\n') ?? []

/** '' is the top. */
const folderIn = (script: readonly string[]): string => script.flatMap((line) => /^cd '\.\/(.*)' \|\|/.exec(line)?.[1] ?? []).join()

const NODE_TEST: Files = { 'packages/a/test/a.test.js': "import 'node:test'\n" }
const VITEST: Files = { 'packages/a/test/a.test.js': "import 'vitest'\n" }
const PLAIN: Files = { 'packages/a/test/a.test.js': 'a' }
const PYTHON: Files = { 'packages/a/tests/test_a.py': 'import pytest\n' }

it.each<readonly [where: string, tests: Files, settings: Files, folder: string]>([
  [
    'below a top without a script of tests',
    PLAIN,
    { 'package.json': packageWith(null), 'packages/a/package.json': packageWith('check') },
    'packages/a',
  ],
  [
    'below a Makefile that has no tests',
    NODE_TEST,
    { Makefile: 'build:\n\tcc\n', 'packages/a/package.json': packageWith('node --test') },
    'packages/a',
  ],
  [
    'below a Makefile that has tests',
    PLAIN,
    { Makefile: 'test:\n\tcheck\n', 'packages/a/package.json': packageWith('check') },
    'packages/a',
  ],
  [
    'below a top that tests all packages',
    VITEST,
    { 'package.json': packageWith('npm test --workspaces'), 'packages/a/package.json': packageWith('vitest run') },
    'packages/a',
  ],
  [
    'below a project of another language',
    NODE_TEST,
    { 'pyproject.toml': '', 'packages/a/package.json': packageWith('node --test') },
    'packages/a',
  ],
  ['below another project of Python', PYTHON, { 'pyproject.toml': '', 'packages/a/pyproject.toml': '' }, 'packages/a'],
  [
    'in the nearest of several folders',
    PLAIN,
    { 'packages/package.json': packageWith('all'), 'packages/a/package.json': packageWith('check') },
    'packages/a',
  ],
  [
    'at the top, whose package has what runs them',
    VITEST,
    { 'package.json': packageWith(null, { devDependencies: { vitest: '*' } }), 'packages/a/package.json': packageWith(null) },
    '',
  ],
  [
    'at the top, which alone has a script',
    PLAIN,
    { 'package.json': packageWith('check'), 'packages/a/package.json': packageWith(null) },
    '',
  ],
  ['at the top, whose Makefile alone runs them', PLAIN, { Makefile: 'test:\n\tcheck\n', 'packages/a/package.json': packageWith(null) }, ''],
  ['in the nearest project where none says how', NODE_TEST, { Makefile: 'all:\n', 'packages/a/package.json': '{}' }, 'packages/a'],
  [
    'above a project among fixtures',
    { 'test/fixtures/b/b.test.js': "import 'node:test'\n" },
    { 'package.json': packageWith(null), 'test/fixtures/b/package.json': packageWith('check') },
    '',
  ],
  [
    'where all of them lie',
    { ...PLAIN, 'packages/b/test/b.test.js': 'b' },
    { 'package.json': packageWith('check'), 'packages/a/package.json': packageWith('check') },
    '',
  ],
])('tests run %s', (_where, tests, settings, folder) => {
  const script = scriptFor({ tests, settings })
  expect(script.length).toBeGreaterThan(0)
  expect(folderIn(script)).toBe(folder)
})

/** The line that says where programs are looked for, and the one after it. */
function pathIn(situation: TestSituation, ...installed: readonly string[]): readonly string[] {
  const dependencies = Object.fromEntries(installed.map((path) => [path, `/repository/${path}`]))
  const script = scriptFor({ ...situation, dependencies })
  const at = script.findIndex((line) => line.startsWith('PATH='))
  return script.slice(at, at + 2)
}
const MOVES = "cd './packages/a' || exit 126"

it('programs come from what is installed for the folder and above it, and from nowhere that an agent can write', () => {
  const situation = {
    tests: VITEST,
    settings: { 'package.json': packageWith('turbo'), 'packages/a/package.json': packageWith('vitest run') },
  }
  expect(pathIn(situation, 'node_modules')).toEqual([`PATH="$PWD"/'node_modules/.bin':"$PATH"`, MOVES])
  expect(pathIn(situation, 'node_modules', 'packages/a/node_modules')).toEqual([
    `PATH="$PWD"/'packages/a/node_modules/.bin':"$PWD"/'node_modules/.bin':"$PATH"`,
    MOVES,
  ])
})

it('a Python project below the top has the environment of the top, unless it has its own', () => {
  const situation = { tests: PYTHON, settings: { 'packages/a/pyproject.toml': '' } }
  expect(pathIn(situation, '.venv', 'node_modules')).toEqual([`PATH="$PWD"/'.venv/bin':"$PATH"`, MOVES])
  expect(pathIn(situation, '.venv', 'packages/a/.venv')).toEqual([`PATH="$PWD"/'packages/a/.venv/bin':"$PATH"`, MOVES])
})

it('a script that no person wrote is not read', () => {
  const script = `node --test ${'node -a '.repeat(250)}`
  const settings = { 'package.json': packageWith(script) }
  expect(verifierOf({ tests: { 'test/a.test.js': 'a' }, settings })).toBeNull()
})
