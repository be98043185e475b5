/** A folder of tasks as people see it and decide on it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { openTaskBook } from './book.ts'

const MINED =
  'status: proposed\norigin: commit 1a2b\nhas_reference: true\ncheck:\n  at: "2026-05-04"\n  passed: false\n  untouched: [0]\n  empty: [1]\n  reference: [1]\n  seconds_max: 1\n  problems: [an empty workspace passes]\n'

function folder(): string {
  const directory = temporaryFolder()
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  write('mined/task.yaml', '# mine\nrole: gate # for now\nfamily: money\nverify: [sh, verify/run.sh]\n')
  write('mined/instruction.md', 'Round half up.\n')
  write('mined/workspace/a.js', 'x')
  write('mined/verify/run.sh', 'exit 1')
  write('mined/reference/a.js', 'y')
  write('mined/mined.yaml', MINED)
  write('own/task.json', '{"prompt":"Say hello.","answer":"hello"}')
  write('torn/task.yaml', 'role: [')
  return directory
}

it('lists every task, also those that cannot be read, and shows one', async () => {
  const book = openTaskBook(folder())
  const check = { at: '2026-05-04', passed: false, problems: ['an empty workspace passes'] }
  const mined = { name: 'mined', role: 'gate', family: 'money', status: 'proposed', origin: 'commit 1a2b', check, problem: null }
  expect(await book.list()).toEqual([
    mined,
    { name: 'own', role: 'gate', family: 'own', status: null, origin: null, check: null, problem: null },
    expect.objectContaining({ name: 'torn', role: null, problem: expect.stringContaining('task.yaml does not parse') }),
  ])
  const more = { prompt: 'Round half up.', workspace: ['a.js'], verify: ['verify/run.sh'], reference: ['a.js'] }
  expect(await book.show('mined')).toEqual({ ...mined, ...more })
  expect(await openTaskBook(join(temporaryFolder(), 'none')).list()).toEqual([])
})

it('keeps a decision and a role in the files of the task, and what else they hold', async () => {
  const directory = folder()
  const book = openTaskBook(directory)
  expect(await book.change('mined', { status: 'accepted', role: 'sealed' })).toMatchObject({ status: 'accepted', role: 'sealed' })
  expect(readFileSync(join(directory, 'mined/task.yaml'), 'utf8')).toMatch(/^# mine\nrole: sealed # for now\nfamily: money\n/)
  expect(readFileSync(join(directory, 'mined/mined.yaml'), 'utf8')).toContain('status: accepted')
  expect(await book.change('own', { role: 'train' })).toMatchObject({ name: 'own', role: 'train', status: null })
  expect(JSON.parse(readFileSync(join(directory, 'own/task.json'), 'utf8'))).toEqual({
    prompt: 'Say hello.',
    answer: 'hello',
    role: 'train',
  })
})

it('refuses what is no task, what lies elsewhere, and a decision on a task written by hand', async () => {
  const book = openTaskBook(folder())
  for (const name of ['none', '..', '../x', '', '.unfinished-1-a', 'mined/workspace']) {
    await expect(book.show(name)).rejects.toMatchObject({ kind: 'unknown', code: 'unknown_task' })
    await expect(book.change(name, { role: 'gate' })).rejects.toMatchObject({ code: 'unknown_task' })
  }
  await expect(book.change('own', { status: 'dropped' })).rejects.toMatchObject({ code: 'not_mined' })
})
