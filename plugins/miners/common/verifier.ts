/** Chooses the runner of a commit's tests by what the repository holds, and writes the script that puts them in place and runs them. */
import { posix } from 'node:path'
import { isObject, type Dependencies, type Files } from '../../../src/contract/index.ts'
import { isTest, isVendored } from './paths.ts'

export interface Verifier {
  readonly runner: string
  /** Paths start with `verify/`. */
  readonly files: Files
}

/** What a runner is chosen by. */
export interface TestSituation {
  /** Test files of the commit, as they are after it. */
  readonly tests: Files
  /** Files of the tree after the commit that decide how tests run. */
  readonly settings: Files
  /** What is installed for the tests. */
  readonly dependencies?: Dependencies
}

/** What pytest reads beside tests, in whatever folder: options in it may leave every test out. */
const PYTEST_FILES = ['conftest.py', 'pytest.ini', '.pytest.ini', 'pytest.toml', '.pytest.toml', 'pyproject.toml', 'setup.cfg', 'tox.ini']
const isOfPytest = (path: string): boolean => PYTEST_FILES.includes(posix.basename(path))

/** Files that make a folder a project of its own, such as `backend` and `frontend` in one repository. */
const PROJECT_FILES: ReadonlySet<string> = new Set(['package.json', 'go.mod', 'Cargo.toml', 'pyproject.toml', 'setup.cfg'])
const isOfProject = (path: string): boolean =>
  PROJECT_FILES.has(posix.basename(path)) && path.split('/').length <= PROJECT_DEPTH_MAX && !isVendored(path)
const PROJECT_DEPTH_MAX = 3

/** Files that decide how tests run. */
export const isSetting = (path: string): boolean => path === 'Makefile' || isOfProject(path) || isOfPytest(path)

interface Runner {
  readonly name: string
  /** The files that it runs; none where it does not fit. */
  fits(situation: TestSituation): readonly string[]
  /** Lines of shell; the last one starts the tests. */
  script(files: readonly string[], situation: TestSituation): readonly string[]
  /** Settings that the agent may not choose. */
  keeps?(path: string): boolean
}

const has = (program: string): string => `command -v ${program} >/dev/null 2>&1 || exit 127`
const textOf = (files: Files, path: string): string => (Object.hasOwn(files, path) ? (files[path] ?? '') : '')
const SCRIPTED = /\.(?:[cm]?js|[cm]?ts|jsx|tsx)$/
const scripted = ({ tests }: TestSituation): readonly string[] =>
  Object.keys(tests).filter((path) => SCRIPTED.test(path) && /[._-](?:test|spec)\.|(?:^|\/)(?:tests?|__tests__|specs?)\//i.test(path))

/** Test files that import it, or all where `npm test` is it. */
function scriptRunner(
  name: string,
  imports: RegExp,
  command: RegExp,
  lines: (files: string) => readonly string[],
  named = (path: string): string => path,
): Runner {
  return {
    name,
    fits: (situation) => {
      const files = scripted(situation)
      const importing = files.filter((path) => imports.test(textOf(situation.tests, path)))
      return importing.length > 0 ? importing : command.test(npmTest(situation)) ? files : []
    },
    script: (files) => lines(files.map((path) => pathWord(named(path))).join(' ')),
  }
}

/** Node takes what it is told to test for patterns, and finds nothing under `[id].test.js`, which is no failure. */
const asPattern = (path: string): string => path.replaceAll(/[[*?(]/g, '[$&]').replaceAll('{', '?')

/** Without the workspace on the path until the runner is loaded: a file there may have the name of any module. */
const PYTEST = 'import sys; del sys.path[0]; import pytest'
/** Many packages lie in `src`. */
const OWN_CODE = 'sys.path[:0] = ["", "src"]'
const UNITTEST = `import sys; del sys.path[0]; import unittest; ${OWN_CODE}; unittest.main(module=None)`
/** Every Python has unittest: tests that are written for it need no pytest. */
const isOfUnittest = (text: string): boolean => /^\s*(?:import|from) unittest\b/m.test(text) && !/\bpytest\b/.test(text)
const PACKAGES = 'node_modules'
const LOCAL = 'PATH="$PWD/node_modules/.bin:$PATH"'

const RUNNERS: readonly Runner[] = [
  scriptRunner('node --test', /['"]node:test['"]/, /\bnode\b.*--test\b/, (files) => [has('node'), `exec node --test ${files}`], asPattern),
  scriptRunner('vitest', /['"]vitest['"]/, /\bvitest\b/, (files) => [LOCAL, has('vitest'), `exec vitest run ${files}`]),
  scriptRunner('jest', /['"]@jest\/globals['"]/, /\bjest\b/, (files) => [LOCAL, has('jest'), `exec jest --runTestsByPath ${files}`]),
  {
    name: 'pytest',
    fits: ({ tests }) => Object.keys(tests).filter((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path)),
    script: (files, { tests, dependencies = {} }) => {
      const paths = files.map(pathWord).join(' ')
      const instead = files.every((path) => isOfUnittest(textOf(tests, path))) ? `exec python3 -c '${UNITTEST}' ${paths}` : 'exit 127'
      const environment = Object.keys(dependencies).find((path) => !path.includes('/') && posix.basename(path) !== PACKAGES)
      return [
        // Put in place before, so that it is not the agent's.
        ...(environment === undefined ? [] : [`PATH="$PWD"/${quoted(environment)}/bin:"$PATH"`]),
        has('python3'),
        `python3 -c '${PYTEST}' 2>/dev/null || ${instead}`,
        `exec python3 -c '${PYTEST}; ${OWN_CODE}; sys.exit(pytest.main())' -q -p no:cacheprovider ${paths}`,
      ]
    },
    keeps: isOfPytest,
  },
  {
    name: 'go test',
    fits: ({ tests, settings }) =>
      Object.hasOwn(settings, 'go.mod') ? Object.keys(tests).filter((path) => path.endsWith('_test.go')) : [],
    script: (files) => [
      'export GOPROXY=off GOTOOLCHAIN=local GOCACHE="${TMPDIR:-/tmp}/go-cache"',
      has('go'),
      `exec go test ${[...new Set(files.map((path) => pathWord(posix.dirname(path))))].join(' ')}`,
    ],
  },
  {
    name: 'cargo test',
    fits: ({ tests, settings }) =>
      Object.hasOwn(settings, 'Cargo.toml') ? Object.keys(tests).filter((path) => /^tests\/[^/]+\.rs$/.test(path)) : [],
    script: (files) => [
      'export CARGO_TARGET_DIR="${TMPDIR:-/tmp}/target"',
      has('cargo'),
      `exec cargo test --offline ${files.map((path) => `--test ${quoted(posix.basename(path, '.rs'))}`).join(' ')}`,
    ],
  },
  {
    name: 'npm test',
    fits: (situation) => (npmTest(situation) === '' ? [] : scripted(situation)),
    script: (_, situation) => [LOCAL, `exec sh -c ${quoted(npmTest(situation))}`],
  },
  {
    name: 'make test',
    fits: ({ tests, settings }) => (/^test\s*:/m.test(textOf(settings, 'Makefile')) ? Object.keys(tests) : []),
    script: () => [has('make'), 'exec make test'],
    keeps: (path) => path === 'Makefile',
  },
]

/** The command of `npm test`; empty where there is none. */
function npmTest({ settings }: TestSituation): string {
  try {
    const described: unknown = JSON.parse(textOf(settings, 'package.json'))
    const scripts = isObject(described) && isObject(described['scripts']) ? described['scripts'] : {}
    const command = scripts['test']
    return typeof command === 'string' && !command.includes('no test specified') ? command : ''
  } catch {
    return ''
  }
}

/** Null where no runner is known for these tests. */
export function verifierOf(situation: TestSituation): Verifier | null {
  const project = projectOf(situation)
  const there = project === '' ? situation : below(project, situation)
  for (const runner of RUNNERS) {
    const files = runner.fits(there)
    if (files.length === 0) continue
    const kept = Object.entries(situation.settings).filter(([path]) => runner.keeps?.(path) === true)
    const placed = { ...Object.fromEntries(kept), ...situation.tests }
    const lines = [...(project === '' ? [] : [`cd ${pathWord(project)} || exit 126`]), ...runner.script(files, there)]
    return { runner: runner.name, files: { 'verify/run.sh': scriptOf(runner, lines, Object.keys(placed)), ...under(placed) } }
  }
  return null
}

/** The folder that the tests run in: '' is the top, and so it is where that holds a project. */
function projectOf({ tests, settings, dependencies = {} }: TestSituation): string {
  const marks = [...Object.keys(settings).filter((path) => isOfProject(path) || path === 'Makefile'), ...Object.keys(dependencies)]
  const projects = new Set(marks.map((path) => posix.dirname(path)))
  if (projects.has('.')) return ''
  const [first = '', ...others] = Object.keys(tests)
  const shared = foldersOf(first).filter((folder) => others.every((path) => path.startsWith(`${folder}/`)))
  return shared.find((folder) => projects.has(folder) && !isTest(`${folder}/x`)) ?? ''
}

/** As it looks from that folder. */
function below(folder: string, { tests, settings, dependencies = {} }: TestSituation): TestSituation {
  const inside = (files: Files): Files =>
    Object.fromEntries(
      Object.entries(files)
        .filter(([path]) => path.startsWith(`${folder}/`))
        .map(([path, text]) => [path.slice(folder.length + 1), text]),
    )
  return { tests: inside(tests), settings: inside(settings), dependencies: inside(dependencies) }
}

const STORE = 'verify/tests'
const under = (files: Files): Files => Object.fromEntries(Object.entries(files).map(([path, text]) => [`${STORE}/${path}`, text]))

/** The agent's files give way: folders that are links or files, and settings that tests would load. */
function scriptOf(runner: Runner, lines: readonly string[], placed: readonly string[]): string {
  const folders = [...new Set(placed.flatMap(foldersOf))].sort((a, b) => a.length - b.length)
  return [
    '# Puts the tests of the commit in place, and runs them.',
    ...(runner.keeps?.('conftest.py') === true
      ? [`find . \\( ${PYTEST_FILES.map((name) => `-name ${name}`).join(' -o ')} \\) -not -path './verify/*' -exec rm -rf {} +`]
      : []),
    ...folders.map(
      (folder) =>
        `if [ -L ${pathWord(folder)} ] || [ ! -d ${pathWord(folder)} ]; then rm -rf ${pathWord(folder)}; mkdir ${pathWord(folder)}; fi`,
    ),
    ...placed.map((path) => `rm -rf ${pathWord(path)}; cp ${pathWord(`${STORE}/${path}`)} ${pathWord(path)} || exit 126`),
    // A runner that looks for tests everywhere would find them twice.
    `rm -rf ./${STORE}`,
    ...lines,
    '',
  ].join('\n')
}

function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [...foldersOf(folder), folder]
}

/** Begins with ./ so that no path is an option. */
const pathWord = (path: string): string => quoted(`./${path}`)

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
