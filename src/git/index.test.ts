import { execFileSync } from 'node:child_process'
import { chmodSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { GitFailure, runGit, streamGit } from './index.ts'

let folder = ''
let repository = ''
let commit = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-git-'))
  repository = join(folder, 'a "b" c')
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@localhost', '-C', repository, ...args], { encoding: 'utf8' }).trim()
  mkdirSync(repository)
  git('init', '-q')
  writeFileSync(join(repository, 'a.txt'), 'one\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
  commit = git('rev-parse', 'HEAD')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => vi.unstubAllEnvs())

/** A git on the path that does something else. */
function fakeGit(lines: string): void {
  const bin = mkdtempSync(join(folder, 'bin-'))
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${lines}\n`)
  chmodSync(join(bin, 'git'), 0o755)
  vi.stubEnv('PATH', [bin, process.env['PATH'] ?? ''].join(delimiter))
}

describe('a repository that is not trusted', () => {
  it('starts no hook, no monitor, no filter and no program for a missing object, when it is read and a branch is made', async () => {
    const [seen, program] = [join(folder, 'seen'), join(folder, 'program')]
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${seen}'\n`)
    chmodSync(program, 0o755)
    const hooks = join(repository, '.git/hooks')
    mkdirSync(hooks, { recursive: true })
    for (const hook of ['reference-transaction', 'post-index-change'])
      writeFileSync(join(hooks, hook), readFileSync(program), { mode: 0o755 })
    const settings = { 'core.fsmonitor': program, 'filter.x.clean': program, 'diff.external': program, 'core.pager': program }
    for (const [name, value] of Object.entries(settings)) execFileSync('git', ['-C', repository, 'config', name, value])
    writeFileSync(join(repository, '.gitattributes'), '* filter=x diff=x\n')
    for (const [name, value] of Object.entries({
      'remote.origin.url': `ext::${program}`,
      'remote.origin.promisor': 'true',
      'extensions.partialClone': 'origin',
      'core.repositoryFormatVersion': '1',
    }))
      execFileSync('git', ['-C', repository, 'config', name, value])
    const environment = { GIT_INDEX_FILE: join(folder, 'index') }
    const blob = (await runGit(['-C', repository, 'hash-object', '-w', '--no-filters', '--stdin'], { input: 'b' })).toString().trim()
    await runGit(['-C', repository, 'read-tree', commit], { environment })
    await runGit(['-C', repository, 'update-index', '--add', '--cacheinfo', `100644,${blob},b.txt`], { environment })
    await runGit(['-C', repository, 'write-tree'], { environment })
    await runGit(['-C', repository, 'update-ref', 'refs/heads/other', commit])
    await expect(runGit(['-C', repository, 'cat-file', 'blob', '1'.repeat(40)])).rejects.toThrow(GitFailure)
    expect(existsSync(seen)).toBe(false)
  })

  it('gets none of the variables that lead elsewhere, and none that may be a secret', async () => {
    fakeGit('env')
    vi.stubEnv('GIT_DIR', '/elsewhere')
    vi.stubEnv('GIT_CONFIG_COUNT', '1')
    vi.stubEnv('UPSTREAM_API_KEY', 'secret')
    vi.stubEnv('GIT_AUTHOR_NAME', 'Somebody')
    const nobody = (await runGit(['status'])).toString()
    expect(nobody).not.toMatch(/GIT_DIR|GIT_CONFIG_COUNT|API_KEY|GIT_AUTHOR/)
    expect(nobody).toMatch(/^GIT_CONFIG_GLOBAL=\/dev\/null$/m)
    expect(nobody).toMatch(/^GIT_ALLOW_PROTOCOL=none$/m)
    const user = (await runGit(['status'], { asUser: true, overNetwork: true, passes: /^GIT_AUTHOR_NAME$/ })).toString()
    expect(user).toMatch(/^GIT_AUTHOR_NAME=Somebody$/m)
    expect(user).not.toMatch(/GIT_DIR|GIT_CONFIG|API_KEY|GIT_ALLOW_PROTOCOL/)
  })
})

describe('a call', () => {
  it('has its input, and its output as it is', async () => {
    const id = (await runGit(['-C', repository, 'hash-object', '-w', '--stdin'], { input: 'ä\n' })).toString().trim()
    expect((await runGit(['-C', repository, 'cat-file', 'blob', id])).toString()).toBe('ä\n')
    await streamGit(['-C', repository, 'cat-file', 'blob', id], createWriteStream(join(folder, 'blob')))
    expect(readFileSync(join(folder, 'blob'), 'utf8')).toBe('ä\n')
  })

  it('that fails names the command and what git said', async () => {
    const failure = await runGit(['-C', repository, 'cat-file', 'blob', 'nothing']).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(GitFailure)
    expect(failure).toMatchObject({ message: expect.stringMatching(/^git cat-file failed: fatal: .*nothing/) })
  })

  it('that prints without an end is killed', async () => {
    fakeGit('yes')
    await expect(runGit(['log'], { outputBytesMax: 100_000 })).rejects.toThrow('git log failed: it prints more than 100000 bytes')
  })

  it('that never ends is killed, and so is one that is not wanted any more', async () => {
    fakeGit(`trap '' TERM\nexec sleep 600`)
    await expect(runGit(['log'], { timeoutSeconds: 0.05 })).rejects.toThrow('git log failed: no end after 0.05 s')
    const reason = new Error('stopped')
    await expect(runGit(['log'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const stopping = new AbortController()
    const called = runGit(['log'], { signal: stopping.signal })
    stopping.abort(reason)
    await expect(called).rejects.toBe(reason)
  })

  it('whose output cannot be written fails, and leaves nothing behind that waits', async () => {
    const into = createWriteStream(join(folder, 'no such folder', 'blob'))
    await expect(streamGit(['-C', repository, 'cat-file', 'commit', commit], into)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('without git says what to install', async () => {
    vi.stubEnv('PATH', folder)
    await expect(runGit(['--version'])).rejects.toMatchObject({ kind: 'unavailable', code: 'git_missing' })
  })
})
