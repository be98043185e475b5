/** What `svc improve` says before it plays anything: which agent, which model, which tasks, and what to do where one is missing. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { openState } from '../improve/index.ts'
import { keepTasks } from './improve/asked.ts'
import { execute, fakeSurroundings, type FakeTerminal } from './testing/surroundings.ts'

function repositoryOf(files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(), `it's "one" repository`)
  mkdirSync(folder)
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  return folder
}

const gitIn =
  (folder: string) =>
  (...args: readonly string[]): Buffer =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder })

const CLAUDE = { 'CLAUDE.md': 'Be kind.\n' }
const MODEL = { SVC_UPSTREAM_MODEL: 'm' }
/** What a run stops at that has found everything else. */
const NO_TASKS = ['--tasks-dir', '/nowhere']
const STOPPED = 'name another with --tasks-dir'

async function typed(args: readonly string[], environment: Readonly<Record<string, string>> = MODEL, terminal?: FakeTerminal) {
  const data = temporaryFolder()
  const surroundings = fakeSurroundings({}, { XDG_DATA_HOME: data, PATH: '/nowhere', ...environment }, terminal)
  return { ...(await execute(['improve', ...args], surroundings)), data }
}

describe('svc improve', () => {
  it.each<[what: string, files: Readonly<Record<string, string>>, words: string]>([
    [
      'no files of an agent',
      {},
      'the repository holds no rules of an agent, and none is installed: name it with --agent claude|codex|opencode|pi',
    ],
    ['files that several agents read', { 'AGENTS.md': 'x' }, 'it may be for codex, opencode, pi: name it with --agent codex|opencode|pi'],
  ])('with %s says which agents there are', async (_, files, words) => {
    const { exit, err } = await typed([repositoryOf(files)])
    expect([exit, err]).toEqual([2, [`it is not clear which agent should improve: ${words}`]])
  })

  it('asks which agent on a terminal, once', async () => {
    const { asked, err } = await typed([repositoryOf({ 'AGENTS.md': 'x' }), ...NO_TASKS], MODEL, { answers: ['pi'] })
    expect(asked).toContain('Which agent should improve')
    expect(err).toEqual([expect.stringContaining(STOPPED)])
  })

  it.each<[what: string, args: readonly string[], environment: Readonly<Record<string, string>>, words: string]>([
    ['an agent that is not known', ['--agent', 'nobody'], MODEL, '--agent must be one of claude, codex, opencode, pi, native'],
    ['no name of the model', ['--tasks-dir', '.'], {}, 'has no name here: set --inference.upstream_model or SVC_UPSTREAM_MODEL'],
    ['no model', ['--tasks-dir', '.'], { SVC_UPSTREAM_URL: '' }, '--practice'],
    [
      'no history',
      ['--evolution.executor', 'local'],
      MODEL,
      'this is no git repository, so there is no history to find tasks in: write some tasks, and name their folder with --tasks-dir',
    ],
    ['tasks that are not there', ['--tasks-dir', '/nowhere'], MODEL, 'name another with --tasks-dir'],
    ['a branch and no repository', ['--branch', 'x'], MODEL, '--branch needs a git repository: use --patch FILE'],
    ['a branch and a patch', ['--branch', 'x', '--patch', 'y'], MODEL, 'cannot be used with'],
    ['a number of tasks for the demonstration, which has its own', ['--practice', '--tasks', '2'], {}, 'cannot be used with'],
    [
      'an address of the model that ends in /v1',
      ['--model-url', 'http://127.0.0.1:9/v1'],
      MODEL,
      'command line: inference.upstream_url must not end in /v1',
    ],
    ['no place for its state', [], { ...MODEL, XDG_DATA_HOME: '' }, 'set XDG_DATA_HOME'],
  ])('with %s says what to do, and leaves the repository alone', async (_, args, environment, words) => {
    const folder = repositoryOf(CLAUDE)
    const { exit, err, out } = await typed([folder, ...args], environment)
    expect(exit).toBeGreaterThan(0)
    expect(err.join('\n')).toContain(words)
    expect(out).not.toContain('before')
    expect(readdirSync(folder)).toEqual(['CLAUDE.md'])
  })

  it.each(['0', '-1', '1.5', '1e300', '9007199254740993', '0x10', ' ', 'x'])('takes no count of %j', async (count) => {
    for (const option of ['--budget', '--tasks']) {
      const { exit, err } = await typed([repositoryOf(CLAUDE), option, count])
      const wrong = `argument '${count}' is invalid. It must be a whole number from 1 to 9007199254740991, in digits.`
      expect([exit, err]).toEqual([2, [expect.stringContaining(wrong)]])
    }
  })

  it('that finds no task counts the commits and says why each has none, also the second time', async () => {
    const [folder, data] = [repositoryOf(CLAUDE), temporaryFolder()]
    const said = async (place: string): Promise<string> =>
      (await typed([place, '--evolution.executor', 'local'], { ...MODEL, XDG_DATA_HOME: data })).err.join()
    const git = gitIn(folder)
    git('init', '-q')
    expect(await said(folder)).toContain('the repository has no commit yet, so there is no history to find tasks in: write some tasks')
    git('add', '-A')
    git('commit', '-qm', 'first')
    expect(await said(folder)).toContain('there is no commit but the first one and merges, which are not looked at: write some tasks')
    for (const words of ['Say one more thing in the notes', 'Say another thing in the notes']) {
      writeFileSync(join(folder, 'notes.md'), words)
      git('add', '-A')
      git('commit', '-qm', words)
    }
    mkdirSync(join(folder, 'test'))
    writeFileSync(join(folder, 'code.js'), '1')
    writeFileSync(join(folder, 'test/code.test.js'), "import 'node:test'")
    git('add', '-A')
    git('commit', '-qm', 'Let the code do the one thing that it is for')
    const why = '(2: it does not change code and tests together, 1: the workspace passes before anything is done)'
    for (let time = 0; time < 2; time += 1) expect(await said(folder)).toContain(`3 commits were looked at ${why}: write some tasks`)
    const clone = join(temporaryFolder(), 'clone')
    execFileSync('git', ['clone', '-q', '--depth', '2', pathToFileURL(folder).href, clone])
    expect(await said(clone)).toContain('the clone is shallow, and git fetch --unshallow gets the rest of its history: write some tasks')
  })

  it('that finds too few tasks in a shallow clone says how to get the rest of its history', async () => {
    const folder = repositoryOf(CLAUDE)
    const git = gitIn(folder)
    git('init', '-q')
    for (const words of ['first', 'Let the code do the one thing that it is for']) {
      git('add', '-A')
      git('commit', '-qm', words)
      writeFileSync(join(folder, 'code.mjs'), 'export const one = 1')
      writeFileSync(join(folder, 'code.test.mjs'), "import 'node:test'\nimport { one } from './code.mjs'\nif (one !== 1) throw one\n")
    }
    const clone = join(temporaryFolder(), 'clone')
    execFileSync('git', ['clone', '-q', '--depth', '2', pathToFileURL(folder).href, clone])
    const { out } = await typed([clone, '--agent', 'native', '--evolution.executor', 'local'])
    expect(out).toContain('git fetch --unshallow')
  })

  it('makes no branch that would carry edits along which are not committed', async () => {
    const folder = repositoryOf(CLAUDE)
    const git = gitIn(folder)
    git('init', '-q')
    expect((await typed([folder, '--branch', 'x'])).err.join()).toContain('the repository has none')
    git('add', '-A')
    git('commit', '-qm', 'first')
    expect((await typed([folder, '--branch', 'x', ...NO_TASKS])).err.join()).toContain(STOPPED)
    writeFileSync(join(folder, 'CLAUDE.md'), 'Be rude.\n')
    expect((await typed([folder, '--branch', 'x'])).err.join()).toContain('CLAUDE.md holds edits that are not committed')
  })

  it('of two at once the second says so and stops', async () => {
    const [folder, data] = [repositoryOf(CLAUDE), temporaryFolder()]
    const state = await openState(folder, { XDG_DATA_HOME: data })
    const { exit, err } = await typed([folder], { ...MODEL, XDG_DATA_HOME: data })
    state.close()
    expect([exit, err]).toEqual([1, ['another svc improve works on this repository; wait for it, or stop it'.replace('; ', ': ')]])
  })

  it('begins no second run in an unfinished one of other rules that has its tasks, until it is told to', async () => {
    const [folder, data] = [repositoryOf(CLAUDE), temporaryFolder()]
    const again = async (...args: readonly string[]) =>
      (await typed([folder, ...NO_TASKS, ...args], { ...MODEL, XDG_DATA_HOME: data })).err.join()
    expect(await again()).toContain(STOPPED)
    writeFileSync(join(folder, 'CLAUDE.md'), 'Be short.\n')
    expect(await again()).toContain(STOPPED)
    const state = await openState(folder, { XDG_DATA_HOME: data })
    await state.write('tasks', { from: folder })
    state.close()
    writeFileSync(join(folder, 'CLAUDE.md'), 'Be kind.\n')
    expect(await again()).toContain('go back to those, or begin anew with --fresh')
    expect(await again('--fresh')).toContain(STOPPED)
  })

  it('goes on with the model it began with alone', async () => {
    const [folder, data] = [repositoryOf(CLAUDE), temporaryFolder()]
    const begun = { agent: 'claude', practice: false }
    const said = async (name: string, ...args: readonly string[]) =>
      (await typed([folder, ...args], { SVC_UPSTREAM_MODEL: name, XDG_DATA_HOME: data })).err.join()
    await said('first', ...NO_TASKS)
    const state = await openState(folder, { XDG_DATA_HOME: data })
    expect(await state.read('begun')).toMatchObject(begun)
    await state.write('tasks', { from: folder })
    mkdirSync(join(state.folder, 'tasks'))
    state.close()
    expect(await said('first')).not.toContain('another model')
    expect(await said('second')).toContain('began with another model than second: go back to that one, or begin anew with --fresh')
    expect(await said('first')).not.toContain('another model')
    expect(await said('second', '--fresh', ...NO_TASKS)).toContain(STOPPED)
  })

  it('that has its tasks goes on with them, and refuses to take others, until it is told to begin anew', async () => {
    const [folder, tasks] = [repositoryOf(CLAUDE), temporaryFolder()]
    mkdirSync(join(tasks, 'one'))
    writeFileSync(join(tasks, 'one/task.yaml'), 'role: gate\nanswer: x\nprompt: Say x.\n')
    const environment = { ...MODEL, XDG_DATA_HOME: temporaryFolder() }
    const again = async (...args: readonly string[]): Promise<string> =>
      (await typed([folder, '--agent', 'native', '--evolution.executor', 'local', ...args], environment)).err.join()
    const goesOn = expect.stringContaining('of 1 tasks 0 have the role train')
    for (const args of [['--tasks-dir', tasks], [], ['--tasks-dir', `${tasks}/../${basename(tasks)}`, '--tasks', '7']])
      expect(await again(...args)).toEqual(goesOn)
    const given = `this run began with --tasks-dir ${tasks} and keeps its tasks to its end`
    expect(await again(...NO_TASKS)).toBe(`${given}: leave out --tasks-dir to go on, or begin anew with --fresh`)
    expect(await again('--tasks', '40')).toBe(`${given}: leave out --tasks to go on, or begin anew with --fresh`)
    expect(await again('--scenario', 'x')).toContain(`${given}: leave out --scenario`)

    // As if they were mined.
    const state = await openState(folder, environment)
    await keepTasks(state, tasks, {})
    state.close()
    for (const args of [[], ['--tasks', '40']]) expect(await again(...args)).toEqual(goesOn)
    expect(await again('--tasks', '41')).toContain('began with --tasks 40 and')
    expect(await again('--tasks-dir', tasks)).toContain('leave out --tasks-dir to go on')
    expect(await again('--tasks-dir', '/nowhere', '--fresh')).toContain(STOPPED)
  })

  it('says which files it leaves out', async () => {
    const folder = repositoryOf(CLAUDE)
    mkdirSync(join(folder, '.claude/commands'), { recursive: true })
    writeFileSync(join(folder, '.claude/commands/x.md'), '---\nmodel: other\n---\nx\n')
    const { out } = await typed([folder, ...NO_TASKS])
    expect(out).toContain('claude, by the files of the repository: CLAUDE.md')
    expect(out).toContain('left out, and not touched: .claude/commands/x.md: ')
    const { out: json } = await typed([folder, '--json', ...NO_TASKS])
    expect(JSON.parse(json)).toMatchObject({
      event: 'found',
      agent: 'claude',
      files: ['CLAUDE.md'],
      left_out: [{ path: '.claude/commands/x.md' }],
    })
  })

  it('refuses rules that the agent would not read as they are, instead of writing over them', async () => {
    const { exit, err } = await typed([repositoryOf({ 'CLAUDE.md': '---\nx: y\n---\nBe kind.\n' })])
    expect(exit).toBe(1)
    expect(err.join()).toContain('CLAUDE.md cannot be improved: ')
  })
})
