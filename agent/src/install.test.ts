import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RELEASE_FILE, type Requires } from '@svc-ai/client/shared'
import { anInstallation, makeHome, SERVICE_URL, textsBelow, transcript, type Home } from './testing/harness-home.ts'
import { install } from './install.ts'
import type { Installation } from './installation.ts'
import { inFolder, installFolder } from './places.ts'
import { readRecord } from './record.ts'
import { readReleaseFile, writeReleaseFile, type CheckOff } from './release-file.ts'
import { HOSTILE_FILES } from './testing/hostile.ts'
import { uninstall } from './uninstall.ts'

const run = async (home: Home, installation: Installation, args?: readonly string[]) => {
  const terminal = transcript()
  const code = await install({ ...home.order(installation, args), terminal })
  return { code, printed: terminal.printed.join('\n'), warned: terminal.warned.join('\n') }
}
const MAIL: Requires = { name: 'mail', kind: 'service', check: 'true' }
const folderOf = (home: Home): string => installFolder(home.path, home.destination)
const modeOf = (path: string): number => statSync(path).mode & 0o777

describe('install', () => {
  test('writes the tree with the model bound into it, the record, the launcher and the release file', async () => {
    const home = makeHome()
    const { code, printed, warned } = await run(home, anInstallation())
    expect(code, warned).toBe(0)
    expect(textsBelow(home.destination)).toMatchObject({
      'AGENTS.md': 'be brief\n',
      'models.json': `{"url":"${SERVICE_URL}/v1","key":"secret-token"}\n`,
      '.env': 'KEY="secret-token"\n',
    })
    expect(modeOf(join(home.destination, '.env'))).toBe(0o600)
    expect(modeOf(join(home.destination, 'models.json'))).toBe(0o600)
    const record = await readRecord(folderOf(home))
    expect(record).toMatchObject({
      destination: home.destination,
      executable: join(home.prefix, 'node_modules/.bin/agent'),
      release_id: 'r1',
    })
    expect(JSON.stringify(record)).not.toContain('secret-token')
    expect(modeOf(inFolder(folderOf(home)).token)).toBe(0o600)
    expect(readFileSync(inFolder(folderOf(home)).token, 'utf8')).toBe('secret-token\n')
    expect(await readReleaseFile(home.destination, home.path)).toMatchObject({ release_id: 'r1', setup: [], requires: [] })
    expect(readlinkSync(join(home.path, '.local/bin/svc-agent'))).toBe(join(folderOf(home), 'svc-agent'))
    expect(printed).toContain('svc-agent')
  })

  test.each([
    ['whose own files are read anyway', undefined, []],
    [
      'of which nothing can be taken over',
      {},
      [expect.stringContaining('your own settings, servers, memory and login of agent are not used')],
    ],
    [
      'of which something can',
      { memory: { from: 'a', to: 'b' } },
      [expect.stringContaining('are not used'), expect.stringMatching(/ name them: \S*svc-agent --take memory$/)],
    ],
  ])('says of an agent %s what becomes of them', async (_case, takes, said) => {
    const { client, ...rest } = anInstallation()
    const { printed } = await run(makeHome(), { ...rest, client: { ...client, ...(takes !== undefined && { takes }) } })
    expect(printed.split('\n').filter((line) => /\bown\b|--take/.test(line))).toEqual(said)
  })

  test('a second time finds everything current and writes nothing, though the placeholders are new', async () => {
    const home = makeHome()
    await run(home, anInstallation())
    const before = statSync(inFolder(folderOf(home)).record).mtimeMs
    const again = anInstallation({
      placeholders: { url: '@U2@', token: '@T2@' },
      binding: { 'models.json': '{"url":"@U2@/v1","key":"@T2@"}\n', '.env': 'KEY="@T2@"\n' },
    })
    const { code, printed } = await run(home, again)
    expect([code, printed.includes('already current')]).toEqual([0, true])
    expect(statSync(inFolder(folderOf(home)).record).mtimeMs).toBe(before)
    expect(home.npmCalls()).toEqual(['@vendor/agent@1.2.3'])
  })

  test('another release removes what left the tree, keeps check-offs, and keeps what is the person’s own', async () => {
    const home = makeHome()
    await run(home, anInstallation())
    writeFileSync(join(home.destination, 'notes.txt'), 'mine')
    const done = { name: 'mail', checked_at: 1, check: null }
    await checkOff(home, done)
    const next = anInstallation({ release_id: 'r2', files: { 'AGENTS.md': 'be long\n', 'new.md': 'n\n' }, binding: {} })
    expect((await run(home, next)).code).toBe(0)
    const { [RELEASE_FILE]: _, ...texts } = textsBelow(home.destination)
    expect(texts).toEqual({ '.gitignore': expect.any(String), 'AGENTS.md': 'be long\n', 'new.md': 'n\n', 'notes.txt': 'mine' })
    expect(await readReleaseFile(home.destination, home.path)).toMatchObject({ release_id: 'r2', setup: [done] })
  })

  test('an item that is not checked off refuses before anything is created, and says how to go on', async () => {
    const home = makeHome()
    const requires = [{ name: 'mail', kind: 'service' as const, check: 'true', prompt: 'start the mail\u001b[2J server' }]
    const { code, warned } = await run(home, anInstallation({ requires, fallback_release_id: 'r0' }))
    expect(code).toBe(1)
    expect(warned).toContain('mail (service): start the mail[U+001B][2J server')
    expect(warned).toContain('?release_id=r0')
    expect(warned).toContain("svc-agent setup --release 'r1'")
    expect(warned).not.toContain('secret-token')
    expect([existsSync(home.destination), existsSync(join(home.path, '.svc')), home.npmCalls()]).toEqual([false, false, []])
  })

  test('a Node older than the agent needs refuses with one line, nothing written', async () => {
    const home = makeHome()
    const spec = { ...anInstallation().install, node_least: '22.19' }
    const { code, warned } = await run(home, anInstallation({ install: spec }))
    expect([code, warned.split('\n').length, warned.includes('22.19')]).toEqual([1, 1, true])
    expect(existsSync(join(home.path, '.svc'))).toBe(false)
    expect((await run(home, anInstallation({ install: { ...spec, node_least: '20.1' } }))).code).toBe(0)
  })

  test('a file of the person’s own where one of the tree would go is refused and stays', async () => {
    const home = makeHome()
    mkdirSync(home.destination)
    writeFileSync(join(home.destination, 'AGENTS.md'), 'mine')
    const { code, warned } = await run(home, anInstallation())
    expect([code, warned.includes('AGENTS.md')]).toEqual([1, true])
    expect(readFileSync(join(home.destination, 'AGENTS.md'), 'utf8')).toBe('mine')
    expect(home.npmCalls()).toEqual([])
  })

  test('a link inside the folder is refused and what it leads to is not touched', async () => {
    const home = makeHome()
    mkdirSync(join(home.path, 'elsewhere'))
    mkdirSync(home.destination)
    symlinkSync(join(home.path, 'elsewhere'), join(home.destination, 'skills'))
    const { code, warned } = await run(home, anInstallation())
    expect([code, warned.includes('link')]).toEqual([1, true])
    expect(textsBelow(join(home.path, 'elsewhere'))).toEqual({})
  })

  test.each(HOSTILE_FILES)(
    'a release file that came with somebody’s folder as %s has nothing removed, overwritten or checked off',
    async (kind, place) => {
      const home = makeHome()
      mkdirSync(home.destination)
      place(join(home.destination, RELEASE_FILE))
      writeFileSync(join(home.destination, 'mine.txt'), 'mine')
      const needy = anInstallation({ requires: [MAIL] })
      expect(await run(home, needy)).toMatchObject({ code: 1, warned: expect.stringContaining('mail (service)') })
      const own = join(home.destination, 'AGENTS.md')
      writeFileSync(own, 'mine')
      expect((await run(home, anInstallation())).code).toBe(1)
      expect([readFileSync(own, 'utf8'), home.npmCalls()]).toEqual(['mine', []])
      rmSync(own)
      const { code, warned } = await run(home, anInstallation())
      const isPlain = kind.includes('file')
      expect([code, warned]).toEqual([
        isPlain ? 0 : 1,
        expect.stringMatching(isPlain ? 'installing agent' : /^svc: \S+ is no plain file; move it away/),
      ])
      expect([readFileSync(join(home.destination, 'mine.txt'), 'utf8'), home.npmCalls().length]).toEqual(['mine', isPlain ? 1 : 0])
      if (isPlain) expect(await readReleaseFile(home.destination, home.path)).toMatchObject({ release_id: 'r1', setup: [] })
    },
  )

  test('a release file that a repository changes after the install counts for nothing', async () => {
    const home = makeHome()
    await run(home, anInstallation())
    writeFileSync(join(home.destination, 'mine.txt'), 'mine')
    HOSTILE_FILES[0]?.[1](join(home.destination, RELEASE_FILE))
    const needy = anInstallation({ release_id: 'r2', requires: [MAIL] })
    expect(await run(home, needy)).toMatchObject({ code: 1, warned: expect.stringContaining('mail (service)') })
    const next = anInstallation({ release_id: 'r2', files: { 'AGENTS.md': 'be long\n' }, binding: {} })
    expect((await run(home, next)).code).toBe(0)
    const { [RELEASE_FILE]: _, '.gitignore': __, ...texts } = textsBelow(home.destination)
    expect(texts).toEqual({ 'AGENTS.md': 'be long\n', 'mine.txt': 'mine' })
  })

  test('pipes in the place of its files hang no uninstall, and stay', async () => {
    const home = makeHome()
    await run(home, anInstallation())
    for (const name of ['AGENTS.md', '.env']) {
      rmSync(join(home.destination, name))
      execFileSync('mkfifo', [join(home.destination, name)])
    }
    const [folder, terminal] = [folderOf(home), transcript()]
    const self = { folder, record: await readRecord(folder), env: home.env }
    expect(await uninstall(self, ['--yes'], terminal)).toBe(0)
    expect(terminal.warned.filter((line) => line.includes('was changed, and stays'))).toHaveLength(2)
    expect(readdirSync(home.destination).toSorted()).toEqual(['.env', '.gitignore', 'AGENTS.md'])
  })

  test('an install of an earlier version, which kept no more than its record, is updated with its check-offs', async () => {
    const home = makeHome()
    await run(home, anInstallation())
    const done = { name: 'mail', checked_at: 1, check: 'true' }
    await checkOff(home, done)
    rmSync(join(home.path, '.svc/trees'), { recursive: true })
    const next = anInstallation({ release_id: 'r2', files: { 'AGENTS.md': 'be long\n' }, binding: {}, requires: [MAIL] })
    expect(await run(home, next)).toMatchObject({ code: 0 })
    const { [RELEASE_FILE]: _, '.gitignore': __, ...texts } = textsBelow(home.destination)
    expect(texts).toEqual({ 'AGENTS.md': 'be long\n' })
    expect(await readReleaseFile(home.destination, home.path)).toMatchObject({ release_id: 'r2', setup: [done] })
  })

  test('a folder reached through a link has one install, however it is named', async () => {
    const home = makeHome()
    mkdirSync(join(home.path, 'real'))
    symlinkSync(join(home.path, 'real'), join(home.path, 'alias'))
    expect((await run(home, anInstallation(), [join(home.path, 'alias/h'), home.prefix])).code).toBe(0)
    const { printed } = await run(home, anInstallation(), [join(home.path, 'real/h'), home.prefix])
    expect(printed).toContain('already current')
  })

  test.each([
    ['a tree path that leads out of the folder', (home: Home) => run(home, anInstallation({ files: { '../out.md': 'x' } })), '../out.md'],
    ['a file where the folder should be', (home: Home) => (writeFileSync(home.destination, ''), run(home, anInstallation())), 'in the way'],
    [
      'an npm that fails',
      (home: Home) => (writeFileSync(join(home.path, 'npm-fails'), ''), run(home, anInstallation())),
      'check the network',
    ],
    ['no npm', (home: Home) => (rmSync(join(home.path, 'tools/npm')), withoutNpm(home)), 'npm, which is not on PATH'],
  ])('%s stops with a line that says what to do, and nothing is left of the tree', async (_case, attempt, words) => {
    const home = makeHome()
    const { code, warned } = await attempt(home)
    expect([code, warned]).toEqual([1, expect.stringContaining(words)])
    expect([existsSync(join(home.path, 'out.md')), existsSync(join(home.destination, RELEASE_FILE))]).toEqual([false, false])
  })

  test('a command of the same name that is no link of an install is left as it is', async () => {
    const home = makeHome()
    const place = join(home.path, '.local/bin/svc-agent')
    mkdirSync(join(home.path, '.local/bin'), { recursive: true })
    writeFileSync(place, 'mine')
    const { code, warned, printed } = await run(home, anInstallation())
    expect([code, warned.includes(place), printed.includes(join(folderOf(home), 'svc-agent'))]).toEqual([0, true, true])
    expect([lstatSync(place).isFile(), readFileSync(place, 'utf8')]).toEqual([true, 'mine'])
  })

  test('where the command cannot be linked, the install is complete and names the launcher', async () => {
    const home = makeHome()
    writeFileSync(join(home.path, '.local'), '')
    const { code, printed } = await run(home, anInstallation())
    expect([code, printed.includes(join(folderOf(home), 'svc-agent'))]).toEqual([0, true])
  })

  test('a token that could break out of a setting is written nowhere', async () => {
    const home = makeHome()
    const order = home.order(anInstallation())
    const terminal = transcript()
    expect(await install({ ...order, env: { ...home.env, SVC_TOKEN: 'a"b\\c' }, terminal })).toBe(1)
    expect(textsBelow(home.destination)).toEqual({})
    expect(existsSync(inFolder(folderOf(home)).token)).toBe(false)
    expect(terminal.warned).toEqual([
      expect.stringMatching(/^svc: the token given holds characters that are not written into settings; .*SVC_TOKEN$/),
    ])
  })

  test('the token is not shown to the programs that install the agent, nor to the agent itself', async () => {
    const home = makeHome()
    const [npm, seen] = [join(home.path, 'tools/npm'), join(home.path, 'seen')]
    const text = readFileSync(npm, 'utf8').replace('set -eu', `set -eu\nenv >>'${seen}'`).replace('echo "the', `env >>'${seen}'; echo "the`)
    writeFileSync(npm, text)
    expect((await run(home, anInstallation())).code).toBe(0)
    expect(readFileSync(seen, 'utf8')).toContain('AGENT_DIR=')
    expect(readFileSync(seen, 'utf8')).not.toContain('secret-token')
  })

  test('a token that was given before is used again for the same service, never for another', async () => {
    const home = makeHome()
    await run(home, anInstallation())
    const { SVC_TOKEN: _, ...env } = home.env
    const again = async (installation: Installation): Promise<string | undefined> => {
      expect(await install({ ...home.order(installation), env, terminal: transcript() })).toBe(0)
      return textsBelow(home.destination)['.env']
    }
    expect(await again(anInstallation())).toBe('KEY="secret-token"\n')
    expect(await again(anInstallation({ url: 'http://localhost:1' }))).toBe('KEY="svc-no-token"\n')
    expect(existsSync(inFolder(folderOf(home)).token)).toBe(false)
  })

  test('two at once wait for each other and leave one whole tree', async () => {
    const home = makeHome()
    const other = anInstallation({ release_id: 'r2', files: { 'AGENTS.md': 'two\n', 'two.md': '2\n' }, binding: {} })
    const codes = await Promise.all([run(home, anInstallation()), run(home, other)])
    // The older one is refused when it comes second.
    expect([codes[0]?.code, codes[1]?.code]).toEqual([expect.toBeOneOf([0, 1]), 0])
    const release = await readReleaseFile(home.destination, home.path)
    const { [RELEASE_FILE]: _, '.gitignore': __, ...texts } = textsBelow(home.destination)
    expect(Object.keys(texts)).toEqual([...(release?.files ?? [])])
    expect((await readRecord(folderOf(home))).release_id).toBe(release?.release_id)
  })
})

async function checkOff(home: Home, done: CheckOff): Promise<void> {
  const release = await readReleaseFile(home.destination, home.path)
  if (release === null) throw new Error('nothing is installed')
  await writeReleaseFile(home.destination, { ...release, setup: [done] }, home.path)
}

function withoutNpm(home: Home) {
  const terminal = transcript()
  const env = { ...home.env, PATH: join(home.path, 'tools') }
  return install({ ...home.order(anInstallation()), env, terminal }).then((code) => ({
    code,
    printed: '',
    warned: terminal.warned.join('\n'),
  }))
}
