/** What the verifier of a mined task says of its solution and of other workspaces, run in a folder as the service does. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isObject, type Files, type JsonObject, type MinedTask } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import git from './index.ts'
import { historyIn, nodeTest } from './testing/history.ts'

/** The task of the last of two commits, in which these files are programs. */
async function taskOf(before: Files, after: Readonly<Record<string, string | null>>, programs: readonly string[] = []): Promise<MinedTask> {
  const history = historyIn(temporaryFolder())
  history.commit('root', before)
  for (const path of programs) chmodSync(join(history.folder, path), 0o755)
  history.commit('Let the sum of two numbers be their sum', after)
  const miner = await git.plugin.make({})
  const [report, passOver] = [() => undefined, () => undefined]
  const order = { source: history.folder, tasksMax: 1, known: new Set<string>(), report, passOver, signal: new AbortController().signal }
  for await (const task of miner.mine(order)) return task
  throw new Error('no task was found')
}

function writeInto(folder: string, files: JsonObject): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof text === 'string' ? text : '')
  }
  return folder
}

const folderOf = (files: Files): string => writeInto(temporaryFolder(), files)

/** A workspace in which an agent did what the commit did. */
function solved({ files = {}, reference }: MinedTask): string {
  const folder = folderOf({ ...files, ...reference?.files })
  for (const path of reference?.removed ?? []) rmSync(join(folder, path))
  return folder
}

/** The exit status of the verifier there. */
function verified(folder: string, { data }: MinedTask): number | null {
  if (isObject(data['verify_files'])) writeInto(folder, data['verify_files'])
  // Node tells its tests that they are run by a test already.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env
  return spawnSync('sh', ['verify/run.sh'], { cwd: folder, env, stdio: 'ignore' }).status
}

const SUBTRACTS = 'export const add = (a, b) => a - b\n'
const ADDS = 'export const add = (a, b) => a + b\n'

const plain = (sum: number): string => `import { add } from '../src/add.js'\nif (add(1, 2) !== ${sum}) process.exit(1)\n`

describe('a test that a commit takes away', () => {
  // It runs every test that it finds, also those that the commit did not touch.
  const all = {
    'package.json': '{"type":"module","scripts":{"test":"sh all.sh"}}\n',
    'all.sh': 'for test in tests/*; do node $test || exit 1; done\n',
  }
  const before = { ...all, 'src/add.js': SUBTRACTS, 'tests/a.test.js': plain(-1) }

  it.each<readonly [string, Readonly<Record<string, string | null>>]>([
    ['by another name', { 'tests/a.test.js': null, 'tests/b.test.js': plain(3) }],
    ['beside one that it changes', { 'tests/a.test.js': null, 'tests/sub/b.test.js': '', 'tests/c.test.js': plain(3) }],
  ])('%s does not fail a solution that still has it', async (_how, after) => {
    const task = await taskOf(before, { ...after, 'src/add.js': ADDS, 'all.sh': all['all.sh'].replace('tests/*', 'tests/*.js') })
    expect(Object.keys(task.files ?? {})).toContain('tests/a.test.js')
    expect(task.reference?.removed).toEqual([])
    expect([verified(solved(task), task), verified(folderOf(task.files ?? {}), task)]).toEqual([0, 1])
  })

  it('is not removed where a link of an agent leads', async () => {
    const task = await taskOf(before, { 'tests/a.test.js': null, 'more/b.test.js': plain(3), 'src/add.js': ADDS })
    const elsewhere = folderOf({ 'a.test.js': 'kept' })
    const folder = solved(task)
    rmSync(join(folder, 'tests'), { recursive: true })
    symlinkSync(elsewhere, join(folder, 'tests'))
    verified(folder, task)
    expect([existsSync(join(elsewhere, 'a.test.js')), existsSync(join(folder, 'tests'))]).toEqual([true, false])
  })
})

it('tests of `node --test` run with the options of the script', async () => {
  const task = await taskOf(
    {
      'package.json': '{"type":"module","scripts":{"test":"node --import ./setup.js --test test/"}}\n',
      'setup.js': 'globalThis.three = 3\n',
      'src/add.js': SUBTRACTS,
    },
    { 'src/add.js': ADDS, 'test/add.test.js': nodeTest('../src/add.js', 'add', 'assert.equal(add(1, 2), three)') },
  )
  expect([verified(solved(task), task), verified(folderOf(task.files ?? {}), task)]).toEqual([0, 1])
})

it('programs of the repository can be started by its tests, and what an agent puts in their place is left as it is', async () => {
  const task = await taskOf(
    { Makefile: '.PHONY: test\ntest:\n\t./tests/greets.sh\n', "bin/g'r": '#!/bin/sh\necho hi\n', 'tests/greets.sh': 'exit 1\n' },
    { "bin/g'r": '#!/bin/sh\necho "hi $1"\n', 'tests/greets.sh': `#!/bin/sh\n[ "$(./bin/g\\'r you)" = "hi you" ]\n` },
    ["bin/g'r", 'tests/greets.sh'],
  )
  const elsewhere = join(folderOf({ kept: '' }), 'kept')
  const folder = solved(task)
  rmSync(join(folder, "bin/g'r"))
  symlinkSync(elsewhere, join(folder, "bin/g'r"))
  expect([verified(solved(task), task), verified(folderOf(task.files ?? {}), task), verified(folder, task)]).toEqual([0, 2, 2])
  expect(statSync(elsewhere).mode & 0o111).toBe(0)
})
