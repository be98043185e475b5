/** Tasks as people write them: in a list, in folders, wrongly. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bareScene } from '../../../conformance/index.ts'
import verify from '../../../plugins/evaluators/verify/index.ts'
import local from '../../../plugins/executors/local/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Files, Json, Task } from '../../contract/index.ts'
import { readTasks } from './read.ts'

const BUNDLED = join(import.meta.dirname, '../../../plugins/recipes/harness/tasks.json')
const NOTHING = { tasks: null, tasks_dir: null, evaluator: 'answer' }

const listed = (tasks: readonly Json[], evaluator = 'answer'): Promise<readonly Task[]> =>
  readTasks({ ...NOTHING, tasks, evaluator }, process.cwd(), [])

/** The tasks of a folder with these files. */
function lying(files: Files, folder = temporaryFolder()): Promise<readonly Task[]> {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, 'tasks', dirname(path)), { recursive: true })
    writeFileSync(join(folder, 'tasks', path), text)
  }
  return readTasks({ ...NOTHING, tasks_dir: './tasks' }, folder, [])
}

describe('a list of tasks', () => {
  it('may be texts, which are tasks of the gate and have numbers for names', async () => {
    expect(await listed(['Say hello.', { name: 'bye', prompt: 'Say goodbye.' }, 'Say thanks.'], 'module')).toEqual([
      { name: 'task-1', prompt: 'Say hello.', role: 'gate' },
      { name: 'bye', prompt: 'Say goodbye.', role: 'gate' },
      { name: 'task-3', prompt: 'Say thanks.', role: 'gate' },
    ])
  })

  it('keeps what the evaluator goes by apart from what the agent is given', async () => {
    const data = { answer: ['a', 'b'], verify: ['sh', 'x'], verify_files: { x: 'y' }, verify_reward: true, rubric: 'r', evaluator: 'mine' }
    const task = { name: 't', prompt: 'p', role: 'regression', family: 'letters', files: { 'a/b': 'c' } }
    expect(await listed([{ ...task, ...data }])).toEqual([{ ...task, data }])
  })

  it('may hold data of its own for the evaluator, beside the fields that the service knows', async () => {
    const free = { max_words: 40, nested: { list: [1, null] } }
    const task = { name: 't', prompt: 'p', role: 'gate' }
    expect(await listed([{ ...task, answer: 'a', data: free }])).toEqual([{ ...task, data: { ...free, answer: 'a' } }])
    const [lain] = await lying({ 't/task.yaml': 'prompt: p\nanswer: a\ndata: {max_words: 40, nested: {list: [1, null]}}\n' })
    expect(lain?.data).toEqual({ ...free, answer: 'a' })
    await expect(listed([{ ...task, data: { text: 'x'.repeat(1024 * 1024) } }])).rejects.toThrow('data must be an object of at most')
  })

  it('is scored as each task says it is solved, where the default looks for an answer', async () => {
    const tasks = [
      { name: 'a', prompt: 'p', answer: '1' },
      { name: 'v', prompt: 'p', verify: 'true' },
      { name: 'r', prompt: 'p', rubric: 'be kind' },
      { name: 'n', prompt: 'p' },
    ]
    const names = async (evaluator: string): Promise<unknown> => (await listed(tasks, evaluator)).map(({ data }) => data?.['evaluator'])
    expect(await names('answer')).toEqual([undefined, 'verify', 'judge', 'judge'])
    expect(await names('module')).toEqual([undefined, undefined, undefined, undefined])
  })

  it('that is not there means the bundled one, and an empty one means none', async () => {
    const bundled: readonly Json[] = JSON.parse(readFileSync(BUNDLED, 'utf8'))
    const tasks = await readTasks(NOTHING, '/', bundled)
    expect(tasks.map(({ name }) => name)).toEqual(bundled.map((task) => Object(task).name))
    expect(tasks.every(({ data }) => typeof data?.['answer'] === 'string')).toBe(true)
    expect(await readTasks({ ...NOTHING, tasks: [] }, '/', bundled)).toEqual([])
  })

  const sum = { name: 'sum', prompt: 'What is 40 + 2?' }
  it.each<readonly [string, Json, string]>([
    ['a number for a task', 7, 'evolution.tasks[1]: it must be text, or an object of name, prompt,'],
    ['a blank text', ' ', 'evolution.tasks[1]: task task-2: prompt must be non-blank text'],
    ['no name', { prompt: 'p' }, 'evolution.tasks[1]: name must start with a letter'],
    ['a name that is a path', { ...sum, name: '../sum' }, 'evolution.tasks[1]: name must start with a letter'],
    ['a name of the service', { ...sum, name: 'promoted-1' }, 'task promoted-1: name must not start with promoted-'],
    ['no prompt', { name: 'sum' }, 'task sum: prompt must be non-blank text'],
    ['an endless prompt', { ...sum, prompt: 'x'.repeat(100_001) }, 'task sum: prompt must be at most 100000 bytes'],
    ['a prompt that no command takes', { ...sum, prompt: 'a\0b' }, 'task sum: prompt must be at most'],
    ['an unknown role', { ...sum, role: 'test' }, 'task sum: role must be one of gate, train, regression, health, sealed'],
    ['a family that is a path', { ...sum, family: 'a/b' }, 'task sum: family must start with a letter'],
    ['an answer that is a number', { ...sum, answer: 42 }, 'task sum: answer must be non-blank text, or a list of such texts; put quotes'],
    ['answers without one', { ...sum, answer: [] }, 'task sum: answer must be'],
    ['a command that is none', { ...sum, verify: {} }, 'task sum: verify must be'],
    ['a reward in words', { ...sum, verify_reward: 'yes' }, 'task sum: verify_reward must be true or false'],
    ['data that is none', { ...sum, data: 'x' }, 'task sum: data must be an object'],
    ['data that hides a field', { ...sum, data: { verify: 'true' } }, 'task sum: data must not hold verify, which is a field of tasks'],
    ['a misspelt field', { ...sum, anwser: '42' }, 'task sum: it holds an unknown field; there are: name, prompt, role, family, answer'],
    ['files in a list', { ...sum, files: ['a'] }, 'task sum: files must be an object of paths and texts'],
    ['a file that is no text', { ...sum, files: { a: 1 } }, 'task sum: files.a must be text'],
    ['a file that leads out', { ...sum, files: { '../a': '' } }, 'task sum: files cannot be laid out: path "../a" has a segment'],
    ['a hidden file that leads out', { ...sum, verify_files: { '/a': '' } }, 'task sum: verify_files cannot be laid out'],
    ['files that are too many', { ...sum, files: filesOf(5001) }, 'task sum: files must be 5000 files at most'],
    ['files that are too large', { ...sum, files: { a: 'x'.repeat(2 ** 24 + 1) } }, 'task sum: files and verify_files must be at most'],
    ['dependencies in a list', { ...sum, dependencies: ['node_modules'] }, 'task sum: dependencies must be an object of at most 64 paths'],
    ['a dependency that leads out', { ...sum, dependencies: { '../node_modules': '/a/node_modules' } }, 'task sum: dependencies must be'],
    ['a dependency not in full', { ...sum, dependencies: { node_modules: 'node_modules' } }, 'task sum: dependencies must be'],
    ['a dependency with dots', { ...sum, dependencies: { node_modules: '/a/../b/node_modules' } }, 'task sum: dependencies must be'],
    ['a name that is taken', { ...sum, name: 'task-1' }, 'two tasks are named task-1'],
  ])('is refused for %s, by task and field', async (_what, task, words) => {
    await expect(listed(['first', task])).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining(words) })
  })

  it('is refused when it is too long', async () => {
    await expect(listed(Array.from({ length: 2001 }, () => 'p'))).rejects.toMatchObject({ code: 'too_many_tasks' })
  })
})

const filesOf = (count: number): Files => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, '']))

describe('a folder of tasks', () => {
  it('is read folder by folder: examples/tasks', async () => {
    const tasks = await readTasks({ ...NOTHING, tasks_dir: 'examples/tasks' }, process.cwd(), [])
    expect(tasks).toMatchObject([
      { name: 'capital', role: 'train', data: { answer: 'Wellington' } },
      {
        name: 'leap-years',
        prompt: expect.stringContaining('leap.sh'),
        role: 'gate',
        data: {
          verify: ['bash', 'verify/test.sh'],
          verify_files: { 'verify/test.sh': expect.stringContaining('2100') },
          evaluator: 'verify',
        },
      },
      {
        name: 'word-count',
        prompt: expect.stringMatching(/^Count .* by word\.$/),
        files: { 'words.txt': 'pear fig pear\nplum fig pear\n' },
        data: { verify: ['sh', 'verify/run.sh'], verify_files: { 'verify/expected.txt': 'fig 2\npear 3\nplum 1\n' } },
      },
    ])
  })

  it('holds verifiers that tell a solution from none', async () => {
    const tasks = await readTasks({ ...NOTHING, tasks_dir: 'examples/tasks' }, process.cwd(), [])
    const solutions: Readonly<Record<string, Files>> = {
      'word-count': { 'counts.txt': 'fig 2\npear 3\nplum 1\n' },
      'leap-years': { 'leap.sh': 'test $(($1 % 4)) = 0 && { test $(($1 % 100)) != 0 || test $(($1 % 400)) = 0; }' },
    }
    for (const [name, solution] of Object.entries(solutions)) {
      const task = tasks.find((each) => each.name === name)
      const scores = [await scoreOf(task, { ...task?.files, ...solution }), await scoreOf(task, task?.files ?? {})]
      expect([name, ...scores]).toEqual([name, 1, 0])
    }
  })

  it('may stand beside a list', async () => {
    const settings = { tasks: ['Say hello.'], tasks_dir: 'examples/tasks', evaluator: 'answer' }
    const tasks = await readTasks(settings, process.cwd(), ['never'])
    expect(tasks.map(({ name }) => name)).toEqual(['task-1', 'capital', 'leap-years', 'word-count'])
  })

  it('takes YAML and JSON, and leaves plain files and hidden folders alone', async () => {
    const tasks = await lying({
      'README.md': '# Tasks',
      '.git/config': '',
      'one/task.json': '{"prompt": "p", "answer": "1"}',
      'two/task.yml': 'prompt: |\n  first\n  second\nname: other\nanswer: ["1", "2"]\n',
    })
    expect(tasks).toEqual([
      { name: 'one', prompt: 'p', role: 'gate', data: { answer: '1' } },
      { name: 'other', prompt: 'first\nsecond\n', role: 'gate', data: { answer: ['1', '2'] } },
    ])
  })

  it('lets a written command win over the script that lies there', async () => {
    const [task] = await lying({ 'a/task.yaml': 'verify: sh verify/run.sh --strict', 'a/instruction.md': 'p', 'a/verify/run.sh': 'exit 0' })
    expect(task?.data).toMatchObject({ verify: 'sh verify/run.sh --strict', verify_files: { 'verify/run.sh': 'exit 0' } })
  })

  it.each<readonly [string, Files, string]>([
    ['that is empty', { 'README.md': '' }, 'it holds no folder'],
    ['without a description', { 'a/instruction.md': 'p' }, 'task a: has no task.yaml'],
    ['with two descriptions', { 'a/task.yaml': '', 'a/task.json': '{}' }, 'task a: has both task.yaml and task.json'],
    ['with broken YAML', { 'a/task.yaml': 'prompt: [secret' }, 'task a: task.yaml does not parse'],
    ['with a key twice', { 'a/task.yaml': 'prompt: a\nprompt: b' }, 'task a: task.yaml does not parse'],
    ['with a list', { 'a/task.yaml': '- a' }, 'task a: task.yaml must hold an object'],
    ['with two prompts', { 'a/task.yaml': 'prompt: p', 'a/instruction.md': 'p' }, 'task a: prompt is in the task file and in the folder'],
    ['without a prompt', { 'a/task.yaml': 'answer: "1"' }, 'task a: prompt must be non-blank text'],
    ['with a name that is none', { 'a b/task.yaml': 'prompt: p' }, 'name must start with a letter'],
    ['of Harbor’s without a test', { 'a/task.toml': '', 'a/instruction.md': 'p' }, 'task a: has a task.toml and no tests/test.sh'],
    ['with a name of another', { 'a/task.yaml': 'prompt: p', 'b/task.yaml': 'prompt: p\nname: a' }, 'two tasks are named a'],
  ])('is refused %s, by task and field', async (_what, files, words) => {
    const folder = temporaryFolder()
    const refused = lying(files, folder)
    await expect(refused).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining(words) })
    await expect(refused).rejects.not.toThrow(folder)
    await expect(refused).rejects.not.toThrow('secret')
  })

  it('is refused where a file cannot be handed on as it is', async () => {
    const linked = temporaryFolder()
    mkdirSync(join(linked, 'tasks/a/workspace'), { recursive: true })
    symlinkSync('/etc/hostname', join(linked, 'tasks/a/workspace/host'))
    await expect(lying({ 'a/task.yaml': 'prompt: p' }, linked)).rejects.toThrow('task a: cannot be read ("host" is not a plain file')
    const binary = temporaryFolder()
    mkdirSync(join(binary, 'tasks/a/workspace'), { recursive: true })
    writeFileSync(join(binary, 'tasks/a/workspace/image'), Buffer.from([0xff, 0xd8]))
    await expect(lying({ 'a/task.yaml': 'prompt: p' }, binary)).rejects.toThrow('task a: cannot be read ("image" is not text')
    await expect(lying({ 'a/task.yaml': 'prompt: p', 'a/workspace/x': 'x'.repeat(2 ** 24 + 1) })).rejects.toThrow('its files are more than')
  })

  it('is refused where it is not there, without a word about where that is', async () => {
    const refused = readTasks({ ...NOTHING, tasks_dir: './nowhere' }, temporaryFolder(), [])
    await expect(refused).rejects.toMatchObject({ message: 'evolution.tasks_dir: it cannot be read (ENOENT); name an existing folder' })
  })
})

/** What the task's own verifier says of a workspace with these files. */
async function scoreOf(task: Task | undefined, files: Files): Promise<number | null | undefined> {
  const workspace = temporaryFolder()
  for (const [path, text] of Object.entries(files)) writeFileSync(join(workspace, path), text)
  const episode = { exitCode: 0, stdout: '', stderr: '', trajectory: [] }
  return task && verify.plugin.score(task, episode, bareScene({ workspace, executor: await local.plugin.make({}) }))
}
