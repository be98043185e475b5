/** A registry that lies, asked by the real npm: from a person's machine and from the service, nothing but the locked bytes is installed. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, dirname, join } from 'node:path'
import { ensureVendor } from '@svc-ai/agent/vendor'
import { beforeAll, afterAll, describe, expect, it, vi } from 'vitest'
import { transcript } from '../../agent/src/testing/harness-home.ts'
import pi from '../../plugins/adapters/pi/index.ts'
import { openProgram } from '../../src/evolution/program.ts'
import { sharedFolder, temporaryFolder } from '../support/folder.ts'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { program } from '../support/programs.ts'

const SECRETS = {
  SVC_TOKEN: 'open-sesame',
  SVC_UPSTREAM_API_KEY: 'sk-ours',
  OPENAI_API_KEY: 'sk-mine',
  AWS_SECRET_ACCESS_KEY: 'aws-mine',
  GITHUB_TOKEN: 'forge-mine',
  NODE_OPTIONS: '--no-warnings',
} as const
const place = sharedFolder()

/** A package whose program writes down what it sees, and whose scripts would leave a mark. */
function packed(name: string, seen: string): Buffer {
  const folder = join(place, name, 'package')
  mkdirSync(folder, { recursive: true })
  const scripts = Object.fromEntries(['preinstall', 'install', 'postinstall', 'prepare'].map((each) => [each, `touch '${seen}-script'`]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'probe', version: '1.2.3', bin: { probe: 'probe.js' }, scripts }))
  const lines = [
    '#!/usr/bin/env node',
    `require('fs').appendFileSync('${seen}', JSON.stringify(process.env) + '\\n')`,
    `console.log('1.2.3')`,
  ]
  writeFileSync(join(folder, 'probe.js'), `${lines.join('\n')}\n`, { mode: 0o755 })
  execFileSync('tar', ['-czf', `../${name}.tgz`, 'package'], { cwd: join(place, name) })
  return readFileSync(join(place, `${name}.tgz`))
}

const [seen, evilSeen] = [join(place, 'seen'), join(place, 'evil-seen')]
const [good, evil] = [packed('good', seen), packed('evil', evilSeen)]
const integrityOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`
const lock = JSON.stringify({
  name: 'agent',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'agent', dependencies: { probe: '1.2.3' } },
    'node_modules/probe': { version: '1.2.3', integrity: integrityOf(good), hasInstallScript: true, bin: { probe: 'probe.js' } },
  },
})
const install = { manager: 'npm', package: 'probe', version: '1.2.3', binary_path: 'node_modules/.bin/probe', lock } as const

interface Answers {
  readonly bytes: Buffer
  readonly integrity: string
  readonly tarball: string
  readonly redirect?: string
}
let answers: Answers
let url = ''
const registry = createServer((request, response) => {
  const path = request.url ?? ''
  if (path.startsWith('/probe/-/') && answers.redirect !== undefined) response.writeHead(302, { location: answers.redirect }).end()
  else if (path.endsWith('.tgz')) response.end(answers.bytes)
  else {
    const dist = { tarball: answers.tarball, integrity: answers.integrity }
    const version = { name: 'probe', version: '1.2.3', bin: { probe: 'probe.js' }, dist }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name: 'probe', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version } }))
  }
})
const tarball = (): string => `${url}/probe/-/probe-1.2.3.tgz`

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(registry)}`
})
afterAll(() => closeServer(registry))

/** With a cache of its own, since npm takes what it has. */
function environment(home: string): Record<string, string> {
  const PATH = [dirname(process.execPath), dirname(program('npm')), '/usr/bin', '/bin'].join(delimiter)
  // It would ask again for minutes.
  writeFileSync(join(home, 'npmrc'), 'fetch-retries=0\nfetch-timeout=5000\n')
  const npm = { npm_config_registry: `${url}/`, npm_config_cache: join(home, 'cache'), npm_config_userconfig: join(home, 'npmrc') }
  return { HOME: home, PATH, ...npm, ...SECRETS }
}

const SIDES = {
  'a person’s machine': async (home: string): Promise<void> => {
    const installation = { binary: 'probe', install, client: { env: {}, env_defaults: {}, state: [], tools: [] } }
    await ensureVendor({
      installation,
      prefix: join(home, 'prefix'),
      env: environment(home),
      node: process.execPath,
      terminal: transcript(),
    })
  },
  'the service': async (home: string): Promise<void> => {
    for (const name of Object.keys(process.env)) if (!(name in environment(home))) vi.stubEnv(name, undefined)
    for (const [name, value] of Object.entries(environment(home))) vi.stubEnv(name, value)
    const adapter = { ...pi.plugin, name: 'probe', binary: 'probe', install }
    await openProgram({ adapter, binary: null, directory: join(home, 'prefix') }).finally(() => vi.unstubAllEnvs())
  },
} as const

const LIES: Readonly<Record<string, () => Answers>> = {
  'other bytes': () => ({ bytes: evil, integrity: integrityOf(good), tarball: tarball() }),
  'other bytes and their own integrity': () => ({ bytes: evil, integrity: integrityOf(evil), tarball: tarball() }),
  'half of the bytes': () => ({ bytes: good.subarray(0, good.length / 2), integrity: integrityOf(good), tarball: tarball() }),
  'a byte more': () => ({ bytes: Buffer.concat([good, Buffer.from([0])]), integrity: integrityOf(good), tarball: tarball() }),
  nothing: () => ({ bytes: Buffer.alloc(0), integrity: integrityOf(good), tarball: tarball() }),
  'an address elsewhere': () => ({ bytes: evil, integrity: integrityOf(good), tarball: `${url}/elsewhere/evil.tgz` }),
  'a redirect elsewhere': () => ({ bytes: evil, integrity: integrityOf(good), tarball: tarball(), redirect: `${url}/elsewhere/evil.tgz` }),
  'a file of the machine': () => ({ bytes: evil, integrity: integrityOf(evil), tarball: `file://${join(place, 'evil.tgz')}` }),
}

describe.each(Object.entries(SIDES))('asked from %s', (_side, ensure) => {
  it.each(Object.entries(LIES))('a registry that answers with %s installs nothing', async (_lie, lie) => {
    const home = temporaryFolder()
    answers = lie()
    await expect(ensure(home)).rejects.toThrow(/is not the one that its lock names|could not install/)
    const left = existsSync(join(home, 'prefix')) ? readdirSync(join(home, 'prefix'), { recursive: true, encoding: 'utf8' }) : []
    expect(left.filter((name) => name.includes('probe.js'))).toEqual([])
    expect([existsSync(evilSeen), existsSync(`${evilSeen}-script`), existsSync(`${seen}-script`)]).toEqual([false, false, false])
  })

  it('an honest one installs the locked bytes, runs no script of them, and their program sees none of our variables', async () => {
    const home = temporaryFolder()
    answers = { bytes: good, integrity: integrityOf(good), tarball: tarball() }
    await ensure(home)
    expect(existsSync(`${seen}-script`)).toBe(false)
    const text = readFileSync(seen, 'utf8')
    expect(text).toContain('"HOME"')
    for (const secret of [...Object.keys(SECRETS), ...Object.values(SECRETS), url]) expect(text).not.toContain(secret)
  })
})
