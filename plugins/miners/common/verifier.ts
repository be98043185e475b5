/** Chooses the runner of a commit's tests by what the repository holds, and writes the script that puts them in place and runs them. */
import { posix } from 'node:path'
import { isObject, type Dependencies, type Files, type JsonObject } from '../../../src/contract/index.ts'
import { nodeOptionsIn } from './node-options.ts'
import { isTest, isVendored } from './paths.ts'
import { pathWord, quoted, scriptOf, under, type RunnerParts } from './script.ts'
import { JEST_PROGRAM, NODE_PROGRAM, PYTHON_PROGRAM, VITEST_LOCK, VITEST_PROGRAM } from './programs.ts'

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
/** The configuration of vitest and jest: it may leave tests out, and change them. */
const [VITEST_FILES, JEST_FILES] = [
  ['vitest.config', 'vite.config', 'vitest.workspace'].flatMap((name) =>
    ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((end) => `${name}.${end}`),
  ),
  ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts', 'json'].map((end) => `jest.config.${end}`),
]

/** Files that make a folder a project of its own, such as `backend` and `frontend` in one repository. */
const PROJECT_FILES: ReadonlySet<string> = new Set(['package.json', 'go.mod', 'Cargo.toml', 'pyproject.toml', 'setup.cfg'])
const isOfProject = (path: string): boolean =>
  PROJECT_FILES.has(posix.basename(path)) && path.split('/').length <= PROJECT_DEPTH_MAX && !isVendored(path)
const PROJECT_DEPTH_MAX = 3

/** Files that decide how tests run. */
export const isSetting = (path: string): boolean =>
  path === 'Makefile' ||
  isOfProject(path) ||
  ([PYTEST_FILES, VITEST_FILES, JEST_FILES].some((names) => names.includes(posix.basename(path))) && !isVendored(path))

/** As it looks from a folder. */
interface Project extends TestSituation {
  /** '' is the top. */
  readonly folder: string
}

interface Runner extends RunnerParts {
  readonly name: string
  /** The files that it runs; none where it does not fit. */
  fits(project: Project): readonly string[]
  /** Whether what the folder holds says that tests run there; absent where that is why it fits. */
  isAtHome?(project: Project): boolean
  /** Folders of programs, from the top on; the first one goes before the others. */
  readonly programs?: (folder: string, dependencies: Dependencies) => readonly string[]
  /** Lines of shell that run the tests. */
  script(files: readonly string[], project: Project): readonly string[]
}

const has = (program: string): string => `command -v ${program} >/dev/null 2>&1 || exit 127`
/** A failure is never an exit status that says that nothing was run. */
const FAILED = '|| exit 1'
const textOf = (files: Files, path: string): string => (Object.hasOwn(files, path) ? (files[path] ?? '') : '')
const SCRIPTED = /\.(?:[cm]?js|[cm]?ts|jsx|tsx)$/
const scripted = ({ tests }: TestSituation): readonly string[] =>
  Object.keys(tests).filter((path) => SCRIPTED.test(path) && /[._-](?:test|spec)\.|(?:^|\/)(?:tests?|__tests__|specs?)\//i.test(path))

interface ScriptRunner extends Pick<Runner, 'name' | 'programs' | 'told' | 'settings'> {
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

/** Every Python has unittest: tests that are written for it need no pytest. */
const isOfUnittest = (text: string): boolean => /^[^\S\n\r\u2028\u2029]*(?:import|from) unittest\b/m.test(text) && !/\bpytest\b/.test(text)
const PACKAGES = 'node_modules'

const RUNNERS: readonly Runner[] = [
  scriptRunner({
    name: 'node --test',
    imports: /['"]node:test['"]/,
    command: /\bnode\b.*--test\b/,
    told: { first: NODE_PROGRAM },
    // They run one by one: what one of them loads does not reach the next.
    lines: (files, project) => {
      const options = nodeOptionsIn(npmTest(project)).map((word) => `${word} `)
      return [
        has('node'),
        `for each in ${files.map(pathWord).join(' ')}; do`,
        '  begin first.mjs',
        `  node ${options.join('')}--test-reporter="$room/first.mjs" --test-reporter-destination=stdout --import "$room/first.mjs" "$each" ${FAILED}`,
        '  finish',
        'done',
      ]
    },
  }),
  scriptRunner({
    name: 'vitest',
    imports: /['"]vitest['"]/,
    command: /\bvitest\b/,
    programs: packagedPrograms,
    told: { first: VITEST_PROGRAM, lock: VITEST_LOCK },
    settings: VITEST_FILES,
    lines: (files) => [
      has('vitest'),
      'begin first.mjs',
      `for each in ${files.map(pathWord).join(' ')}; do`,
      '  printf "%s\\n" "$lock" > "${each%/*}/lock-$id.mjs"',
      '  { printf "import \'./lock-%s.mjs\';" "$id"; cat "$each"; } > "$room/test" && cat "$room/test" > "$each" || exit 126',
      'done',
      `vitest run --reporter=default --reporter="$room/first.mjs" ${files.map(pathWord).join(' ')} ${FAILED}`,
      'finish',
    ],
  }),
  scriptRunner({
    name: 'jest',
    imports: /['"]@jest\/globals['"]/,
    command: /\bjest\b/,
    programs: packagedPrograms,
    told: { first: JEST_PROGRAM },
    settings: JEST_FILES,
    lines: (files) => [
      has('jest'),
      'begin first.cjs',
      `jest --reporters=default --reporters="$room/first.cjs" --runTestsByPath ${files.map(pathWord).join(' ')} ${FAILED}`,
      'finish',
    ],
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
    told: { first: PYTHON_PROGRAM },
    settings: PYTEST_FILES,
    script: (files, { tests }) => {
      const instead = files.every((path) => isOfUnittest(textOf(tests, path))) ? 'kind=unittest' : 'exit 127'
      return [
        has('python3'),
        `kind=pytest; python3 -c 'import sys; del sys.path[0]; import pytest' 2>/dev/null || ${instead}`,
        'begin',
        `python3 -c "$first" "$kind" "$room" ${files.map(pathWord).join(' ')} ${FAILED}`,
        'finish',
      ]
    },
  },
  {
    name: 'go test',
    fits: ({ tests, settings }) =>
      Object.hasOwn(settings, 'go.mod') ? Object.keys(tests).filter((path) => path.endsWith('_test.go')) : [],
    // The last test of each package writes the key; it is compiled, and its source gone, before any code of the agent runs.
    script: (files, { tests }) => {
      const folders = [...new Map(files.map((path) => [posix.dirname(path), path]))]
      const source =
        'package %s\\n\\nimport ("os"; "testing")\\n\\nfunc TestZ_%s(*testing.T) { os.WriteFile("%s", []byte("%s"), 0o600) }\\n'
      return [
        'export GOPROXY=off GOTOOLCHAIN=local GOCACHE="${TMPDIR:-/tmp}/go-cache"',
        has('go'),
        'begin',
        'rm -f "$room/key"',
        ...folders.map(([folder, path], at) => {
          const name = /^package[ \t]+(\w+)/m.exec(textOf(tests, path))?.[1] ?? 'main'
          return `printf '${source}' ${name} "$id" "$room/${at}" "$key" > ${pathWord(folder)}/zz_"$id"_test.go || exit 126`
        }),
        `echo 'rm -f ./zz_*_test.go; exec "$@"' > "$room/exec"`,
        `said=$(go test -v -count=1 -exec "sh $room/exec" ${folders.map(([folder]) => pathWord(folder)).join(' ')} 2>&1); code=$?`,
        'printf "%s\\n" "$said"',
        `[ "$code" = 0 ] ${FAILED}`,
        ...folders.map((_, at) => `[ "$(cat "$room/${at}" 2>/dev/null)" = "$key" ] || unfinished`),
        `finishAs '^ *--- \\([A-Z]*: [^ ]*\\).*' TestZ_`,
      ]
    },
  },
  {
    name: 'cargo test',
    fits: ({ tests, settings }) =>
      Object.hasOwn(settings, 'Cargo.toml') ? Object.keys(tests).filter((path) => /^tests\/[^/]+\.rs$/.test(path)) : [],
    // The order of names is the order of tests, as for Go.
    script: (files) => {
      const source = '\\n#[test]\\nfn zz_%s() {\\n    std::fs::write("%s", "%s").unwrap();\\n}\\n'
      const paths = files.map(pathWord).join(' ')
      return [
        'export CARGO_TARGET_DIR="${TMPDIR:-/tmp}/target"',
        has('cargo'),
        'begin',
        'rm -f "$room/key"',
        ...files.map((path, at) => `printf '${source}' "$id" "$room/${at}" "$key" >> ${pathWord(path)}`),
        `echo ${quoted(`rm -f ${paths}; exec "$@"`)} > "$room/exec"`,
        `said=$(cargo test --offline --config "target.'cfg(all())'.runner=['sh', '$room/exec']" ${files.map((path) => `--test ${quoted(posix.basename(path, '.rs'))}`).join(' ')} -- --test-threads=1 2>&1); code=$?`,
        'printf "%s\\n" "$said"',
        `[ "$code" = 0 ] ${FAILED}`,
        ...files.map((_, at) => `[ "$(cat "$room/${at}" 2>/dev/null)" = "$key" ] || unfinished`),
        `finishAs '^test \\(.* \\.\\.\\. [a-z]*\\).*' zz_`,
      ]
    },
  },
  {
    name: 'npm test',
    fits: (project) => (npmTest(project) === '' ? [] : scripted(project)),
    programs: packagedPrograms,
    script: (_, project) => [`sh -c ${quoted(npmTest(project))}`, 'exit'],
  },
  {
    name: 'make test',
    fits: ({ tests, settings }) => (/^test\s*:/m.test(textOf(settings, 'Makefile')) ? Object.keys(tests) : []),
    script: () => [has('make'), 'make test', 'exit'],
    settings: ['Makefile'],
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
    const kept = Object.entries(situation.settings).filter(([path]) => runner.settings?.includes(posix.basename(path)) === true)
    const placed = { ...Object.fromEntries(kept), ...situation.tests }
    const { removed = [], programs = [] } = situation
    const folders = runner.programs?.(folder, dependencies) ?? []
    const lines = [
      ...(folders.length === 0 ? [] : [`PATH=${folders.map((path) => `"$PWD"/${quoted(path)}:`).join('')}"$PATH"`]),
      ...(folder === '' ? [] : [`cd ${pathWord(folder)} || exit 126`]),
      ...runner.script(files, project),
    ]
    const told = Object.fromEntries(Object.entries(runner.told ?? {}).map(([name, text]) => [`verify/${name}`, text]))
    const script = scriptOf(runner, lines, { placed: Object.keys(placed), removed, programs })
    return { runner: runner.name, files: { 'verify/run.sh': script, ...told, ...under(placed) } }
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

/** The folder and those above it, the top last. */
const fromNearest = (folder: string): readonly string[] =>
  folder === '' || folder === '.' ? [''] : [folder, ...fromNearest(posix.dirname(folder))]
