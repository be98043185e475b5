/** Attacks on the install line: names, shells, environments, pages in the script's place, links in its way, and tokens that leak. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { TOKEN_PREFIX } from '../../src/contract/index.ts'
import { IS_SHORT } from '../support/short.ts'
import { sharedInstallWorld, TOKEN } from './install-world.ts'
import { filesHolding, makeMachine, namesBelow, type Machine } from './machine.ts'

const SHELLS = ['dash', 'bash', 'busybox sh', 'zsh', 'ksh', 'mksh', 'yash', 'bash -eu']
const IN_OTHER_WAYS = ['bash --posix', 'zsh --emulate sh', 'dash -e', 'dash -u']

const world = sharedInstallWorld()
let script: Uint8Array
beforeAll(async () => {
  script = (await (await world.scenario('attacked')).script()).bytes
})

const ran = (machine: Machine): readonly string[] => namesBelow(machine.root).filter((name) => /(?:^|\/)ran$/.test(name))

const piped = (machine: Machine, shell: string, input: Uint8Array, env: Readonly<Record<string, string>> = {}) =>
  machine.run([...shell.split(' '), '-s', '--', machine.destination, machine.prefix], { input, env: { SVC_TOKEN: TOKEN, ...env } })

/** What proxies and web servers answer instead. */
const html = (title: string, body: string): string =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr>${body}\r\n</body>\r\n</html>\r\n`

const PAGES: readonly (readonly [string, string])[] = [
  ['502', html('502 Bad Gateway', '<center>proxy</center>')],
  [
    'an old doctype',
    `<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n${html('404 Not Found', '<p>The requested URL was not found.</p>')}`,
  ],
  ['a script of a page', html('Sign in', '<script>\nlocation.href = "/login"\n</script>')],
  ['nothing', ''],
  ['a line end', '\n'],
  ['JSON', '{"error":{"message":"no route","type":"not_found_error","code":"unknown_route"}}'],
]

describe.each(IS_SHORT ? SHELLS : [...SHELLS, ...IN_OTHER_WAYS])('under %s', (shell) => {
  it('the script installs, and runs nothing else', async () => {
    const machine = makeMachine()
    expect(await piped(machine, shell, script)).toMatchObject({ code: 0, out: expect.stringContaining('installed release') })
    expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
  })

  it.each(PAGES)('a page of another program in its place does nothing: %s', async (_name, page) => {
    const machine = makeMachine()
    const { out } = await piped(machine, shell, Buffer.from(page))
    expect({ out, made: machine.made() }).toEqual({ out: '', made: [] })
  })
})

describe('a hostile environment', () => {
  it.each([
    ['IFS', { IFS: '/nodeab-' }],
    ['CDPATH', { CDPATH: '/tmp:/' }],
    ['GLOBIGNORE and options of bash', { SHELLOPTS: 'noglob', BASHOPTS: 'nullglob' }],
    ['POSIXLY_CORRECT', { POSIXLY_CORRECT: '1' }],
    ['a locale that is none', { LC_ALL: 'xx_XX.none', LANG: '$(touch ran)' }],
    ['variables of the script’s own names', { svc_status: '$(touch ran)', svc_node: '/bin/false', svc_frame: 'x' }],
    ['a function called printf', { 'BASH_FUNC_printf%%': '() { : >"$MACHINE/ran"; }' }],
    ['a token with a line end', { SVC_TOKEN: `${TOKEN}\n` }],
    ['PS4 and xtrace', { PS4: '$(: >"$MACHINE/ran")' }],
    ['settings of npm', { npm_config_ignore_scripts: 'false', npm_config_script_shell: '/bin/false' }],
    ['settings of git', { GIT_DIR: '/nowhere', GIT_CONFIG_COUNT: '1' }],
    ['settings of Python', { PYTHONSTARTUP: '/nowhere', PYTHONPATH: '/nowhere' }],
    ['a terminal that is none', { TERM: '\u001b[2J' }],
  ])('with %s installs, and runs nothing of it', async (_name, env) => {
    const machine = makeMachine()
    expect(await piped(machine, 'bash', script, env)).toMatchObject({ code: 0 })
    expect(ran(machine)).toEqual([])
  })

  it.each(['node', 'npm', 'sh', 'git', 'kill', 'printf', 'sleep'])(
    'with the current folder first on PATH runs no %s of a project',
    async (name) => {
      const machine = makeMachine()
      const planted = join(machine.root, 'work', name)
      writeFileSync(planted, '#!/bin/sh\n: >"${HOME%/*}/ran"\n')
      chmodSync(planted, 0o755)
      for (const PATH of [`.:${machine.env['PATH']}`, `:${machine.env['PATH']}`]) {
        const { code, err } = await piped(machine, 'dash', script, { PATH })
        expect(code === 0 || /^svc: [^\n]*\n$/.test(err)).toBe(true)
      }
      expect(ran(machine)).toEqual([])
    },
  )

  it.each([
    ['a function', 'node() { : >"$MACHINE/ran"; }'],
    ['an alias', "shopt -s expand_aliases; alias node=': >$MACHINE/ran; false'"],
  ])('with %s in the place of Node says so, and runs nothing of it', async (_name, line) => {
    const machine = makeMachine()
    writeFileSync(join(machine.root, 'rc'), `${line}\n`)
    const { code, err } = await piped(machine, 'bash', script, { BASH_ENV: join(machine.root, 'rc') })
    expect({ code, ran: ran(machine) }).toEqual({ code: expect.toBeOneOf([0, 1]), ran: [] })
    if (code === 1) expect(err).toMatch(/^svc: [^\n]*\n$/)
  })

  it('with a mask of nothing leaves nothing that others may write, and no secret that they may read', async () => {
    const machine = makeMachine()
    const line = `umask 0; exec dash -s -- "$1" "$2"`
    const input = script
    const words = ['sh', '-c', line, 'sh', machine.destination, machine.prefix]
    expect(await machine.run(words, { input, env: { SVC_TOKEN: TOKEN } })).toMatchObject({ code: 0 })
    const wide = machine
      .made()
      .filter((name) => !lstatSync(join(machine.root, name)).isSymbolicLink() && (statSync(join(machine.root, name)).mode & 0o022) !== 0)
    expect(wide).toEqual([])
    for (const name of holders(machine)) expect([name, statSync(join(machine.root, name)).mode & 0o077]).toEqual([name, 0])
  })
})

describe('the token', () => {
  it('lies in its own file and in the bound ones alone, all for their owner alone, and in none that git would take', async () => {
    const machine = makeMachine()
    await piped(machine, 'dash', script)
    await machine.command(['hello'], { env: { SVC_TOKEN: undefined } })
    await machine.command(['doctor'], { env: { SVC_TOKEN: undefined } })
    expect(holders(machine, TOKEN)).toEqual([])
    const found = holders(machine)
    expect(found.map((name) => name.replace(/installs\/[0-9a-f]{64}/, 'installs/ID'))).toEqual([
      'harness/pi-agent/models.json',
      'home/.svc/installs/ID/token',
    ])
    expect(readFileSync(join(machine.destination, '.gitignore'), 'utf8')).toContain('/pi-agent/models.json\n')
  })

  it('is in no argument and no variable of a program that an install or a session starts', async () => {
    const machine = makeMachine()
    const log = join(machine.root, 'seen')
    const npm = join(machine.root, 'tools/npm')
    writeFileSync(npm, readFileSync(npm, 'utf8').replace('set -eu\n', `set -eu\n{ env; echo "$0 $*"; } >>'${log}'\n`))
    expect(
      await piped(machine, 'dash', script, { OPENAI_API_KEY: 'sk-mine', NODE_OPTIONS: '--no-warnings', SVC_EXTRA: 'mine' }),
    ).toMatchObject({ code: 0 })
    const seen = readFileSync(log, 'utf8')
    for (const secret of [TOKEN, TOKEN_PREFIX, 'sk-mine', 'NODE_OPTIONS', 'SVC_']) expect(seen).not.toContain(secret)
    expect(seen).toMatch(/ ci --prefix \S+ --ignore-scripts /)
  })

  it.each([
    ['wrong and long', 'x'.repeat(5000)],
    ['with an escape', '\u001b[31mred'],
    ['with a quote', `a"b'c`],
  ])('that is %s is never repeated', async (_name, token) => {
    const machine = makeMachine()
    await piped(machine, 'dash', script)
    for (const args of [['update'], ['doctor'], ['hello']]) {
      const { out, err } = await machine.command(args, { env: { SVC_TOKEN: token } })
      expect(`${out}${err}`).not.toContain(token)
    }
  })
})

describe('a link in the way', () => {
  it.each(['.svc', '.svc/installs', '.local', '.local/bin', '.local/bin/svc-pi'])(
    'at ~/%s that leads to a folder of another is never written through to its files',
    async (path) => {
      const machine = makeMachine()
      const elsewhere = join(machine.root, 'elsewhere')
      writeFileSync(elsewhere, 'somebody’s own\n')
      mkdirSync(join(machine.home, path, '..'), { recursive: true })
      symlinkSync(elsewhere, join(machine.home, path))
      const { err } = await piped(machine, 'dash', script)
      expect(err).not.toContain('    at ')
      expect(readFileSync(elsewhere, 'utf8')).toBe('somebody’s own\n')
    },
  )

  it('in the folder for temporary files is not followed', async () => {
    const machine = makeMachine()
    const elsewhere = join(machine.root, 'elsewhere')
    mkdirSync(elsewhere)
    for (const name of ['svc-update-', 'svc-version-', 'svc-update', 'install.sh'])
      symlinkSync(elsewhere, join(machine.root, 'scratch', name))
    expect(await piped(machine, 'dash', script)).toMatchObject({ code: 0 })
    expect(readdirSync(elsewhere)).toEqual([])
  })
})

describe('two installs at once', () => {
  it('leave one whole tree, and the program once', async () => {
    const machine = makeMachine()
    const both = await Promise.all([piped(machine, 'dash', script), piped(machine, 'bash', script), piped(machine, 'mksh', script)])
    expect(both.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(machine.npmCalls()).toHaveLength(1)
    expect(await machine.command(['hello'])).toMatchObject({ code: 0 })
  })
})

/** Files that hold a token, that of the machine unless another one is named, by their names below the root. */
function holders(machine: Machine, token = readFileSync(join(machine.installFolder(), 'token'), 'utf8').trim()): readonly string[] {
  return filesHolding(machine, token)
}
