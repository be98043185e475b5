/** Whole runs of the command on the mock model: killed at every stage, from another folder, twice in a row, and as another user. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, startCommand } from '../../../test/support/command.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'

const MINUTES = 60_000
const ENTRY = fileURLToPath(new URL('../../../test/support/svc.ts', import.meta.url))
const NOBODY = { uid: 65_534, gid: 65_534 }
const RULES = '# Answers\n\nState the final answer alone on the last line.\n'

/** With a space and quotes in its name, a commit, and edits that are not committed. */
function repository(): string {
  const folder = join(temporaryFolder(), `a 'b" c`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'AGENTS.md'), RULES)
  writeFileSync(join(folder, 'code.txt'), 'one\n')
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-qm', 'first')
  writeFileSync(join(folder, 'code.txt'), 'two\n')
  return folder
}

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder, encoding: 'utf8' })

const PRACTICE = ['--practice', '--evolution.executor', 'local']

const asNobody = (environment: Readonly<Record<string, string>>) =>
  spawnSync(process.execPath, [ENTRY, 'improve', '/', ...PRACTICE, '--json'], {
    ...NOBODY,
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...environment },
  })

test(
  'killed at every stage it goes on where it was, and ends with a branch; the working tree is as it was',
  async () => {
    const [folder, data] = [repository(), temporaryFolder()]
    const before = [git(folder, 'status', '--porcelain'), readFileSync(join(folder, '.git/index')).toString('hex')]
    const args = ['improve', folder, ...PRACTICE, '--branch', 'better']
    const environment = { XDG_DATA_HOME: data, HOME: data }
    // Without a terminal there is nobody to say yes.
    const asked = startCommand(args, environment)
    await asked.said('before roman-')
    asked.signal('SIGKILL')
    await asked.ended
    const waits = await runCommand(args, environment)
    expect(waits).toMatchObject({ code: 0, out: expect.stringContaining('nothing more is played without a yes') })
    expect(waits.out).toContain(' --practice --yes goes on from here')
    for (const words of ['round 1: learns', /round 1: \d+ episodes played/, 'after roman-']) {
      const run = startCommand([...args, '--yes'], environment)
      onTestFinished(() => run.signal('SIGKILL'))
      await run.said(words)
      run.signal('SIGKILL')
      expect((await run.ended).out).not.toContain('before roman-14')
    }
    const stopped = startCommand([...args, '--yes'], environment)
    await stopped.said('after roman-')
    stopped.signal('SIGTERM')
    expect(await stopped.ended).toMatchObject({ code: 143, err: expect.stringContaining('the same command goes on from here') })

    const last = await runCommand([...args, '--yes', '--json'], environment)
    expect(last.code).toBe(0)
    const events = last.out
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line))
    expect(events.slice(-2)).toMatchObject([
      { event: 'result', improved: true },
      { event: 'change', files: ['AGENTS.md'], branch: 'better' },
    ])
    expect([git(folder, 'status', '--porcelain'), readFileSync(join(folder, '.git/index')).toString('hex')]).toEqual(before)
    expect(git(folder, 'show', '--stat', '--format=%B', 'better')).toMatch(/roman-14 +train +0 +1\n[^]*AGENTS\.md/)
    expect(git(folder, 'show', 'better:AGENTS.md').startsWith(RULES)).toBe(true)

    const again = await runCommand(['improve', folder, ...PRACTICE, '--patch', join(data, 'p')], environment)
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('this run has ended') })
    // What it says to type works from another folder.
    execFileSync('sh', ['-c', /apply it with: (.*)/.exec(again.out)?.[1] ?? 'exit 9'], { cwd: data })
    expect(readFileSync(join(folder, 'AGENTS.md'), 'utf8')).toBe(git(folder, 'show', 'better:AGENTS.md'))
    // With the change in place the next run is another one, which begins by itself.
    const next = startCommand(['improve', folder, ...PRACTICE, '--yes'], environment)
    await next.said('before roman-')
    next.signal('SIGKILL')
    await next.ended
  },
  10 * MINUTES,
)

test.runIf(process.getuid?.() === 0)(
  'as a user without a home it says what to set, and with a place of its own it makes the sample by itself',
  () => {
    const data = temporaryFolder()
    chmodSync(data, 0o777)
    expect(asNobody({})).toMatchObject({ status: 1, stderr: expect.stringContaining('set XDG_DATA_HOME') })
    const { status, stdout } = asNobody({ XDG_DATA_HOME: data })
    expect(status).toBe(0)
    expect(stdout).toMatch(/"event":"estimate"/)
  },
  10 * MINUTES,
)
