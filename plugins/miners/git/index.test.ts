/** The git miner on a repository with every kind of commit. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { minerConformance } from '../../../conformance/index.ts'
import { isObject } from '../../../src/contract/index.ts'
import { sharedFolder, temporaryFolder } from '../../../test/support/folder.ts'
import git from './index.ts'
import { promptOf } from './message.ts'
import { historyIn, nodeTest } from './testing/history.ts'
import { mined, miner, PACKAGE, scriptOf } from './testing/mining.ts'

const leftovers = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('svc-miner-'))
/** Other files mine at the same time. */
const own = (): readonly string[] => leftovers().filter((name) => name.includes(`-${process.pid}-`))

const history = historyIn(sharedFolder())
const root = history.commit('root', { 'package.json': PACKAGE, 'src/math.js': 'export const add = (a, b) => a - b\n', 'src/text.js': '' })
const fix = history.commit(
  `fix(math): add adds its two numbers (#12)\n\nIt subtracted them; see https://example.com/issues/12. Adds a test for it.\nThe result of src/math.js was wrong.\n\nFixes: #12\nSigned-off-by: Some One <some@example.com>\n`,
  {
    'src/math.js': 'export const add = (a, b) => a + b\n',
    'test/math.test.js': nodeTest('../src/math.js', 'add', 'assert.equal(add(1, 2), 3)'),
  },
)
const feature = history.commit('Add upper, which makes a text loud, and test it', {
  'src/text.js': 'export const upper = (text) => text.toUpperCase()\n',
  'src/old.js': 'x\n',
  'test/text.test.js': nodeTest('../src/text.js', 'upper', "assert.equal(upper('a'), 'A')"),
  'test/fixtures/a.txt': 'a',
})
history.commit('Only code changes here, nothing else', { 'src/more.js': '1\n' })
history.commit('Only tests change here, and documents', { 'test/more.test.js': '1\n', 'README.md': 'x' })
history.commit('Moves the old file and its test elsewhere', {
  'src/old.js': null,
  'src/new.js': 'x\n',
  'test/more.test.js': null,
  'test/moved.test.js': '1\n',
})
history.commit('Binary data of the program is replaced by other data', { 'src/data.bin': Buffer.from([0, 1, 255]), 'test/b.test.js': 'b' })
history.commit('A huge table is put into the program for speed', { 'src/table.js': 'x'.repeat(300_000), 'test/c.test.js': 'c' })
history.commit('wip', { 'src/w.js': 'w', 'test/w.test.js': 'w' })
history.commit('Many files are touched in one single commit', {
  ...Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`src/many/${n}.js`, `${n}`])),
  'test/many.test.js': 'many',
})
const bad = history.commit('Add a thing that was a mistake from the beginning', { 'src/bad.js': 'bad', 'test/bad.test.js': 'bad' })
history.commit(`Revert "Add a thing"\n\nThis reverts commit ${bad}.`, { 'src/bad.js': null, 'test/bad.test.js': 'bad bad' })
const removal = history.commit('Take the loud text away and whisper instead', {
  'src/text.js': null,
  'src/whisper.js': 'export const whisper = (text) => text.toLowerCase()\n',
  'package-lock.json': '{}',
  'test/whisper.test.js': nodeTest('../src/whisper.js', 'whisper', "assert.equal(whisper('A'), 'a')"),
})
history.git('checkout', '--quiet', '-b', 'side', root)
history.commit('Something else on the side of the history', { 'src/side.js': 's' })
history.git('checkout', '--quiet', 'main')
history.git('merge', '--quiet', '--no-edit', '-m', 'Merge the side with its tests and code', 'side')

const { tasks, lines } = await mined(history.folder)
const byCommit = new Map(tasks.map((task) => [task.origin.slice('git:'.length), task]))

describe('the git miner', () => {
  minerConformance({ describe, it, miner, source: history.folder })

  it('finds commits that change code and tests, newest first, and no other', () => {
    expect(tasks.map(({ origin }) => origin)).toEqual([removal, feature, fix].map((id) => `git:${id}`))
  })

  it('says why it passes over a commit', () => {
    expect(lines.map((line) => line.replace(/^git:[0-9a-f]{40}: /, '')).toSorted()).toEqual([
      '13 commits',
      ...['a file that it changes is missing, binary or too large', 'a file that it changes is missing, binary or too large'].map(
        (why) => `passed over: ${why}`,
      ),
      ...[
        'it changes more than 40 files',
        'it does not change code and tests together',
        'it does not change code and tests together',
        'it does not change code and tests together',
        'it only moves files',
        'it reverts another commit',
        'it was reverted',
        'its message says too little',
      ].map((why) => `passed over: ${why}`),
    ])
  })

  it('takes the parent as the workspace, without what programs made and what is no text', () => {
    expect(byCommit.get(fix)?.files).toEqual({
      'package.json': PACKAGE,
      'src/math.js': 'export const add = (a, b) => a - b\n',
      'src/text.js': '',
    })
    const before = Object.keys(byCommit.get(removal)?.files ?? {})
    expect(before).toContain('src/text.js')
    for (const path of ['src/whisper.js', 'src/data.bin', 'src/table.js']) expect(before).not.toContain(path)
  })

  it('takes what the commit did beside its tests as the reference', () => {
    expect(byCommit.get(fix)?.reference).toEqual({ files: { 'src/math.js': 'export const add = (a, b) => a + b\n' }, removed: [] })
    expect(byCommit.get(removal)?.reference).toMatchObject({ removed: ['src/text.js'] })
    expect(Object.keys(byCommit.get(removal)?.reference?.files ?? {})).toEqual(['src/whisper.js'])
  })

  it('asks for what the message wants, without links, trailers, names of files and tests', () => {
    const end = '\n\nThe folder that you are in holds the repository. Make this change in its code.'
    expect(byCommit.get(fix)?.prompt).toBe(`Add adds its two numbers.\n\nIt subtracted them.${end}`)
    expect(byCommit.get(feature)?.prompt).toBe(`Add upper, which makes a text loud.${end}`)
  })

  it.each<readonly [string, string | null]>([
    ['Round half up with a regression test', 'Round half up.'],
    ['test: more tests for the parser', null],
    ['chore', null],
    ['wip', null],
    ['Fix some bugs', null],
    ['Various small fixes.', null],
    ['fix: updates', null],
    ['Add gcd', 'Add gcd.'],
    ['Add x', null],
    ['添加求和', '添加求和.'],
    ['修正', null],
    ['Parse dates (GH-12) as users want', 'Parse dates as users want.'],
    ['PROJ-77: Parse dates', 'Parse dates.'],
    ['fix: PROJ-77: parse dates', 'Parse dates.'],
    ['[PROJ-77] Parse dates, closes PROJ-78 and PROJ-79', 'Parse dates.'],
    ['fix(PROJ-77): parse dates (PROJ-78, PROJ-79)', 'Parse dates.'],
    ['Decode UTF-8 and hash it with SHA-256', 'Decode UTF-8 and hash it with SHA-256.'],
    ['UTF-8: decode it without a mark', 'UTF-8: decode it without a mark.'],
    ['Fix ISO-8601 dates (ISO-8601)', 'Fix ISO-8601 dates (ISO-8601).'],
    ['Turn COVID-19 charts into part-2 charts, see part-1', 'Turn COVID-19 charts into part-2 charts, see part-1.'],
    ['Keep the suffix #12 out of names', 'Keep the suffix out of names.'],
    ['Speed up the parser; see abc1234def for why', 'Speed up the parser; see for why.'],
  ])('of the subject %j it makes %j', (subject, first) => {
    expect(promptOf(subject, [])?.split('\n', 1)[0] ?? null).toBe(first)
  })

  it('keeps a line of a body that begins with a standard, and takes only the key from one that begins with an issue', () => {
    const body = 'UTF-8: it is decoded now.\nPROJ-12: it is fast now.\nChange-Id: I123'
    expect(promptOf(`Read texts of users\n\n${body}`, [])).toMatch(/\.\n\nUTF-8: it is decoded now\. it is fast now\.\n\nThe folder/)
  })

  it.each<readonly [string, readonly string[], string | null]>([
    ['Keep data.js and a.json as they are', ['src/a.js'], 'Keep data.js and a.json as they are.'],
    ['Let the tool add numbers', ['bin/add'], 'Let the tool add numbers.'],
    ['Round numbers, and change a.js', ['src/a.js'], 'Round numbers.'],
    ['Round numbers, and change ./src/a.js:12', ['src/a.js'], 'Round numbers.'],
    ['Round numbers, and change bin/add', ['bin/add'], 'Round numbers.'],
    ['Round numbers; change the Makefile.', ['Makefile'], 'Round numbers.'],
    ['Round numbers; change (x)[y].js', ['src/(x)[y].js'], 'Round numbers.'],
  ])('of the subject %j of a commit that changes %j it makes %j', (subject, paths, first) => {
    expect(promptOf(subject, paths)?.split('\n', 1)[0] ?? null).toBe(first)
  })

  it('leaves code, diffs and statistics out of a prompt', () => {
    const body =
      '```js\nconst secret = 1\n```\n\n    indented()\n\n+++ b/src/a.js\n@@ -1 +1 @@\n 3 files changed, 2 insertions(+)\n\nWords stay.\n- so do points'
    expect(promptOf(`Round numbers half up\n\n${body}`, [])).toMatch(
      /^Round numbers half up\.\n\nWords stay\.\n- so do points\n\nThe folder/,
    )
  })

  it('names a task by its words and its commit, and its module by the test', () => {
    expect(byCommit.get(fix)).toMatchObject({ name: `add-adds-its-two-numbers-${fix.slice(0, 10)}`, module: 'math' })
    expect(byCommit.get(fix)?.about).toMatchObject({ commit: fix, runner: 'node --test', tests: ['test/math.test.js'] })
  })

  it('makes no task of a commit whose files were not all fetched', async () => {
    const clone = join(temporaryFolder(), 'clone')
    history.git('config', 'uploadpack.allowFilter', 'true')
    execFileSync('git', ['clone', '--quiet', '--filter=blob:none', `file://${history.folder}`, clone])
    const bare = await mined(clone)
    expect(bare.tasks).toEqual([])
    expect(bare.lines.join('\n')).toContain(
      'passed over: a file of it is not in this clone; git fetch --refetch --no-filter gets all of them',
    )
    execFileSync('git', ['-C', clone, 'fetch', '--quiet', '--refetch', '--no-filter'])
    expect((await mined(clone)).tasks).toHaveLength(3)
  })

  it('keeps tests and fixtures where no agent sees them', () => {
    const hidden = byCommit.get(feature)?.data['verify_files']
    expect(isObject(hidden) ? Object.keys(hidden) : []).toEqual([
      'verify/run.sh',
      'verify/first',
      'verify/tests/test/fixtures/a.txt',
      'verify/tests/test/text.test.js',
    ])
  })

  it('reads a folder below the repository, a worktree and a shallow clone alike', async () => {
    const clone = join(temporaryFolder(), 'clone')
    execFileSync('git', ['clone', '--quiet', '--depth=2', `file://${history.folder}`, clone])
    expect((await mined(clone)).tasks.map(({ origin }) => origin)).toEqual([])
    const tree = join(temporaryFolder(), 'tree')
    history.git('worktree', 'add', '--quiet', '--detach', tree, fix)
    expect((await mined(tree)).tasks.map(({ origin }) => origin)).toEqual([`git:${fix}`])
    expect((await mined(join(history.folder, 'src'))).tasks).toHaveLength(3)
  })

  it('refuses what is no repository, and one without a commit', async () => {
    await expect(mined(temporaryFolder())).rejects.toMatchObject({ code: 'no_repository' })
    await expect(mined(join(temporaryFolder(), 'gone'))).rejects.toMatchObject({ code: 'no_repository' })
    await expect(mined(historyIn(temporaryFolder()).folder)).rejects.toMatchObject({ code: 'no_history' })
  })

  it('refuses settings that it does not know', async () => {
    expect(() => git.plugin.make({ depth: 3 })).toThrow('the miner git knows only commits')
    expect(() => git.plugin.make({ commits: 0 })).toThrow('commits must be a whole number above 0')
  })

  it('leaves nothing behind in the temporary folder, also when its reader leaves', async () => {
    const [report, passOver, { signal }] = [() => undefined, () => undefined, new AbortController()]
    for await (const _ of miner.mine({ source: history.folder, tasksMax: 1, known: new Set(), report, passOver, signal })) {
      expect(own()).toHaveLength(1)
      break
    }
    expect(own()).toEqual([])
  })

  it.runIf(process.platform === 'linux')('removes what one that was killed left there, and nothing of those that live', async () => {
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')
    const { pid } = spawnSync('true')
    const [dead, alive, elsewhere] = [`${namespace}-${pid}`, `${namespace}-${process.pid}`, `1-${pid}`].map(
      (name) => `svc-miner-${name}-kept`,
    )
    for (const name of [dead, alive, elsewhere]) mkdirSync(join(tmpdir(), name ?? '', 'objects'), { recursive: true })
    onTestFinished(() => [alive, elsewhere].forEach((name) => rmSync(join(tmpdir(), name ?? ''), { recursive: true })))
    await mined(history.folder)
    expect(leftovers()).not.toContain(dead)
    expect(leftovers()).toEqual(expect.arrayContaining([alive, elsewhere]))
  })
})

describe('a repository of several projects', () => {
  it('has its tests run in the folder of theirs, with what is installed there', async () => {
    const several = historyIn(temporaryFolder())
    several.commit('root', {
      'web/package.json': '{"scripts":{"test":"check"}}\n',
      'api/pyproject.toml': '',
      '.gitignore': 'node_modules\n',
    })
    several.commit('Let the web say one to all its users', { 'web/src/a.js': '1', 'web/test/a.test.js': 'a' })
    several.commit('Let the program answer one to all', { 'api/app.py': '1', 'api/tests/test_app.py': 'import unittest\n' })
    several.commit('Let both of them say two from now on', {
      'api/app.py': '2',
      'web/src/a.js': '2',
      'api/tests/test_app.py': 'import unittest # two\n',
      'web/test/a.test.js': 'b',
    })
    mkdirSync(join(several.folder, 'web/node_modules'))
    const { tasks: found } = await mined(several.folder)
    const ends = found.map((task) => scriptOf(task).split('\n').slice(-14))
    expect(found.map(({ about }) => about?.['runner'])).toEqual(['pytest', 'pytest', 'npm test'])
    expect(ends[0]?.some((line) => line.startsWith('cd '))).toBe(false)
    expect(ends[1]).toEqual(expect.arrayContaining(["cd './api' || exit 126", expect.stringMatching(/ '\.\/tests\/test_app\.py' /)]))
    expect(ends[2]).toEqual(expect.arrayContaining(["cd './web' || exit 126", "sh -c 'check'"]))
  })
})
