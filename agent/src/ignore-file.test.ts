import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anInstallation, makeHome, transcript, type Home } from './testing/harness-home.ts'
import { forgetIgnored } from './ignore-file.ts'
import { install } from './install.ts'

const LINES = '# Written by svc: these files hold a token.\n/models.json\n/.env\n/.svc-harness-writing-*\n'

describe('a token in a person’s project', () => {
  test.each([
    ['no .gitignore', null, LINES],
    ['an empty one', '', LINES],
    ['one with lines', 'dist/\n', `dist/\n${LINES}`],
    ['one whose last line has no end', 'dist/', `dist/\n${LINES}`],
    ['one with the ends of Windows', 'dist/\r\n', `dist/\r\n${LINES}`],
    ['one that shows everything again', '*\n!*\n!.env\n', `*\n!*\n!.env\n${LINES}`],
    ['one that was cut short', LINES.slice(0, 60), `${LINES.slice(0, 60)}\n/.env\n/.svc-harness-writing-*\n`],
    ['one with our lines', LINES, LINES],
    ['one that shows them again after our lines', `${LINES}!/models.json\n!.env\n`, `${LINES}!/models.json\n!.env\n${LINES}`],
    ['one that shows everything again after our lines', `${LINES}!*\r\n`, `${LINES}!*\r\n${LINES}`],
  ])('is ignored by git with %s, and the person’s lines stay', async (_case, before, after) => {
    const home = project(before)
    expect(await run(home)).toBe(0)
    expect(await run(home)).toBe(0)
    expect(readFileSync(join(home.destination, '.gitignore'), 'utf8')).toBe(after)
    expect(git(home, 'add', '--all')).toBe('')
    const listed = git(home, 'ls-files').split('\n')
    const held = listed.filter((path) => path !== '' && readFileSync(join(home.path, path), 'utf8').includes('secret-token'))
    expect(held).toEqual([])
    expect(readFileSync(join(home.destination, 'models.json'), 'utf8')).toContain('secret-token')
  })

  test('that cannot be ignored is not written: git passes over a link', async () => {
    const home = project(null)
    writeFileSync(join(home.path, 'elsewhere'), 'mine\n')
    symlinkSync(join(home.path, 'elsewhere'), join(home.destination, '.gitignore'))
    const terminal = transcript()
    expect(await install({ ...home.order(anInstallation()), terminal })).toBe(1)
    expect(terminal.warned.join('\n')).toMatch(/^svc: \S+\.gitignore is no plain file, so git would not ignore/)
    expect([readFileSync(join(home.path, 'elsewhere'), 'utf8'), existsSync(join(home.destination, 'models.json'))]).toEqual([
      'mine\n',
      false,
    ])
  })

  test('that a file nearer to it would show again is not written', async () => {
    const home = project(null)
    const deep = anInstallation({ binding: { 'a/b/.env': 'KEY="@TOKEN@"\n' } })
    for (const [folder, text, code] of [
      ['a/b', '!.env\n', 1],
      ['a', '*.log\n!b/.env\r\n', 1],
      ['a/b', '*.log\n', 0],
    ] as const) {
      rmSync(join(home.destination, 'a'), { recursive: true, force: true })
      mkdirSync(join(home.destination, 'a/b'), { recursive: true })
      writeFileSync(join(home.destination, folder, '.gitignore'), text)
      const terminal = transcript()
      expect([await install({ ...home.order(deep), terminal }), existsSync(join(home.destination, 'a/b/.env'))]).toEqual([code, code === 0])
      if (code === 1) expect(terminal.warned.join('\n')).toMatch(/^svc: \S+\.gitignore has a line that begins with !/)
    }
    git(home, 'add', '--all')
    expect(git(home, 'ls-files')).not.toContain('.env')
  })

  test.each([
    ['a file', (home: Home) => writeFileSync(join(home.destination, 'models.json'), '{}\n'), ''],
    ['a file that was removed', (home: Home) => writeFileSync(join(home.destination, 'models.json'), '{}\n'), 'models.json'],
    ['a whole harness that was removed', (home: Home) => writeFileSync(join(home.destination, '.env'), ''), '.'],
    [
      'a file that a forged list claims',
      (home: Home) => {
        writeFileSync(join(home.destination, 'models.json'), '{}\n')
        const claimed = { release_id: 'r', content_id: 'c', files: ['models.json'], requires: [], setup: [] }
        writeFileSync(join(home.destination, '.svc-harness-release'), JSON.stringify(claimed))
      },
      '',
    ],
  ])('that a project tracks in %s is not written', async (_case, make, removed) => {
    const home = project(null)
    make(home)
    expect(git(home, 'add', '--all')).toBe('')
    if (removed !== '') rmSync(join(home.destination, removed), { recursive: true })
    const terminal = transcript()
    expect(await install({ ...home.order(anInstallation()), terminal })).toBe(1)
    expect(terminal.warned.join('\n')).toMatch(/^svc: \S+ (?:would hold a token, and git tracks it|is no file of a harness)/)
    expect(git(home, 'diff')).not.toContain('secret-token')
  })

  test.each(['a repository inside', 'a worktree'])('is ignored in %s too', async (kind) => {
    const home = project(null)
    if (kind === 'a repository inside') spawnSync('git', ['-C', home.destination, 'init', '--quiet'])
    else {
      git(home, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'x')
      rmSync(home.destination, { recursive: true })
      git(home, 'worktree', 'add', '--quiet', home.destination)
    }
    expect(await run(home)).toBe(0)
    const inside = (...args: readonly string[]) => spawnSync('git', ['-C', home.destination, ...args], { encoding: 'utf8' }).stdout
    inside('add', '--all')
    expect(inside('ls-files').split('\n')).toContain('.gitignore')
    expect(inside('ls-files')).not.toMatch(/models\.json|\.env/)
  })

  test('is written for its owner alone, also with a mask of nothing', async () => {
    const home = project(null)
    const before = process.umask(0)
    try {
      expect(await run(home)).toBe(0)
    } finally {
      process.umask(before)
    }
    for (const path of ['models.json', '.env']) expect(statSync(join(home.destination, path)).mode & 0o077).toBe(0)
  })

  test('without one nothing is added', async () => {
    const home = project(null)
    const { SVC_TOKEN: _, ...env } = home.env
    expect(await install({ ...home.order(anInstallation()), env, terminal: transcript() })).toBe(0)
    expect(existsSync(join(home.destination, '.gitignore'))).toBe(false)
  })

  test('goes with its lines, and a file with a line of the person’s stays', async () => {
    for (const [before, isLeft] of [
      [null, false],
      ['dist/\n', true],
    ] as const) {
      const home = project(before)
      await run(home)
      await forgetIgnored(home.destination, anInstallation())
      expect(existsSync(join(home.destination, '.gitignore'))).toBe(isLeft)
    }
  })
})

const run = (home: Home): Promise<number> => install({ ...home.order(anInstallation()), terminal: transcript() })

/** A repository in which the harness is to lie. */
function project(ignored: string | null): Home {
  const home = makeHome()
  git(home, 'init', '--quiet')
  writeFileSync(join(home.path, '.git/info/exclude'), '/tools/\n/prefix/\n/.svc/\n/.local/\n/npm.log\n')
  mkdirSync(home.destination)
  if (ignored !== null) writeFileSync(join(home.destination, '.gitignore'), ignored)
  return home
}

function git({ path }: Home, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync('git', ['-C', path, ...args], { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: path } })
  return `${stdout}${stderr}`.trimEnd()
}
