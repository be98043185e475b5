/** The git miner on a repository with every kind of commit, and on hostile ones. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { minerConformance } from '../../../conformance/index.ts'
import { isObject, type MinedTask, type MiningOrder } from '../../../src/contract/index.ts'
import { sharedFolder, temporaryFolder } from '../../../test/support/folder.ts'
import git from './index.ts'
import { promptOf } from './message.ts'
import { historyIn, nodeTest } from './testing/history.ts'

const miner = await git.plugin.make({})

async function mined(source: string, order: Partial<MiningOrder> = {}) {
  const [tasks, lines]: [MinedTask[], string[]] = [[], []]
  const whole = { source, tasksMax: 100, known: new Set<string>(), signal: new AbortController().signal, ...order }
  const report = (line: string): void => void lines.push(line)
  const passOver = (origin: string, reason: string): void => report(`${origin}: passed over: ${reason}`)
  for await (const task of miner.mine({ ...whole, report, passOver })) tasks.push(task)
  return { tasks, lines }
}

function scriptOf(task: MinedTask | undefined): string {
  const files = task?.data['verify_files']
  const written = isObject(files) ? files['verify/run.sh'] : undefined
  return typeof written === 'string' ? written : ''
}

const leftovers = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('svc-miner-'))
/** Other files mine at the same time. */
const own = (): readonly string[] => leftovers().filter((name) => name.includes(`-${process.pid}-`))

const PACKAGE = '{"type":"module","scripts":{"test":"node --test"}}\n'
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
    const ends = found.map((task) => scriptOf(task).split('\n').slice(-5))
    expect(found.map(({ about }) => about?.['runner'])).toEqual(['pytest', 'pytest', 'npm test'])
    expect(ends[0]?.some((line) => line.startsWith('cd '))).toBe(false)
    expect(ends[1]).toEqual(expect.arrayContaining(["cd './api' || exit 126", expect.stringMatching(/ '\.\/tests\/test_app\.py'$/)]))
    expect(ends[2]).toEqual(expect.arrayContaining(["cd './web' || exit 126", "exec sh -c 'check'"]))
  })
})

describe('a hostile repository', () => {
  const SOURCE = { 'src/a.js': 'export const a = 1\n', 'test/a.test.js': nodeTest('../src/a.js', 'a', 'assert.equal(a, 1)') }

  it('starts no program: no hook, no setting, no attribute, no remote', async () => {
    const hostile = historyIn(temporaryFolder())
    const touched = join(temporaryFolder(), 'touched')
    hostile.commit('root', { 'package.json': PACKAGE, '.gitattributes': '* filter=evil diff=evil\n' })
    hostile.commit('Add the first letter to the program', SOURCE)
    const evil = join(temporaryFolder(), 'evil')
    writeFileSync(evil, `#!/bin/sh\ntouch ${touched}\n`, { mode: 0o755 })
    for (const [key, value] of Object.entries({
      'core.fsmonitor': evil,
      'core.sshCommand': evil,
      'core.pager': evil,
      'core.alternateRefsCommand': evil,
      'diff.external': evil,
      'diff.evil.textconv': evil,
      'filter.evil.smudge': evil,
      'filter.evil.process': evil,
      'credential.helper': `!${evil}`,
      'remote.origin.url': `ext::${evil}`,
      'remote.origin.promisor': 'true',
      'remote.origin.partialclonefilter': 'blob:none',
      'core.repositoryformatversion': '1',
      'extensions.partialClone': 'origin',
      'protocol.ext.allow': 'always',
      'uploadpack.packObjectsHook': evil,
      'alias.rev-list': `!${evil}`,
    }))
      hostile.git('config', key, value)
    for (const hook of readdirSync(join(hostile.folder, '.git/hooks')).concat('post-checkout', 'reference-transaction'))
      writeFileSync(join(hostile.folder, '.git/hooks', hook.replace('.sample', '')), `#!/bin/sh\n${evil}\n`, { mode: 0o755 })
    // A missing object makes git ask the remote, which is a program here.
    const missing = hostile.git('rev-parse', 'HEAD:src/a.js')
    expect((await mined(hostile.folder)).tasks).toHaveLength(1)
    execFileSync('rm', ['-f', join(hostile.folder, '.git/objects', missing.slice(0, 2), missing.slice(2))])
    const { tasks: none, lines: said } = await mined(hostile.folder)
    expect([none, said.join('\n')]).toEqual([
      [],
      expect.stringMatching(/missing, binary or too large|git cannot read it|is not in this clone/),
    ])
    expect(existsSync(touched)).toBe(false)
    // The trap works: git itself falls into it.
    expect(() => hostile.git('cat-file', '-p', missing)).toThrow()
    expect(existsSync(touched)).toBe(true)
  })

  it('has names with quotes, newlines and dashes, which no shell reads', async () => {
    const odd = historyIn(temporaryFolder())
    odd.commit('root', { 'package.json': PACKAGE })
    odd.commit('Add odd names to the program for fun', {
      ...SOURCE,
      "test/-'$(touch pwned)\n.test.js": nodeTest('../src/a.js', 'a', 'assert.equal(a, 1)'),
    })
    const script = scriptOf((await mined(odd.folder)).tasks[0])
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'run.sh'), script)
    execFileSync('sh', ['-n', join(folder, 'run.sh')])
    expect(script).toContain(`'./test/-'\\''$(touch pwned)\n.test.js'`)
  })

  it('has names that are patterns to a test runner, which still runs them', async () => {
    const odd = historyIn(temporaryFolder())
    odd.commit('root', { 'package.json': PACKAGE })
    odd.commit('Add pages with a name in brackets', {
      ...SOURCE,
      '(pages)/+(a)/[id]{a,b}?*.test.js': nodeTest('../../src/a.js', 'a', 'assert.equal(a, 2)'),
    })
    const script = scriptOf((await mined(odd.folder)).tasks[0])
    const [, command = ''] = /^exec (node --test .*)$/m.exec(script) ?? []
    const { status, stdout } = spawnSync('sh', ['-c', command], { cwd: odd.folder, encoding: 'utf8' })
    expect([status, stdout]).toEqual([1, expect.stringContaining('fail 1')])
  })

  it('has links and submodules: they are no files, and a commit that changes one is no task', async () => {
    const linked = historyIn(temporaryFolder())
    mkdirSync(join(linked.folder, 'src'))
    symlinkSync('/etc/passwd', join(linked.folder, 'src/passwd'))
    linked.commit('root', { 'package.json': PACKAGE })
    linked.commit('Add the first letter to the program', SOURCE)
    symlinkSync('/etc', join(linked.folder, 'src/etc'))
    linked.commit('Add a link to the settings of the machine', { 'test/b.test.js': 'b', 'src/b.js': 'b' })
    linked.git('update-index', '--add', '--cacheinfo', `160000,${linked.git('rev-parse', 'HEAD')},src/module`)
    linked.git('commit', '--quiet', '-m', 'Add a module of another repository and use it')
    const { tasks: found } = await mined(linked.folder)
    expect(found.map(({ files }) => Object.keys(files ?? {}))).toEqual([['package.json']])
  })

  it('has a commit that git cannot read, and one with a name that is no text, beside others that are tasks', async () => {
    const broken = historyIn(temporaryFolder())
    broken.commit('root', { 'package.json': PACKAGE })
    const good = broken.commit('Add the first letter to the program', SOURCE)
    mkdirSync(Buffer.concat([Buffer.from(`${broken.folder}/odd-`), Buffer.of(255)]))
    writeFileSync(Buffer.concat([Buffer.from(`${broken.folder}/odd-`), Buffer.of(255), Buffer.from('/b.test.js')]), 'b')
    broken.commit('Add a letter in a folder of no name', { 'src/b.js': 'b' })
    broken.commit('Add the last letter to the program', { 'last/c.js': 'c', 'last/c.test.js': 'c' })
    const tree = broken.git('rev-parse', 'HEAD:last')
    rmSync(join(broken.folder, '.git/objects', tree.slice(0, 2), tree.slice(2)))
    const { tasks: found, lines: said } = await mined(broken.folder)
    expect(found.map(({ origin }) => origin)).toEqual([`git:${good}`])
    expect(said.join('\n')).toMatch(/git cannot read it[^]*passed over: a name of a file in it is no text/)
  })

  it('has a commit of a time that no calendar has, which is a task without a date', async () => {
    const late = historyIn(temporaryFolder())
    late.commit('root', { 'package.json': PACKAGE })
    late.commit('Add the first letter to the program', SOURCE)
    const commit = late.git('cat-file', 'commit', 'HEAD').replaceAll(/> \d+ /g, `> ${'9'.repeat(17)} `)
    writeFileSync(join(late.folder, '.git/late'), commit)
    late.git('update-ref', 'HEAD', late.git('hash-object', '-t', 'commit', '-w', '--literally', join(late.folder, '.git/late')))
    const { tasks: found } = await mined(late.folder)
    expect(found.map(({ about }) => Object.keys(about ?? {}))).toEqual([['commit', 'subject', 'runner', 'tests']])
  })

  it.each([
    ['spaces', ' '],
    ['wide spaces', '\u00a0'],
    ['commas', ','],
    ['letters', 'a'],
    ['links', 'http://a '],
  ])('has a message of a million %s, which is read to an end', (_what, sign) => {
    const long = sign.repeat(1_000_000)
    // A pattern that looks at all of it again from each character would take days.
    expect(promptOf(`Add letters ${long} to the program\n\n${long}.`, ['src/a.js'])).toMatch(/^Add letters/)
  })

  it('has messages with control characters, which do not reach a prompt', async () => {
    const loud = historyIn(temporaryFolder())
    loud.commit('root', { 'package.json': PACKAGE })
    loud.commit(
      'Add \u001b[31mred\u001b[0m letters\u0007 to the\u202e program\u200b\r\n\r\nBecause\u0000 \u001b]0;title\u0007 they are nice.'.replace(
        '\u0000',
        '',
      ),
      SOURCE,
    )
    const [task] = (await mined(loud.folder)).tasks
    expect(task?.prompt).toMatch(/^Add red letters to the program\.\n\nBecause they are nice\.\n/)
    // oxlint-disable-next-line no-control-regex
    expect(JSON.stringify(task?.about)).not.toMatch(/\\u001b|[\u202e\u200b]/)
  })
})
