/**
 * Mines the history of a git repository: a commit that changes code and tests is a task. Its parent is the workspace, its message the prompt, its
 * tests the verifier, and its other changes the reference.
 */
import {
  define,
  invalid,
  pathProblem,
  taskName,
  type Dependencies,
  type Files,
  type MinedTask,
  type MiningOrder,
} from '../../../src/contract/index.ts'
import { GitFailure } from '../../../src/git/index.ts'
import { showHiddenLine } from '../../../src/kit/index.ts'
import { isCode, isMade, isTest, isVendored, mainTest, moduleOf } from '../common/paths.ts'
import { isSetting, verifierOf, type Verifier } from '../common/verifier.ts'
import { promptOf } from './message.ts'
import { dependenciesOf } from './installed.ts'
import { openRepository, type FileChanged, type HistoryCommit, type Repository, type TreeFile } from './repository.ts'

/** Names as the settings spell them. */
const DEFAULTS = {
  /** How many commits are looked at. */
  commits: 2000,
  changed_files: 40,
  file_bytes: 256 * 1024,
  workspace_files: 4000,
  workspace_bytes: 4 * 1024 * 1024,
} as const
type Limits = Readonly<Record<keyof typeof DEFAULTS, number>>

export default define('miner', {
  make: (config) => {
    const given = new Map(Object.entries(config))
    const stray = [...given.keys()].find((name) => !Object.hasOwn(DEFAULTS, name))
    if (stray !== undefined) throw invalid('bad_setting', `the miner git knows only ${Object.keys(DEFAULTS).join(', ')}`)
    const limit = (name: keyof typeof DEFAULTS): number => {
      const value = given.get(name) ?? DEFAULTS[name]
      if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
      throw invalid('bad_setting', `the miner git: ${name} must be a whole number above 0`)
    }
    const limits: Limits = {
      commits: limit('commits'),
      changed_files: limit('changed_files'),
      file_bytes: limit('file_bytes'),
      workspace_files: limit('workspace_files'),
      workspace_bytes: limit('workspace_bytes'),
    }
    return { mine: (order) => mine(order, limits) }
  },
})

const CHUNK = 100

async function* mine({ source, known, report, passOver, signal }: MiningOrder, limits: Limits): AsyncGenerator<MinedTask> {
  const repository = await openRepository(source, signal)
  try {
    const ids = await repository.commits(limits.commits)
    report(`${ids.length} commits`)
    const installed = await unlessUnreadable(repository.installed(), {}, report)
    const reverted = new Set<string>()
    for (let at = 0; at < ids.length; at += CHUNK) {
      const chunk = ids.slice(at, at + CHUNK)
      // One that cannot be read must not take the others along: they are asked for alone.
      const changed = await unlessUnreadable(repository.changes(chunk), null, report)
      for (const commit of await unlessUnreadable(repository.read(chunk), [], report)) {
        for (const [, id = ''] of commit.message.matchAll(/\bThis reverts commit ([0-9a-f]{40,64})/g)) reverted.add(id)
        if (known.has(originOf(commit))) continue
        const found = await unlessUnreadable(taskOf(repository, commit, { changed, reverted, installed, limits }), UNREADABLE, report)
        if (typeof found === 'object') yield found
        else passOver(originOf(commit), found)
      }
    }
  } finally {
    await repository.close()
  }
}

const UNREADABLE = 'git cannot read it'
const NOT_FETCHED = 'a file of it is not in this clone; git fetch --refetch --no-filter gets all of them'

/** What git cannot read, or not within its limits, is passed over. */
async function unlessUnreadable<T>(work: Promise<T>, instead: T, report: MiningOrder['report']): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    report(`${UNREADABLE}: ${showHiddenLine(error.message.split('\n', 1)[0] ?? '')}`)
    return instead
  }
}

const originOf = ({ id }: HistoryCommit): string => `git:${id}`

interface Mining {
  /** What the commits of a chunk change; null where one of them cannot be read. */
  readonly changed: Awaited<ReturnType<Repository['changes']>> | null
  readonly reverted: ReadonlySet<string>
  readonly installed: Dependencies
  readonly limits: Limits
}

/** The task of a commit, or why it has none. */
async function taskOf(repository: Repository, commit: HistoryCommit, mining: Mining): Promise<MinedTask | string> {
  const { reverted, installed, limits } = mining
  if (/^revert\b/i.test(commit.message) || /\bThis reverts commit /.test(commit.message)) return 'it reverts another commit'
  if (reverted.has(commit.id)) return 'it was reverted'
  const changed = mining.changed ?? (await repository.changes([commit.id]))
  const changes = changed.get(commit.id) ?? (changed.has(commit.id) ? null : [])
  if (changes === null) return 'a name of a file in it is no text'
  const problem = changesProblem(changes, limits)
  if (problem !== null) return problem
  const prompt = promptOf(
    commit.message,
    changes.map(({ path }) => path),
  )
  if (prompt === null) return 'its message says too little'
  const wanted = changes.filter(({ path }) => !isMade(path))
  const tree = await repository.files(commit.id)
  if (tree === null) return NOT_FETCHED
  const large = sizeProblem(tree, limits)
  if (large !== null) return large
  const contents = await textsOf(repository, wanted, tree, limits)
  if (typeof contents === 'string') return contents
  const settings = await readAll(
    repository,
    tree.filter(({ path, bytes }) => isSetting(path) && bytes <= limits.file_bytes),
  )
  const dependencies = dependenciesOf(
    installed,
    tree.map(({ path }) => path),
  )
  const removed = removedIn(wanted)
  const programs = tree.filter((file) => file.mode === '100755' && isKept(file, limits) && !isVendored(file.path)).map(({ path }) => path)
  const verifier = verifierOf({ tests: ofPaths(contents, isTest), removed: removed.filter(isTest), programs, settings, dependencies })
  if (verifier === null) return 'no runner is known for its tests'
  const files = await workspaceOf(repository, commit.parent, limits)
  if (typeof files === 'string') return files
  return minedTask(commit, { prompt, files, dependencies, verifier, contents, changes: wanted })
}

function changesProblem(changes: readonly FileChanged[], { changed_files: max }: Limits): string | null {
  const tests = changes.filter(({ path, status }) => isTest(path) && status !== 'deleted')
  const code = changes.filter(({ path }) => isCode(path))
  if (tests.length === 0 || code.length === 0) return 'it does not change code and tests together'
  if (changes.length > max) return `it changes more than ${max} files`
  if (changes.some(({ modes }) => modes.includes('160000'))) return 'it changes a submodule'
  if (changes.some(({ modes }) => modes.includes('120000'))) return 'it changes a symbolic link'
  if (changes.some(({ path }) => pathProblem(path) !== null)) return 'a name of a file in it cannot be kept'
  const [before, after] = [0, 1].map((side) =>
    changes
      .map(({ ids }) => ids[side] ?? '')
      .filter((id) => !/^0+$/.test(id))
      .sort()
      .join(' '),
  )
  return before === after ? 'it only moves files' : null
}

/** What the changed files hold afterwards, by path, or what is wrong with them. */
async function textsOf(
  repository: Repository,
  changes: readonly FileChanged[],
  tree: readonly TreeFile[],
  limits: Limits,
): Promise<Files | string> {
  const changed = new Set(changes.map(({ path }) => path))
  const after = tree.filter(({ path }) => changed.has(path))
  const small = after.filter(({ bytes }) => bytes <= limits.file_bytes)
  const texts = await readAll(repository, small)
  const isLost = ({ path, status }: FileChanged): boolean =>
    status !== 'deleted' && !Object.hasOwn(texts, path) && (isCode(path) || isTest(path))
  return changes.some(isLost) ? 'a file that it changes is missing, binary or too large' : texts
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Null for bytes that are no text. */
function textIn(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

const removedIn = (changes: readonly FileChanged[]): readonly string[] =>
  changes.filter(({ status }) => status === 'deleted').map(({ path }) => path)

const ofPaths = (files: Files, isWanted: (path: string) => boolean): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => isWanted(path)))

async function readAll(repository: Repository, files: readonly TreeFile[]): Promise<Files> {
  const blobs = await repository.blobs([...new Set(files.map(({ id }) => id))])
  return Object.fromEntries(
    files.flatMap(({ path, id }) => {
      const text = textIn(blobs.get(id) ?? Buffer.of(0))
      return text === null ? [] : [[path, text]]
    }),
  )
}

/** Before anything of it is read: in a large repository this holds for thousands of commits. */
const sizeProblem = (tree: readonly TreeFile[], limits: Limits): string | null =>
  fits(
    tree.filter((file) => isKept(file, limits) && !isVendored(file.path)),
    limits,
  )
    ? null
    : `the repository has more than ${limits.workspace_files} files or ${limits.workspace_bytes} bytes`

const isKept = ({ path, bytes }: TreeFile, { file_bytes: max }: Limits): boolean =>
  bytes <= max && !isMade(path) && pathProblem(path) === null

const fits = (files: readonly TreeFile[], { workspace_files, workspace_bytes }: Limits): boolean =>
  files.length <= workspace_files && files.reduce((sum, { bytes }) => sum + bytes, 0) <= workspace_bytes

/** Text files of a tree; others' code stays while there is room. What programs made, and huge and binary files, are left out. */
async function workspaceOf(repository: Repository, commit: string, limits: Limits): Promise<Files | string> {
  const tree = await repository.files(commit)
  if (tree === null) return NOT_FETCHED
  const all = tree.filter((file) => isKept(file, limits))
  if (all.some(({ path }) => path.startsWith('verify/'))) return 'the repository has a folder verify, where the verifier of a task lies'
  const large = sizeProblem(tree, limits)
  if (large !== null) return large
  return readAll(repository, fits(all, limits) ? all : all.filter(({ path }) => !isVendored(path)))
}

interface TaskParts {
  readonly prompt: string
  readonly files: Files
  readonly dependencies: Dependencies
  readonly verifier: Verifier
  readonly contents: Files
  readonly changes: readonly FileChanged[]
}

function minedTask(commit: HistoryCommit, { prompt, files, dependencies, verifier, contents, changes }: TaskParts): MinedTask {
  const tests = changes.filter(({ path, status }) => isTest(path) && status !== 'deleted').map(({ path }) => path)
  const [subject = ''] = commit.message.split('\n', 1)
  return {
    name: taskName(prompt, commit.id),
    prompt,
    files,
    ...(Object.keys(dependencies).length > 0 && { dependencies }),
    data: { evaluator: 'verify', verify: ['sh', 'verify/run.sh'], verify_files: verifier.files },
    origin: originOf(commit),
    about: {
      commit: commit.id,
      ...(commit.time <= SECONDS_MAX && { date: new Date(commit.time * 1000).toISOString() }),
      subject: showHiddenLine(subject.toWellFormed().slice(0, SUBJECT_CHARACTERS_MAX)),
      runner: verifier.runner,
      tests,
    },
    module: moduleOf(mainTest(tests)),
    reference: {
      files: ofPaths(contents, (path) => !isTest(path)),
      removed: removedIn(changes).filter((path) => !isTest(path)),
    },
  }
}
const SUBJECT_CHARACTERS_MAX = 200
/** No later time can be written; git keeps any number. */
const SECONDS_MAX = 8_640_000_000_000
