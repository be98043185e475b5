/** Chooses the runner of a commit's tests by what the repository holds, and writes the script that puts them in place and runs them. */
import { posix } from 'node:path'
import { isObject, type Dependencies, type Files, type JsonObject } from '../../../src/contract/index.ts'
import { nodeOptionsIn } from './node-options.ts'
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
  /** Test files that the commit takes away, or moves. */
  readonly removed?: readonly string[]
  /** Files of the tree after the commit that tests may start as programs. */
  readonly programs?: readonly string[]
  /** Files of the tree after the commit that decide how tests run. */
  readonly settings: Files
  /** What is installed for the tests. */
  readonly dependencies?: Dependencies
}

/** What pytest reads beside tests, in whatever folder: options in it may leave every test out. */
const PYTEST_SETTINGS = ['pytest.ini', '.pytest.ini', 'pytest.toml', '.pytest.toml', 'pyproject.toml', 'setup.cfg', 'tox.ini']
const PYTEST_FILES = ['conftest.py', ...PYTEST_SETTINGS]
const isOfPytest = (path: string): boolean => PYTEST_FILES.includes(posix.basename(path))

/** Files that make a folder a project of its own, such as `backend` and `frontend` in one repository. */
const PROJECT_FILES: ReadonlySet<string> = new Set(['package.json', 'go.mod', 'Cargo.toml', 'pyproject.toml', 'setup.cfg'])
const isOfProject = (path: string): boolean =>
  PROJECT_FILES.has(posix.basename(path)) && path.split('/').length <= PROJECT_DEPTH_MAX && !isVendored(path)
const PROJECT_DEPTH_MAX = 3

/** Files that decide how tests run. */
export const isSetting = (path: string): boolean => path === 'Makefile' || isOfProject(path) || isOfPytest(path)

/** As it looks from a folder. */
interface Project extends TestSituation {
  /** '' is the top. */
  readonly folder: string
}

interface Runner {
  readonly name: string
  /** The files that it runs; none where it does not fit. */
  fits(project: Project): readonly string[]
  /** Whether what the folder holds says that tests run there; absent where that is why it fits. */
  isAtHome?(project: Project): boolean
  /** Folders of programs, from the top on; the first one goes before the others. */
  readonly programs?: (folder: string, dependencies: Dependencies) => readonly string[]
  /** Lines of shell; the last one starts the tests. */
  script(files: readonly string[], project: Project): readonly string[]
  /** Settings that the agent may not choose. */
  keeps?(path: string): boolean
}

const has = (program: string): string => `command -v ${program} >/dev/null 2>&1 || exit 127`
const textOf = (files: Files, path: string): string => (Object.hasOwn(files, path) ? (files[path] ?? '') : '')
const SCRIPTED = /\.(?:[cm]?js|[cm]?ts|jsx|tsx)$/
const scripted = ({ tests }: TestSituation): readonly string[] =>
  Object.keys(tests).filter((path) => SCRIPTED.test(path) && /[._-](?:test|spec)\.|(?:^|\/)(?:tests?|__tests__|specs?)\//i.test(path))

interface ScriptRunner extends Pick<Runner, 'name' | 'programs'> {
  readonly imports: RegExp
  /** In `npm test`. */
  readonly command: RegExp
  readonly lines: Runner['script']
}

/** Test files that import it, or all where `npm test` is it. */
function scriptRunner({ imports, command, lines, ...more }: ScriptRunner): Runner {
  return {
    ...more,
    fits: (project) => {
      const files = scripted(project)
      const importing = files.filter((path) => imports.test(textOf(project.tests, path)))
      return importing.length > 0 ? importing : command.test(npmTest(project)) ? files : []
    },
    isAtHome: (project) => npmTest(project) !== '' || dependsOn(project, more.name),
    script: lines,
  }
}

/** As npm has them: of the folder, and of those above it. Where some are installed, an agent may not put its own before them. */
function packagedPrograms(folder: string, dependencies: Dependencies): readonly string[] {
  const all = fromNearest(folder).map((each) => posix.join(each, PACKAGES))
  const installed = all.filter((path) => Object.hasOwn(dependencies, path))
  return (installed.length > 0 ? installed : all).map((path) => posix.join(path, '.bin'))
}

/** The virtual environment that is nearest. */
const environmentFor = (folder: string, dependencies: Dependencies): string | undefined =>
  fromNearest(folder)
    .flatMap((each) => Object.keys(dependencies).filter((path) => path === posix.join(each, posix.basename(path))))
    .find((path) => posix.basename(path) !== PACKAGES)

/** Node takes what it is told to test for patterns, and finds nothing under `[id].test.js`, which is no failure. */
const asPattern = (path: string): string => path.replaceAll(/[[*?(]/g, '[$&]').replaceAll('{', '?')

/** Without the workspace on the path until the runner is loaded: a file there may have the name of any module. */
const PYTEST = 'import sys; del sys.path[0]; import pytest'
/** Many packages lie in `src`. */
const OWN_CODE = 'sys.path[:0] = ["", "src"]'
const UNITTEST = `import sys; del sys.path[0]; import unittest; ${OWN_CODE}; unittest.main(module=None)`
/** Every Python has unittest: tests that are written for it need no pytest. */
const isOfUnittest = (text: string): boolean => /^[^\S\n\r\u2028\u2029]*(?:import|from) unittest\b/m.test(text) && !/\bpytest\b/.test(text)
const PACKAGES = 'node_modules'

const RUNNERS: readonly Runner[] = [
  scriptRunner({
    name: 'node --test',
    imports: /['"]node:test['"]/,
    command: /\bnode\b.*--test\b/,
    lines: (files, project) => {
      const words = ['node', ...nodeOptionsIn(npmTest(project)), '--test', ...files.map(asPattern).map(pathWord)]
      return [has('node'), `exec ${words.join(' ')}`]
    },
  }),
  scriptRunner({
    name: 'vitest',
    imports: /['"]vitest['"]/,
    command: /\bvitest\b/,
    programs: packagedPrograms,
    lines: (files) => [has('vitest'), `exec vitest run ${files.map(pathWord).join(' ')}`],
  }),
  scriptRunner({
    name: 'jest',
    imports: /['"]@jest\/globals['"]/,
    command: /\bjest\b/,
    programs: packagedPrograms,
    lines: (files) => [has('jest'), `exec jest --runTestsByPath ${files.map(pathWord).join(' ')}`],
  }),
  {
    name: 'pytest',
    fits: ({ tests }) => Object.keys(tests).filter((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path)),
    isAtHome: ({ settings, dependencies = {} }) =>
      PYTEST_SETTINGS.some((name) => Object.hasOwn(settings, name)) || environmentFor('', dependencies) !== undefined,
    // Put in place before, so that it is not the agent's.
    programs: (folder, dependencies) => {
      const environment = environmentFor(folder, dependencies)
      return environment === undefined ? [] : [posix.join(environment, 'bin')]
    },
    script: (files, { tests }) => {
      const paths = files.map(pathWord).join(' ')
      const instead = files.every((path) => isOfUnittest(textOf(tests, path))) ? `exec python3 -c '${UNITTEST}' ${paths}` : 'exit 127'
      return [
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
    fits: (project) => (npmTest(project) === '' ? [] : scripted(project)),
    programs: packagedPrograms,
    script: (_, project) => [`exec sh -c ${quoted(npmTest(project))}`],
  },
  {
    name: 'make test',
    fits: ({ tests, settings }) => (/^test\s*:/m.test(textOf(settings, 'Makefile')) ? Object.keys(tests) : []),
    script: () => [has('make'), 'exec make test'],
    keeps: (path) => path === 'Makefile',
  },
]

/** Empty where it is no object. */
function describedIn({ settings }: Project): JsonObject {
  try {
    const described: unknown = JSON.parse(textOf(settings, 'package.json'))
    return isObject(described) ? described : {}
  } catch {
    return {}
  }
}

/** A person writes no longer ones, and what reads them takes a time that grows with the square of their length. */
const NPM_TEST_CHARACTERS_MAX = 2000

/** The command of `npm test`; empty where there is none. */
function npmTest(project: Project): string {
  const { scripts } = describedIn(project)
  const command = isObject(scripts) ? scripts['test'] : undefined
  if (typeof command !== 'string' || command.length > NPM_TEST_CHARACTERS_MAX) return ''
  return command.includes('no test specified') ? '' : command
}

function dependsOn(project: Project, name: string): boolean {
  const { dependencies, devDependencies } = describedIn(project)
  return [dependencies, devDependencies].some((each) => isObject(each) && Object.hasOwn(each, name))
}

/** Null where no runner is known for these tests. */
export function verifierOf(situation: TestSituation): Verifier | null {
  const { dependencies = {} } = situation
  const project = projectOf(situation)
  const { folder } = project
  for (const runner of RUNNERS) {
    const files = runner.fits(project)
    if (files.length === 0) continue
    const kept = Object.entries(situation.settings).filter(([path]) => runner.keeps?.(path) === true)
    const placed = { ...Object.fromEntries(kept), ...situation.tests }
    const { removed = [], programs = [] } = situation
    const folders = runner.programs?.(folder, dependencies) ?? []
    const lines = [
      ...(folders.length === 0 ? [] : [`PATH=${folders.map((path) => `"$PWD"/${quoted(path)}:`).join('')}"$PATH"`]),
      ...(folder === '' ? [] : [`cd ${pathWord(folder)} || exit 126`]),
      ...runner.script(files, project),
    ]
    return {
      runner: runner.name,
      files: { 'verify/run.sh': scriptOf(runner, lines, { placed: Object.keys(placed), removed, programs }), ...under(placed) },
    }
  }
  return null
}

/** The nearest folder in which a runner is at home: what lies above it may be there for other ends. Else the nearest project. */
function projectOf(situation: TestSituation): Project {
  const [first = '', ...others] = Object.keys(situation.tests)
  const projects = fromNearest(posix.dirname(first))
    .filter((folder) => folder === '' || (!isTest(`${folder}/x`) && others.every((path) => path.startsWith(`${folder}/`))))
    .map((folder) => projectAt(folder, situation))
  const top = projectAt('', situation)
  return projects.find(canRun) ?? projects.find(({ settings }) => Object.keys(settings).some((path) => PROJECT_FILES.has(path))) ?? top
}

const canRun = (project: Project): boolean =>
  RUNNERS.some((runner) => runner.fits(project).length > 0 && (runner.isAtHome?.(project) ?? true))

function projectAt(folder: string, { tests, settings, dependencies = {} }: TestSituation): Project {
  const inside = (files: Files): Files =>
    Object.fromEntries(
      Object.entries(files).flatMap(([path, text]) => (path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), text]] : [])),
    )
  return folder === ''
    ? { folder, tests, settings, dependencies }
    : { folder, tests: inside(tests), settings: inside(settings), dependencies }
}

const STORE = 'verify/tests'
const under = (files: Files): Files => Object.fromEntries(Object.entries(files).map(([path, text]) => [`${STORE}/${path}`, text]))

/** The agent's files give way: tests that the commit takes away, folders that are links or files, and settings that tests would load. */
function scriptOf(
  runner: Runner,
  lines: readonly string[],
  { placed, removed, programs }: Record<'placed' | 'removed' | 'programs', readonly string[]>,
): string {
  const folders = foldersOfAll(placed)
  return [
    '# Puts the tests of the commit in place, and runs them.',
    ...(runner.keeps?.('conftest.py') === true
      ? [`find . \\( ${PYTEST_FILES.map((name) => `-name ${name}`).join(' -o ')} \\) -not -path './verify/*' -exec rm -rf {} +`]
      : []),
    // Through a link something else would be removed.
    ...foldersOfAll(removed).map((folder) => `if [ -L ${pathWord(folder)} ]; then rm -f ${pathWord(folder)}; fi`),
    ...removed.map((path) => `rm -rf ${pathWord(path)}`),
    ...folders.map(
      (folder) =>
        `if [ -L ${pathWord(folder)} ] || [ ! -d ${pathWord(folder)} ]; then rm -rf ${pathWord(folder)}; mkdir ${pathWord(folder)}; fi`,
    ),
    ...placed.map((path) => `rm -rf ${pathWord(path)}; cp ${pathWord(`${STORE}/${path}`)} ${pathWord(path)} || exit 126`),
    // A workspace keeps texts alone. Behind a link is something else.
    ...(programs.length === 0
      ? []
      : [`for each in ${programs.map(pathWord).join(' ')}; do if [ -f "$each" ] && [ ! -L "$each" ]; then chmod +x "$each"; fi; done`]),
    // A runner that looks for tests everywhere would find them twice.
    `rm -rf ./${STORE}`,
    ...lines,
    '',
  ].join('\n')
}

/** Those on top first. */
const foldersOfAll = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.flatMap(foldersOf))].sort((a, b) => a.length - b.length)

function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [...foldersOf(folder), folder]
}

/** The folder and those above it, the top last. */
const fromNearest = (folder: string): readonly string[] =>
  folder === '' || folder === '.' ? [''] : [folder, ...fromNearest(posix.dirname(folder))]

/** Begins with ./ so that no path is an option. */
const pathWord = (path: string): string => quoted(`./${path}`)

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
