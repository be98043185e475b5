/** The change as a patch and as a branch, in repositories of all kinds. Nothing but the new branch may be touched. */
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { branchProblem, gitPlaceOf, makeBranch, patchOf, uncommitted, writePatch } from './change.ts'
import type { RepositoryChange } from './harness-files.ts'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', [...IDENTITY, ...args], { cwd: folder, encoding: 'utf8', env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' } })

/** With a space and quotes in its name, edits that are not committed, and others that are staged. */
function dirtyRepository(): string {
  const folder = join(temporaryFolder(), `a 'b" c`)
  mkdirSync(join(folder, '.claude/commands'), { recursive: true })
  writeFileSync(join(folder, 'CLAUDE.md'), 'Be kind.\n')
  writeFileSync(join(folder, '.claude/commands/old.md'), 'Old.\n')
  writeFileSync(join(folder, 'code.txt'), 'one\n')
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-qm', 'first')
  writeFileSync(join(folder, 'code.txt'), 'two\n')
  writeFileSync(join(folder, 'staged.txt'), 'x')
  git(folder, 'add', 'staged.txt')
  writeFileSync(join(folder, 'new.txt'), 'y')
  return folder
}

const CHANGES: readonly RepositoryChange[] = [
  { path: 'CLAUDE.md', before: 'Be kind.\n', after: 'Be kind.\n\nBe short.\n', isExecutable: false },
  { path: '.claude/commands/old.md', before: 'Old.\n', after: null, isExecutable: false },
  { path: '.claude/skills/one/SKILL.md', before: null, after: 'Add.\n', isExecutable: false },
]
const MESSAGE = 'Improve\n\ntask  before  after\nsum   0       1\n'

const stateOf = (folder: string) => ({
  status: git(folder, 'status', '--porcelain=v2'),
  index: readFileSync(join(folder, '.git/index')).toString('hex'),
  head: git(folder, 'rev-parse', 'HEAD'),
  branch: git(folder, 'symbolic-ref', 'HEAD'),
})

it('a branch holds the change and its message, and neither index, working tree nor HEAD is touched', async () => {
  const folder = dirtyRepository()
  const before = stateOf(folder)
  const commit = await makeBranch(folder, 'better', CHANGES, MESSAGE)
  expect(stateOf(folder)).toEqual(before)
  expect(git(folder, 'rev-parse', 'better').trim()).toBe(commit)
  expect(git(folder, 'log', '-1', '--format=%B', 'better').trim()).toBe(MESSAGE.trim())
  expect(git(folder, 'diff-tree', '-r', '--name-status', 'main', 'better').trim().split('\n')).toEqual([
    'D\t.claude/commands/old.md',
    'A\t.claude/skills/one/SKILL.md',
    'M\tCLAUDE.md',
  ])
})

it('a branch that is there already is left alone: one of just this change is taken as it is, another is refused', async () => {
  const folder = dirtyRepository()
  const commit = await makeBranch(folder, 'better', CHANGES, MESSAGE)
  expect(await makeBranch(folder, 'better', CHANGES, MESSAGE)).toBe(commit)
  await expect(makeBranch(folder, 'better', CHANGES.slice(1), MESSAGE)).rejects.toThrow('is there already')
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'more')
  await expect(makeBranch(folder, 'better', CHANGES, MESSAGE)).rejects.toThrow('is there already')
  expect(git(folder, 'rev-parse', 'better').trim()).toBe(commit)
})

it('of a folder below the top is placed below the top', async () => {
  const folder = dirtyRepository()
  const below = join(folder, 'packages/one')
  mkdirSync(below, { recursive: true })
  await makeBranch(below, 'better', [{ path: 'CLAUDE.md', before: null, after: 'x\n', isExecutable: true }], MESSAGE)
  expect(git(folder, 'diff-tree', '-r', 'main', 'better')).toMatch(/100755 .* A\tpackages\/one\/CLAUDE.md/)
})

it('a patch applies to the files as they lie there, and holds the message', async () => {
  const folder = dirtyRepository()
  const patch = await patchOf(folder, CHANGES, MESSAGE)
  expect(patch.startsWith(MESSAGE)).toBe(true)
  const file = join(temporaryFolder(), 'change.patch')
  writeFileSync(file, patch)
  git(folder, 'apply', file)
  expect(readFileSync(join(folder, 'CLAUDE.md'), 'utf8')).toBe('Be kind.\n\nBe short.\n')
  expect(readFileSync(join(folder, '.claude/skills/one/SKILL.md'), 'utf8')).toBe('Add.\n')
  expect(readFileSync(join(folder, 'code.txt'), 'utf8')).toBe('two\n')
  expect(git(folder, 'status', '--porcelain')).toContain(' D .claude/commands/old.md')
})

it('a patch of a folder below the top applies from there and from the top', async () => {
  for (const from of ['.', 'packages/one']) {
    const folder = dirtyRepository()
    const below = join(folder, 'packages/one')
    mkdirSync(below, { recursive: true })
    writeFileSync(join(below, 'CLAUDE.md'), 'Be kind.\n')
    const patch = await patchOf(below, [{ path: 'CLAUDE.md', before: 'Be kind.\n', after: 'Be short.\n', isExecutable: false }], MESSAGE)
    const file = join(temporaryFolder(), 'change.patch')
    writeFileSync(file, patch)
    git(join(folder, from), 'apply', file)
    expect(readFileSync(join(below, 'CLAUDE.md'), 'utf8')).toBe('Be short.\n')
    expect(readFileSync(join(folder, 'CLAUDE.md'), 'utf8')).toBe('Be kind.\n')
  }
})

it('a branch never changes what the folder does not hold: a link above a new file, or a file that is committed and gone', async () => {
  const folder = dirtyRepository()
  symlinkSync('../.agents', join(folder, '.claude/skills'))
  git(folder, 'add', '.claude/skills')
  git(folder, 'commit', '-qm', 'link', '--', '.claude/skills')
  await expect(makeBranch(folder, 'better', CHANGES, MESSAGE)).rejects.toThrow('would also change .claude/skills')
  const added = [{ path: 'CLAUDE.md', before: null, after: 'x', isExecutable: false }]
  await expect(makeBranch(folder, 'better', added, MESSAGE)).rejects.toThrow('would also change CLAUDE.md')
  expect(git(folder, 'branch', '--list', 'better')).toBe('')
})

it('a patch of lines that end like those of Windows applies too', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'CLAUDE.md'), 'One.\r\n')
  const file = join(folder, 'p')
  writeFileSync(
    file,
    await patchOf(folder, [{ path: 'CLAUDE.md', before: 'One.\r\n', after: 'One.\r\nTwo.\r\n', isExecutable: false }], MESSAGE),
  )
  git(folder, 'apply', file)
  expect(readFileSync(join(folder, 'CLAUDE.md'), 'utf8')).toBe('One.\r\nTwo.\r\n')
})

it('a branch of a repository with ids of SHA-256 removes files too', async () => {
  const folder = temporaryFolder()
  git(folder, 'init', '-q', '--object-format=sha256')
  writeFileSync(join(folder, 'CLAUDE.md'), 'x')
  git(folder, 'add', '.')
  git(folder, 'commit', '-qm', 'first')
  await makeBranch(folder, 'better', [{ path: 'CLAUDE.md', before: 'x', after: null, isExecutable: false }], MESSAGE)
  expect(git(folder, 'ls-tree', '-r', 'better')).toBe('')
})

it('runs no hook of the repository', async () => {
  const folder = dirtyRepository()
  const hooks = join(folder, '.git/hooks')
  mkdirSync(hooks, { recursive: true })
  for (const hook of ['reference-transaction', 'post-index-change'])
    writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch '${hooks}/ran'\n`, { mode: 0o755 })
  await makeBranch(folder, 'better', CHANGES, MESSAGE)
  expect(existsSync(join(hooks, 'ran'))).toBe(false)
})

it('says what git says of a repository that it does not read', async () => {
  const folder = dirtyRepository()
  git(folder, 'config', 'core.repositoryFormatVersion', '99')
  await expect(gitPlaceOf(folder)).rejects.toMatchObject({
    code: 'no_repository',
    message: expect.stringMatching(/fatal: .*99.*; let git status work there first$/),
  })
})

it('says why there can be no branch: no repository, no commit, a bad name, a name that is taken', async () => {
  expect(await branchProblem(temporaryFolder(), 'x')).toContain('needs a git repository')
  const empty = temporaryFolder()
  git(empty, 'init', '-q')
  expect(await gitPlaceOf(empty)).toEqual({ head: null, prefix: '', isShallow: false })
  expect(await branchProblem(empty, 'x')).toContain('needs a commit')
  const folder = dirtyRepository()
  for (const name of ['a b', '-x', 'a..b', '', '@{-1}', 'x.lock']) expect(await branchProblem(folder, name)).toContain('valid name')
  expect(await branchProblem(folder, 'main')).toContain('there already')
  expect(await branchProblem(folder, 'main', true)).toBeNull()
  expect(await branchProblem(folder, 'fine/name')).toBeNull()
  expect(await branchProblem(folder, 'main/better')).toContain('beside the branch main')
  git(folder, 'branch', 'deep/er/one')
  expect(await branchProblem(folder, 'deep/er')).toContain('beside the branch deep/er/one')
  expect(await branchProblem(folder, 'deep/er/two')).toBeNull()
})

it('knows files with edits that are not committed', async () => {
  const folder = dirtyRepository()
  const files = [
    { path: 'CLAUDE.md', before: 'Be kind.\n' },
    { path: 'code.txt', before: 'two\n' },
    { path: 'new.txt', before: 'y' },
  ]
  expect(await uncommitted(folder, files)).toEqual(['code.txt', 'new.txt'])
})

it('a checkout whose line ends are not those of its commit has no edits, and a branch keeps those of the commit', async () => {
  const folder = temporaryFolder()
  git(folder, 'init', '-q', '-b', 'main')
  writeFileSync(join(folder, '.gitattributes'), '*.md text eol=crlf\n')
  writeFileSync(join(folder, 'CLAUDE.md'), 'One.\r\nTwo.\r\n')
  git(folder, 'add', '.')
  git(folder, 'commit', '-qm', 'first')
  const before = 'One.\r\nTwo.\r\n'
  expect(await uncommitted(folder, [{ path: 'CLAUDE.md', before }])).toEqual([])
  await makeBranch(folder, 'better', [{ path: 'CLAUDE.md', before, after: 'One.\r\nThree.\r\n', isExecutable: false }], MESSAGE)
  expect(git(folder, 'cat-file', 'blob', 'better:CLAUDE.md')).toBe('One.\nThree.\n')
})

it('a branch keeps the mode that a file has in its commit, where the disk makes every file executable', async () => {
  const folder = dirtyRepository()
  git(folder, 'config', 'core.fileMode', 'false')
  await makeBranch(
    folder,
    'better',
    CHANGES.slice(0, 1).map((change) => ({ ...change, isExecutable: true })),
    MESSAGE,
  )
  expect(git(folder, 'diff-tree', '-r', 'main', 'better')).toMatch(/^:100644 100644 .* M\tCLAUDE.md\n$/)
})

it('a patch is made also where git may not find bare repositories by itself', async () => {
  const settings = join(temporaryFolder(), 'gitconfig')
  writeFileSync(settings, '[safe]\n\tbareRepository = explicit\n')
  vi.stubEnv('GIT_CONFIG_GLOBAL', settings)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await patchOf(dirtyRepository(), CHANGES, MESSAGE)).toContain('+Be short.')
})

it('a branch that git cannot write says that the change is kept', async () => {
  const folder = dirtyRepository()
  git(folder, 'repack', '-adq')
  // Files where git makes its folders: nobody can write there, not even the superuser.
  for (let each = 0; each < 256; each += 1) {
    const place = join(folder, '.git/objects', each.toString(16).padStart(2, '0'))
    rmSync(place, { recursive: true, force: true })
    writeFileSync(place, '')
  }
  await expect(makeBranch(folder, 'better', CHANGES, MESSAGE)).rejects.toThrow(
    '; the change is kept: take --patch FILE in place of --branch',
  )
})

it('a patch is written through a link and into a pipe, and takes the place of neither', async () => {
  const folder = temporaryFolder()
  const [link, pipe] = [join(folder, 'link'), join(folder, 'pipe')]
  writeFileSync(join(folder, 'file'), 'old')
  symlinkSync('file', link)
  execFileSync('mkfifo', [pipe])
  await writePatch(link, 'new')
  expect([lstatSync(link).isSymbolicLink(), readFileSync(join(folder, 'file'), 'utf8')]).toEqual([true, 'new'])
  const [read] = await Promise.all([readFile(pipe, 'utf8'), writePatch(pipe, 'new')])
  expect([lstatSync(pipe).isFIFO(), read]).toEqual([true, 'new'])
})

it('a patch that cannot be written says that the change is kept', async () => {
  await expect(writePatch(temporaryFolder(), 'x')).rejects.toThrow(/\(EISDIR\); the change is kept: name another file with --patch$/)
})
