/** The result as git knows it: a patch, or a branch that is made without touching the working tree or the index. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid } from '../contract/index.ts'
import { GitFailure, runGit } from '../git/index.ts'
import { codeOf, makeOwnFolder, removeLeftFolders, writeNamedFile } from '../kit/index.ts'
import { unixLines, type RepositoryChange } from './harness-files.ts'

/** Settings of the user must not change what is made; the user's name stays. */
const SETTINGS = ['core.autocrlf=false', 'commit.gpgsign=false', 'core.quotepath=true']

/** Variables that a hook of git sets would lead into another repository; whose name stands in a commit is the person's to say. */
const AUTHORS = /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$/

type GitOptions = { readonly env?: Readonly<Record<string, string>>; readonly input?: string }

async function git(folder: string, args: readonly string[], { env = {}, input = '' }: GitOptions = {}): Promise<string> {
  const call = { settings: SETTINGS, asUser: true, passes: AUTHORS, environment: env, input }
  return (await runGit(['-C', folder, ...args], call)).toString()
}

export interface GitPlace {
  /** The commit that is checked out; null in a repository without commits. */
  readonly head: string | null
  /** The folder below the top of the repository: '' or 'packages/one/'. */
  readonly prefix: string
  /** Whether a part of its history was not fetched. */
  readonly isShallow: boolean
}

/** Null where the folder is in no repository. */
export async function gitPlaceOf(folder: string): Promise<GitPlace | null> {
  const prefix = await git(folder, ['rev-parse', '--show-prefix']).catch((error: unknown) => {
    if (!(error instanceof GitFailure)) throw error
    if (error.stderr.includes('not a git repository')) return null
    const [words = ''] = error.stderr.trim().split('\n', 1)
    throw invalid(
      'no_repository',
      `git does not read the repository of ${JSON.stringify(folder)} (${words}); let git status work there first`,
    )
  })
  if (prefix === null) return null
  const head = await git(folder, ['rev-parse', '--verify', '-q', 'HEAD^{commit}']).catch(() => '')
  const shallow = await git(folder, ['rev-parse', '--is-shallow-repository'])
  return { head: head.trim() || null, prefix: prefix.trimEnd(), isShallow: shallow.trim() === 'true' }
}

/** Why no branch of that name can be made, or null. `mayBeThere`: the run has ended, and may have made it. */
export async function branchProblem(folder: string, name: string, mayBeThere = false): Promise<string | null> {
  const place = await gitPlaceOf(folder)
  if (place === null) return '--branch needs a git repository; use --patch FILE'
  if (place.head === null) return '--branch needs a commit to begin at, and the repository has none; commit first, or use --patch FILE'
  const isValid = await git(folder, ['check-ref-format', '--branch', name]).then(
    (said) => said.trim() === name,
    () => false,
  )
  if (!isValid) return '--branch must be a valid name of a branch; choose another'
  const other = await branchInTheWay(folder, name)
  if (other !== null) return `git keeps no branch ${name} beside the branch ${other}; choose another name with --branch`
  return mayBeThere || (await commitOf(folder, name)) === null ? null : takenWords(name)
}

/** A branch is a file to git, and a part of another's name a folder. */
async function branchInTheWay(folder: string, name: string): Promise<string | null> {
  const above = new Set(name.split('/').map((_, at, parts) => parts.slice(0, at).join('/')))
  const branches = (await git(folder, ['for-each-ref', '--format=%(refname)', 'refs/heads/'])).split('\n')
  const names = branches.map((branch) => branch.slice('refs/heads/'.length))
  return names.find((other) => other !== '' && (above.has(other) || other.startsWith(`${name}/`))) ?? null
}

const takenWords = (name: string): string => `a branch ${name} is there already; choose another name with --branch`

/** The commit of a branch; null where there is none. */
async function commitOf(folder: string, name: string): Promise<string | null> {
  const commit = await git(folder, ['rev-parse', '--verify', '-q', `refs/heads/${name}^{commit}`]).catch(() => '')
  return commit.trim() || null
}

/** Files that differ from the commit that is checked out, or are not in it: a branch would carry those edits along. */
export async function uncommitted(
  folder: string,
  changes: readonly Pick<RepositoryChange, 'path' | 'before'>[],
): Promise<readonly string[]> {
  const prefix = (await gitPlaceOf(folder))?.prefix ?? ''
  const differs = await Promise.all(
    changes.map(async ({ path, before }) => {
      const committed = await committedText(folder, `${prefix}${path}`)
      // Line ends may be git's doing: by its settings they differ between a commit and its checkout.
      return committed === null || before === null || unixLines(committed) !== unixLines(before)
    }),
  )
  return changes.filter((_, at) => differs[at]).map(({ path }) => path)
}

/** Null where the commit that is checked out holds no such file. */
const committedText = (folder: string, path: string): Promise<string | null> =>
  git(folder, ['cat-file', 'blob', `HEAD:${path}`]).catch(() => null)

/** The commit's id. A branch that holds just this change is taken as it is; throws where it holds another, and where git cannot write. */
export async function makeBranch(folder: string, name: string, changes: readonly RepositoryChange[], message: string): Promise<string> {
  try {
    return await commitTo(folder, name, changes, message)
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    const [words = ''] = error.stderr.trim().split('\n', 1)
    throw invalid('no_branch', `git cannot make the branch ${name} (${words}); the change is kept: take --patch FILE in place of --branch`)
  }
}

async function commitTo(folder: string, name: string, changes: readonly RepositoryChange[], message: string): Promise<string> {
  const place = await gitPlaceOf(folder)
  if (place === null || place.head === null) throw invalid('no_commit', '--branch needs a repository with a commit; use --patch FILE')
  const { head, prefix } = place
  return withIndex(async (env) => {
    await git(folder, ['read-tree', head], { env })
    await stage(folder, await likeCommitted(folder, prefix, changes), { prefix, env, absent: '0'.repeat(head.length) })
    const tree = (await git(folder, ['write-tree'], { env })).trim()
    await refuseOthers(folder, [head, tree], changes, prefix)
    const there = await commitOf(folder, name)
    if (there !== null && (await git(folder, ['rev-parse', `${there}^{tree}`, `${there}^@`])).trim() === `${tree}\n${head}`) return there
    const commit = (
      await git(folder, ['commit-tree', tree, '-p', head], { env: { ...env, ...(await authorOf(folder)) }, input: message })
    ).trim()
    await git(folder, ['update-ref', `refs/heads/${name}`, commit, '']).catch(() => {
      throw invalid('branch_taken', takenWords(name))
    })
    return commit
  })
}

/** A new file would take the place of a link or a folder above it, or of a file that the folder no longer holds. */
async function refuseOthers(folder: string, trees: readonly string[], changes: readonly RepositoryChange[], prefix: string): Promise<void> {
  const lines = (await git(folder, ['diff-tree', '-r', '-z', '--name-status', '--no-renames', ...trees])).split('\0')
  const touched = lines.flatMap((status, at) => (at % 2 === 0 && status !== '' ? [{ status, path: lines[at + 1] ?? '' }] : []))
  const fits = ({ status, path }: { readonly status: string; readonly path: string }): boolean =>
    changes.some((change) => `${prefix}${change.path}` === path && (change.before === null) === (status === 'A'))
  const others = touched.filter((each) => !fits(each)).map(({ path }) => path)
  if (others.length > 0)
    throw invalid('in_the_way', `the branch would also change ${others.join(', ')}, which the folder does not hold so; take --patch FILE`)
}

/** With the line ends and the mode that the file has in the repository, so that the branch changes nothing else. Some disks have no modes. */
const likeCommitted = (folder: string, prefix: string, changes: readonly RepositoryChange[]): Promise<readonly RepositoryChange[]> =>
  Promise.all(
    changes.map(async (change) => {
      const committed = await committedText(folder, `${prefix}${change.path}`)
      if (committed === null || change.after === null) return change
      const after = unixLines(change.after)
      const isExecutable = (await git(folder, ['ls-tree', '--full-tree', 'HEAD', '--', `${prefix}${change.path}`])).startsWith('100755')
      return { ...change, isExecutable, after: committed.includes('\r\n') ? after.replaceAll('\n', '\r\n') : after }
    }),
  )

const withIndex = <T>(work: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T> =>
  withFolder((folder) => work({ GIT_INDEX_FILE: join(folder, 'index') }))

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  await removeLeftFolders('change')
  const folder = await makeOwnFolder('change')
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Staging {
  readonly prefix: string
  readonly env: Readonly<Record<string, string>>
  /** The id of no object, as long as those of the repository. */
  readonly absent: string
}

async function stage(folder: string, changes: readonly RepositoryChange[], { prefix, env, absent }: Staging): Promise<void> {
  const lines: string[] = []
  for (const { path, after, isExecutable } of changes) {
    if (after === null) lines.push(`0 ${absent}\t${prefix}${path}`)
    else {
      const blob = (await git(folder, ['hash-object', '-w', '--no-filters', '--stdin'], { env, input: after })).trim()
      lines.push(`${isExecutable ? '100755' : '100644'} ${blob}\t${prefix}${path}`)
    }
  }
  if (lines.length > 0) await git(folder, ['update-index', '-z', '--index-info'], { env, input: `${lines.join('\0')}\0` })
}

/** Git refuses to commit for somebody without a name. */
async function authorOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const isKnown = await git(folder, ['var', 'GIT_AUTHOR_IDENT']).then(
    () => true,
    () => false,
  )
  if (isKnown) return {}
  const [name, email] = ['svc', 'svc@localhost']
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }
}

/** Against the files as they lie in the folder, committed or not. Git reads its paths from the top of the repository, wherever it is applied. */
export async function patchOf(place: string, changes: readonly RepositoryChange[], message: string): Promise<string> {
  const prefix = await gitPlaceOf(place).then(
    (found) => found?.prefix ?? '',
    () => '',
  )
  return withFolder(async (folder) => {
    await git(folder, ['init', '-q', '--bare', '--template=', '--object-format=sha1'])
    // Named, since git may be told to find no bare repository by itself.
    const own = { GIT_DIR: folder }
    const treeOf = async (name: string, side: 'before' | 'after'): Promise<string> => {
      const env = { ...own, GIT_INDEX_FILE: join(folder, name) }
      const files = changes.filter((change) => change[side] !== null).map((change) => ({ ...change, after: change[side] }))
      await stage(folder, files, { prefix, env, absent: '' })
      return (await git(folder, ['write-tree'], { env })).trim()
    }
    const [before, after] = [await treeOf('old', 'before'), await treeOf('new', 'after')]
    const diff = await git(folder, ['diff-tree', '-r', '-p', '--full-index', '--no-renames', '--no-ext-diff', before, after], {
      env: own,
    })
    return `${message.trimEnd()}\n\n${diff}`
  })
}

export async function writePatch(path: string, text: string): Promise<void> {
  try {
    await writeNamedFile(path, text)
  } catch (error) {
    throw invalid(
      'no_patch',
      `the patch cannot be written to ${JSON.stringify(path)} (${codeOf(error) ?? 'unwritable'}); the change is kept: name another file with --patch`,
    )
  }
}
