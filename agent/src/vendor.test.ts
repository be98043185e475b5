import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
}

describe('the agent’s program', () => {
  test('with a lock is installed by it, as npm does in a project; the record keeps the pin alone', async () => {
    const home = makeHome()
    const lock = '{"lockfileVersion": 3}'
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

  test('out of a repository is made again when another ref is pinned, though its version is the same', async () => {
    const home = makeHome()
    const log = join(home.path, 'git.log')
    program(join(home.path, 'tools/git'), `echo "$*" >>'${log}'; for last; do :; done; mkdir -p "$last/.git"`)
    // The environment's own python is what pip runs on, so making one makes both programs.
    program(
      join(home.path, 'tools/python3'),
      `mkdir -p "$3/bin"; printf '#!/bin/sh\\nexit 0\\n' >"$3/bin/python"; printf '#!/bin/sh\\necho Agent v0.21.0 here\\n' >"$3/bin/agent"; chmod +x "$3"/bin/*`,
    )
    await ensure(home, git)
    await ensure(home, git)
    expect(readFileSync(join(home.prefix, 'venv/.svc-install-pin'), 'utf8')).toBe('https://example.invalid/agent.git@v2026.8.31\n')
    // An earlier version called the file otherwise.
    renameSync(join(home.prefix, 'venv/.svc-install-pin'), join(home.prefix, 'venv/.reef-install-pin'))
    await ensure(home, git)
    await ensure(home, { ...git, ref: 'v2026.9.1' })
    expect(readFileSync(log, 'utf8').trimEnd().split('\n')).toEqual([
      expect.stringContaining('--depth 1 --branch=v2026.8.31 -- https://example.invalid/agent.git'),
      expect.stringContaining('--branch=v2026.9.1'),
    ])
  })
})

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
