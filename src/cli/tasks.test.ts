/** `svc tasks` on a folder of tasks, with verifiers that run as plain processes. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { historyIn, nodeTest } from '../../plugins/miners/git/testing/history.ts'
import { sharedFolder, temporaryFolder } from '../../test/support/folder.ts'
import { until } from '../../test/support/wait.ts'
import type { Files } from '../contract/index.ts'
import { readTasks } from '../evolution/tasks/read.ts'
import { execute, fakeSurroundings } from './testing/surroundings.ts'

function folderOf(files: Files, folder = temporaryFolder()): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const MINED = 'status: proposed\norigin: test:1\nmodule: m\nhas_reference: true\nabout: {commit: abc, subject: "A \\e[31mred\\e[0m one"}\n'
const one = (name: string, verify: string, mined = MINED): Files => ({
  [`${name}/task.yaml`]: `role: gate\nfamily: things\nverify: ${JSON.stringify(verify)}\nevaluator: verify\n`,
  [`${name}/instruction.md`]: 'Write 42 into out.txt.\n',
  [`${name}/workspace/in.txt`]: '41\n',
  [`${name}/reference/out.txt`]: '42\n',
  ...(mined === '' ? {} : { [`${name}/mined.yaml`]: mined }),
})
const GOOD = 'grep -qx 42 out.txt'
const tasks = (...args: readonly string[]) => execute(['tasks', ...args])
const used = async (folder: string): Promise<readonly string[]> =>
  (await readTasks({ tasks: null, tasks_dir: folder, evaluator: 'answer' }, '/', [])).map(({ name }) => name)

describe('svc tasks', () => {
  it('list shows role, family, status and the last check, of tasks written by hand too', async () => {
    const folder = folderOf({ ...one('a', GOOD), ...one('b', GOOD, '') })
    const { exit, out } = await tasks('list', folder)
    expect([exit, out.split('\n')]).toEqual([
      0,
      ['TASK  ROLE  FAMILY  STATUS', 'a     gate  things  proposed', 'b     gate  things  by hand'],
    ])
    expect(JSON.parse((await tasks('list', folder, '--json')).out)).toMatchObject([
      { name: 'a', status: 'proposed' },
      { name: 'b', status: null },
    ])
    expect(await tasks('list', join(folder, 'gone'))).toMatchObject({ exit: 0, out: expect.stringContaining('no tasks in') })
  })

  it('show has the prompt, the paths and where it comes from, without characters that act on a terminal', async () => {
    const { exit, out } = await tasks('show', join(folderOf(one('a', GOOD)), 'a'))
    expect(exit).toBe(0)
    expect(out).toContain('reference  out.txt')
    expect(out).toContain('A [U+001B][31mred')
    expect(out.endsWith('\n\nWrite 42 into out.txt.')).toBe(true)
  })

  it('accept and drop decide what is used, and nothing is decided where one of them is no task', async () => {
    const folder = folderOf({ ...one('a', GOOD), ...one('b', GOOD) })
    await expect(used(folder)).rejects.toThrow('none of its 2 tasks is accepted; accept them: svc tasks accept')
    expect(await tasks('accept', join(folder, 'a'), join(folder, 'nothing'))).toMatchObject({
      exit: 2,
      err: [expect.stringContaining('there is no task "nothing"')],
    })
    await expect(used(folder)).rejects.toThrow('none of its 2 tasks is accepted')
    expect(await tasks('accept', join(folder, 'a'), join(folder, 'b'))).toMatchObject({ exit: 0, out: '2 tasks accepted' })
    expect(await used(folder)).toEqual(['a', 'b'])
    expect(await tasks('drop', join(folder, 'b'), `${folder}/./b/`)).toMatchObject({ exit: 0, out: '1 task dropped' })
    expect(await used(folder)).toEqual(['a'])
  })

  it('list and mine say what to do where a folder holds others than tasks', async () => {
    const folder = folderOf({ ...one('a', GOOD), 'build/gulpfile.js': '' })
    const [problem, advice] = ['task build: has no task.yaml, ', ' where it is no task, name another folder for the tasks']
    for (const args of [
      ['list', folder],
      ['mine', folder, '-o', folder, '--executor', 'local'],
    ]) {
      const { exit, err } = await tasks(...args)
      expect([exit, err.length, err[0]?.startsWith(problem), err[0]?.endsWith(advice)]).toEqual([2, 1, true, true])
    }
    await expect(used(folder)).rejects.toThrow(`evolution.tasks_dir: ${problem}`)
  })

  it('check that is stopped ends like a stopped program, and at once when it is stopped again', async () => {
    const surroundings = fakeSurroundings()
    const going = join(temporaryFolder(), 'going')
    const folder = folderOf(one('a', `touch ${going}; sleep 600`))
    const ended = execute(['tasks', 'check', join(folder, 'a'), '--executor', 'local'], surroundings)
    await until(() => existsSync(going))
    surroundings.signal('SIGINT')
    surroundings.signal('SIGINT')
    expect(surroundings.exits).toEqual([130])
    expect(await ended).toMatchObject({ exit: 130, err: ['stopped: what was found so far is kept'] })
  })

  it('accept refuses a task that was written by hand, and a damaged mined.yaml', async () => {
    const folder = folderOf({ ...one('hand', GOOD, ''), ...one('bad', GOOD, 'status: perhaps\norigin: x\n'), ...one('worse', GOOD, '{') })
    expect(await tasks('accept', join(folder, 'hand'))).toMatchObject({
      exit: 2,
      err: [expect.stringContaining('was written by hand and is always used')],
    })
    expect(await tasks('accept', join(folder, 'bad'))).toMatchObject({
      exit: 2,
      err: [expect.stringContaining('task bad: mined.yaml: status')],
    })
    expect(await tasks('list', folder)).toMatchObject({ exit: 2 })
    await expect(used(folder)).rejects.toThrow('task bad: mined.yaml: status must be one of proposed, accepted, dropped')
  })

  it('check tries each, says what did not hold, and keeps it', async () => {
    const folder = folderOf({
      ...one('good', GOOD),
      ...one('easy', 'true'),
      ...one('lost', 'false'),
      ...one('gone', 'no-such-program-here'),
    })
    const checked = await tasks(
      'check',
      ...['good', 'easy', 'lost', 'gone'].map((name) => join(folder, name)),
      '--repeats',
      '2',
      '--executor',
      'local',
    )
    expect([checked.exit, checked.out.split('\n')]).toEqual([
      1,
      [
        'good: holds',
        'easy: the workspace passes before anything is done; an empty workspace passes',
        'lost: the reference does not pass',
        expect.stringContaining('gone: it could not be judged: a program of the verifier is missing'),
        'too few tasks for any decision: the gate has 4 tasks in 1 family, and this decision needs 5 families at least to tell a gain from luck; add tasks of 4 more',
      ],
    ])
    expect(readFileSync(join(folder, 'lost/mined.yaml'), 'utf8')).toContain('- the reference does not pass')
    const listed: { check: { passed: boolean } | null }[] = JSON.parse((await tasks('list', folder, '--json')).out)
    expect(listed.map(({ check }) => check?.passed)).toEqual([false, false, true, false])
    expect(existsSync(join(folder, '.unfinished'))).toBe(false)
  })

  it('check says for how many decisions the tasks beside it are enough, and how many are missing', async () => {
    const files = Array.from({ length: 6 }, (_, n) => one(`t${n}`, GOOD)).reduce((all, each) => ({ ...all, ...each }), {})
    const folder = folderOf(
      Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replace('things', path.split('/')[0] ?? '')])),
    )
    const said = 'enough tasks for 1 decision, and too few for more: the gate has 6 tasks, and this decision needs 7 at least'
    const args = ['check', join(folder, 't0'), '--repeats', '1', '--executor', 'local']
    expect(await tasks(...args)).toMatchObject({ exit: 0, out: expect.stringContaining(said) })
    const json = await tasks(...args, '--json')
    expect(json.err.join('\n')).toContain(said)
    expect(JSON.parse(json.out)).toHaveLength(1)
  })

  it.each([
    [['check', 'x', '--repeats', '0'], '--repeats must be a whole number above 0'],
    [['mine', '.', '--number', 'many'], '--number must be a whole number above 0'],
    [['mine', '.', '--number', '1e300'], '--number must be a whole number above 0'],
    [['mine', '.', '--seconds', '2147484'], '--seconds must be at most 2147483'],
    [['check', 'x', '--seconds', '2147484'], '--seconds must be at most 2147483'],
    [['mine', '.', '--miner', 'gold'], 'miner plug-in gold is neither built in'],
    [['check', 'x', '--executor', 'cloud'], 'Allowed choices are sandbox, local'],
  ])('%j is refused', async (args, words) => {
    expect(await tasks(...args)).toMatchObject({ exit: 2, err: [expect.stringContaining(words)] })
  })
})

describe('svc tasks mine', () => {
  const history = historyIn(sharedFolder())
  history.commit('root', { 'package.json': '{"type":"module"}', 'src/sum.js': 'export const sum = (a, b) => a - b\n' })
  history.commit('Let sum add its two numbers', {
    'src/sum.js': 'export const sum = (a, b) => a + b\n',
    'test/sum.test.js': nodeTest('../src/sum.js', 'sum', 'assert.equal(sum(1, 2), 3)'),
  })
  history.commit('Say more about the sum in the code', {
    'src/sum.js': '// adds\nexport const sum = (a, b) => a + b\n',
    'test/sum.test.js': nodeTest('../src/sum.js', 'sum', 'assert.equal(sum(2, 2), 4)'),
  })

  it('keeps commits whose tests fail before and pass after, tells why others are passed over, and finds the same again', async () => {
    const folder = join(temporaryFolder(), 'tasks')
    const mine = () => tasks('mine', history.folder, '-o', folder, '--executor', 'local')
    const { exit, out, err } = await mine()
    expect([exit, err]).toEqual([0, []])
    expect(out.split('\n').slice(0, 2)).toEqual([
      '1 task mined, 0 were there before',
      '  1 passed over: the workspace passes before anything is done',
    ])
    expect((await mine()).out).toBe('0 tasks mined, 1 were there before\n  1 passed over: the workspace passes before anything is done')
  })

  it('that looks at no commit says why, and how a shallow clone gets the rest of its history', async () => {
    const clone = join(temporaryFolder(), 'clone')
    history.git('clone', '--quiet', '--depth', '1', pathToFileURL(history.folder).href, clone)
    const { exit, out } = await tasks('mine', clone, '-o', join(temporaryFolder(), 'tasks'), '--executor', 'local')
    expect([exit, out.split('\n')]).toEqual([
      1,
      [
        '0 tasks mined, 0 were there before',
        'there is no commit but the first one and merges, which are not looked at',
        'the clone is shallow, and git fetch --unshallow gets the rest of its history',
      ],
    ])
  })

  it('says what is wrong with a folder that is no repository', async () => {
    expect(await tasks('mine', temporaryFolder(), '-o', join(temporaryFolder(), 'tasks'), '--executor', 'local')).toMatchObject({
      exit: 2,
      err: [expect.stringContaining('is not a folder of a git repository')],
    })
  })
})
