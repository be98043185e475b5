import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anInstallation, makeHome, transcript, type Home } from './testing/harness-home.ts'
import type { VendorInstall } from './installation.ts'
import { recordOf } from './record.ts'
import { ensureVendor } from './vendor.ts'

const npm = anInstallation().install
const git: VendorInstall = {
  manager: 'git',
  package: 'vendor/agent',
  version: '0.21.0',
  binary_path: 'venv/bin/agent',
  repository: 'https://example.invalid/agent.git',
  ref: 'v2026.8.31',
  commit: '1'.repeat(40),
}
const INTEGRITY = `sha512-${'A'.repeat(86)}==`
const lockOf = (changes: object = {}): string =>
  JSON.stringify({ lockfileVersion: 3, packages: { 'node_modules/@vendor/agent': { version: '1.2.3', integrity: INTEGRITY }, ...changes } })

describe('the agent’s program', () => {
  test('with a lock is installed by it, as npm does in a project; the record keeps the pin alone', async () => {
    const home = makeHome()
    const lock = lockOf()
    await ensure(home, { ...npm, lock })
    await ensure(home, { ...npm, lock })
    expect(home.npmCalls()).toEqual(['@vendor/agent@1.2.3'])
    const [build = ''] = readdirSync(join(home.prefix, '.svc-builds'))
    expect(readFileSync(join(home.prefix, '.svc-builds', build, 'package-lock.json'), 'utf8')).toBe(lock)
    await ensure(home, { ...npm, lock: `${lock}\n` })
    expect(home.npmCalls()).toHaveLength(2)
    const installation = anInstallation({ install: { ...npm, lock } })
    expect(recordOf(installation, home.destination, home.prefix).install).toEqual(npm)
  })

  test('gets nothing of a person’s environment but what it needs to run, nor do the scripts of its package', async () => {
    const home = makeHome()
    const seen = { postinstall: join(home.path, 'postinstall'), program: join(home.path, 'program') }
    const npmProgram = readFileSync(join(home.path, 'tools/npm'), 'utf8')
    writeFileSync(
      join(home.path, 'tools/npm'),
      `${npmProgram}env >'${seen.postinstall}'\nsed -i "2i env >'${seen.program}'" "$prefix/node_modules/.bin/agent"\n`,
    )
    const env = { ...home.env, ...SECRETS, LC_ALL: 'C', https_proxy: 'http://proxy:1', npm_config_registry: 'http://registry.invalid/' }
    await ensure({ ...home, env }, npm)
    expect(namesIn(seen.postinstall)).toEqual(['HOME', 'LC_ALL', 'PATH', 'https_proxy', 'npm_config_registry'])
    expect(namesIn(seen.program)).toEqual(['AGENT_DIR', 'HOME', 'LC_ALL', 'PATH', 'https_proxy'])
  })

  test('is installed once, and again when another version is pinned', async () => {
    const home = makeHome()
    await ensure(home, npm)
    await ensure(home, npm)
    await ensure(home, { ...npm, version: '1.2.4' })
    expect(home.npmCalls()).toEqual(['@vendor/agent@1.2.3', '@vendor/agent@1.2.4'])
    await ensure(home, { ...npm, version: '1.2.5' })
    // The one before stays for the sessions that run it.
    expect(readdirSync(join(home.prefix, '.svc-builds'))).toHaveLength(2)
  })

  test('that an earlier version installed is used, and goes once it was replaced twice', async () => {
    const home = makeHome()
    await ensure(home, npm)
    const [build = ''] = readdirSync(join(home.prefix, '.svc-builds'))
    renameSync(join(home.prefix, '.svc-builds'), join(home.prefix, '.reef-builds'))
    rmSync(join(home.prefix, 'node_modules'))
    symlinkSync(join('.reef-builds', build, 'node_modules'), join(home.prefix, 'node_modules'))
    await ensure(home, npm)
    expect(home.npmCalls()).toHaveLength(1)
    await ensure(home, { ...npm, version: '1.2.4' })
    expect(readdirSync(join(home.prefix, '.reef-builds'))).toEqual([build])
    await ensure(home, { ...npm, version: '1.2.5' })
    expect(readdirSync(join(home.prefix, '.reef-builds'))).toEqual([])
  })

  test.each([
    ['answers with a longer version', 'echo agent 1.2.30'],
    ['fails', 'exit 1'],
  ])('is installed again when it %s', async (_case, body) => {
    const home = makeHome()
    await ensure(home, npm)
    program(join(home.prefix, npm.binary_path), body)
    await ensure(home, npm)
    expect(home.npmCalls()).toHaveLength(2)
  })

  test('stays as it was when a newer one cannot be installed', async () => {
    const home = makeHome()
    await ensure(home, npm)
    writeFileSync(join(home.path, 'npm-fails'), '')
    const terminal = transcript()
    await expect(ensure(home, { ...npm, version: '2.0.0' }, terminal)).rejects.toThrow(/npm could not install agent 2\.0\.0/)
    expect(terminal.warned.join('\n')).toContain('network unreachable')
    expect(readFileSync(join(home.prefix, 'node_modules/@vendor/agent/package.json'), 'utf8')).toContain('1.2.3')
    await ensure(home, npm)
    expect(home.npmCalls()).toHaveLength(2)
  })

  test('asked for twice at once is installed once', async () => {
    const home = makeHome()
    await Promise.all([ensure(home, npm), ensure(home, npm), ensure(home, npm)])
    expect(home.npmCalls()).toHaveLength(1)
  })

  test('is not installed over packages that somebody else put there', async () => {
    const home = makeHome()
    mkdirSync(join(home.prefix, 'node_modules/mine'), { recursive: true })
    await expect(ensure(home, npm)).rejects.toThrow(/was not made by an install/)
    expect([home.npmCalls(), existsSync(join(home.prefix, 'node_modules/mine'))]).toEqual([[], true])
  })

  test('out of a repository is made again when another commit is pinned, though its version is the same', async () => {
    const home = withGit()
    await ensure(home, git)
    await ensure(home, git)
    expect(readFileSync(join(home.prefix, 'venv/.svc-install-pin'), 'utf8')).toBe(`https://example.invalid/agent.git@${git.commit}\n`)
    // An earlier version called the file otherwise.
    renameSync(join(home.prefix, 'venv/.svc-install-pin'), join(home.prefix, 'venv/.reef-install-pin'))
    await ensure(home, git)
    await ensure(home, { ...git, commit: '2'.repeat(40) })
    const fetches = readFileSync(join(home.path, 'git.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(' fetch '))
    expect(fetches).toEqual([
      expect.stringContaining(`--depth 1 -- https://example.invalid/agent.git ${'1'.repeat(40)}`),
      expect.stringContaining(`-- https://example.invalid/agent.git ${'2'.repeat(40)}`),
    ])
  })

  test('out of a repository that gives another commit is not installed, and python is never asked', async () => {
    const home = withGit(`echo ${'3'.repeat(40)}`)
    await expect(ensure(home, git)).rejects.toThrow(/gave commit 3{40} for 1{40}, so agent 0\.21\.0 was not installed/)
    expect([existsSync(join(home.prefix, 'venv')), readdirSync(join(home.prefix, '.svc-builds'))]).toEqual([false, []])
  })

  test.each([
    ['no commit', undefined],
    ['a tag', 'v2026.8.31'],
    ['a short id', '1111111'],
    ['an option', '--upload-pack=touch ran'],
  ])('out of a repository with %s as its commit is refused before git is asked', async (_case, commit) => {
    const home = withGit()
    const { commit: _, ...tagged } = git
    await expect(ensure(home, commit === undefined ? tagged : { ...git, commit })).rejects.toThrow(/names no commit/)
    expect(existsSync(join(home.path, 'git.log'))).toBe(false)
  })
})

describe('a lock', () => {
  test.each([
    ['is no JSON', 'lock'],
    ['has no packages', '{"lockfileVersion": 3}'],
    ['locks another version', lockOf({ 'node_modules/@vendor/agent': { version: '1.2.4', integrity: INTEGRITY } })],
    ['locks a package without integrity', lockOf({ 'node_modules/b': { version: '1.0.0' } })],
    ['locks a package by sha1', lockOf({ 'node_modules/b': { version: '1.0.0', integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' } })],
    ['locks a package by either of two hashes', lockOf({ 'node_modules/b': { version: '1.0.0', integrity: `${INTEGRITY} sha1-AAAA` } })],
    ['locks a package from an address', lockOf({ 'node_modules/b': { integrity: INTEGRITY, resolved: 'http://127.0.0.1/b.tgz' } })],
    ['locks a package out of git', lockOf({ 'node_modules/b': { integrity: INTEGRITY, resolved: 'git+ssh://git@host/b.git#1' } })],
    ['locks a link', lockOf({ 'node_modules/b': { link: true, resolved: '../b' } })],
    ['locks a place outside', lockOf({ 'node_modules/../../b': { integrity: INTEGRITY } })],
    ['locks a folder of the project', lockOf({ b: { integrity: INTEGRITY } })],
    ['says that a package at the top is in another’s archive', lockOf({ 'node_modules/b': { version: '1.0.0', inBundle: true } })],
  ])('that %s is refused in one line before npm is asked', async (_case, lock) => {
    const home = makeHome()
    await expect(ensure(home, { ...npm, lock })).rejects.toThrow(/^the lock of agent 1\.2\.3 cannot be installed by: [^\n]*$/)
    expect(home.npmCalls()).toEqual([])
  })

  test('may hold a package in the archive of another', async () => {
    const home = makeHome()
    await ensure(home, { ...npm, lock: lockOf({ 'node_modules/@vendor/agent/node_modules/b': { version: '1.0.0', inBundle: true } }) })
    expect(home.npmCalls()).toHaveLength(1)
  })
})

describe('a program for this machine', () => {
  const native = ['agent-{os}-{cpu}/agent', 'agent-{os}-{cpu}-plain/agent']

  test('is linked in the place of the stub, the first one that answers', async () => {
    const home = withPackages(['exit 132', 'echo agent 1.2.3'])
    await ensure(home, { ...npm, native })
    expect(readlinkSync(join(home.prefix, npm.binary_path))).toBe(`../agent-${process.platform}-${process.arch}-plain/agent`)
  })

  test('that is not there, or does not start, stops the install in one line', async () => {
    for (const bodies of [[], ['exit 1', 'exit 1']])
      await expect(ensure(withPackages(bodies), { ...npm, native })).rejects.toThrow(
        /^agent 1\.2\.3 has no program for \S+ on \S+ in its lock; /,
      )
  })
})

/** An npm that also makes packages for this machine, each with a program. */
function withPackages(bodies: readonly string[]): Home {
  const home = makeHome()
  const lines = bodies.map((body, index) => {
    const folder = `"$prefix/node_modules/agent-${process.platform}-${process.arch}${index === 0 ? '' : '-plain'}"`
    return `mkdir -p ${folder}; printf '#!/bin/sh\\n${body}\\n' >${folder}/agent; chmod +x ${folder}/agent`
  })
  appendFileSync(join(home.path, 'tools/npm'), `${lines.join('\n')}\n`)
  return home
}

/** A git that logs what it is asked, and a python that makes an environment with the program. */
function withGit(says = 'echo "$fetched"'): Home {
  const home = makeHome()
  program(
    join(home.path, 'tools/git'),
    `echo "$*" >>'${join(home.path, 'git.log')}'; for last; do :; done
case " $* " in *' init '*) mkdir -p "$last/.git" ;; *' fetch '*) echo "$last" >"$2/.git/head" ;; *rev-parse*) fetched=$(cat "$2/.git/head"); ${says} ;; esac`,
  )
  // The environment's own python is what pip runs on, so making one makes both programs.
  program(
    join(home.path, 'tools/python3'),
    `mkdir -p "$3/bin"; printf '#!/bin/sh\\nexit 0\\n' >"$3/bin/python"; printf '#!/bin/sh\\necho Agent v0.21.0 here\\n' >"$3/bin/agent"; chmod +x "$3"/bin/*`,
  )
  return home
}

const SECRETS = {
  SVC_TOKEN: 'secret',
  SVC_UPSTREAM_API_KEY: 'secret',
  OPENAI_API_KEY: 'secret',
  AWS_SECRET_ACCESS_KEY: 'secret',
  'npm_config_//registry.invalid/:_authToken': 'secret',
  GIT_DIR: '/elsewhere',
  NODE_OPTIONS: '--no-warnings',
}

/** Less what a shell adds by itself. */
const namesIn = (path: string): readonly string[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(0, line.indexOf('=')))
    .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))
    .toSorted()

const ensure = (home: Home, install: VendorInstall, terminal = transcript()): Promise<void> =>
  ensureVendor({
    installation: anInstallation({ install }),
    prefix: home.prefix,
    env: home.env,
    node: join(home.path, 'tools/node'),
    terminal,
  })

function program(path: string, body: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
}
