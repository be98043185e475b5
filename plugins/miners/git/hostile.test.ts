/** The git miner on repositories that mean harm, or that no git would make. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isObject } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { promptOf } from './message.ts'
import { historyIn, nodeTest } from './testing/history.ts'
import { mined, PACKAGE, scriptOf } from './testing/mining.ts'

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
    expect([none, said.join('\n')]).toEqual([[], expect.stringMatching(/a file of it is not in this clone/)])
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
    const files = (await mined(odd.folder)).tasks[0]?.data['verify_files']
    for (const [path, text] of Object.entries(isObject(files) ? files : {})) {
      mkdirSync(dirname(join(odd.folder, path)), { recursive: true })
      writeFileSync(join(odd.folder, path), typeof text === 'string' ? text : '')
    }
    const env = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) }
    const { status, stdout } = spawnSync('sh', ['verify/run.sh'], { cwd: odd.folder, encoding: 'utf8', env })
    expect([status, stdout]).toEqual([1, expect.stringContaining('failed: a')])
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
