/** `npm start` in a checkout where nothing is installed, on machines that lack something. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../test/support/folder.ts'
import { registryProblem } from './registry.mjs'

const ROOT = join(import.meta.dirname, '..')
const PINNED = `node_modules/node-${process.platform}-${process.arch}`
const OLD_NODE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.1.0' } })`
/** Says which Node would run it, and puts one where it is asked to install one. */
const NPM = `#!/bin/sh
echo "$1 $(command -v node)" >> "$SEEN"
[ "$1" != install ] || { mkdir -p "$3/${PINNED}/bin" && ln -s "$NODE" "$3/${PINNED}/bin/node"; }
`

interface Machine {
  /** Without it, npm is the machine's own. */
  readonly npm?: string
  readonly isOld?: boolean
  readonly lock?: object
  readonly env?: Readonly<Record<string, string>>
}

async function start({ npm, isOld = false, lock, env = {} }: Machine) {
  const folder = temporaryFolder()
  const [checkout, tools, seen] = [join(folder, 'a checkout'), join(folder, 'tools'), join(folder, 'seen')]
  for (const name of ['scripts', 'client/bin', 'package.json', 'package-lock.json'])
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true })
  if (lock !== undefined) writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify(lock))
  mkdirSync(tools)
  if (npm !== undefined) writeFileSync(join(tools, 'npm'), npm)
  if (npm !== undefined) chmodSync(join(tools, 'npm'), 0o755)
  writeFileSync(join(folder, 'old.cjs'), isOld ? OLD_NODE : '')
  const child = spawn(process.execPath, ['-r', join(folder, 'old.cjs'), 'scripts/start.mjs'], {
    cwd: checkout,
    env: { PATH: [tools, process.env['PATH']].join(delimiter), HOME: folder, SEEN: seen, NODE: process.execPath, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  const asked = existsSync(seen) ? readFileSync(seen, 'utf8').trimEnd().split('\n') : []
  return { code, lines: err.trimEnd().split('\n'), asked }
}

describe('npm start', () => {
  it('says in one line that there is no network, and ends with 2', async () => {
    const { code, lines } = await start({ env: { npm_config_registry: 'http://127.0.0.1:1/' } })
    expect(lines.filter((line) => !line.endsWith('…'))).toEqual([
      expect.stringMatching(
        /^the package registry cannot be reached \(ECONNREFUSED\), .*; see to the network and run the same command again$/,
      ),
    ])
    expect(code).toBe(2)
  })

  it.skipIf(process.platform !== 'linux')('has npm run on the pinned Node where this one is older', async () => {
    const { asked } = await start({ npm: NPM, isOld: true })
    expect(asked.map((line) => line.split(' ', 1)[0])).toEqual(['ping', 'install', 'ci'])
    expect(asked[2]).toContain(`.dist-node-`)
    expect(asked[2]).toContain(PINNED)
  })

  it('says which Node is needed before anything is installed, where none is pinned', async () => {
    const { code, lines, asked } = await start({ npm: NPM, isOld: true, lock: { packages: {} } })
    expect({ code, lines, asked }).toEqual({
      code: 2,
      lines: ['Node 18.1.0 is too old and none is pinned for this platform; install Node 22.19 or newer'],
      asked: [],
    })
  })
})

/** The program stands for npm. */
const ask = (program: string, waits: string[] = [], patience = 60_000) =>
  registryProblem({ program: 'sh', before: ['-c', program], shell: false }, process.env, () => waits.push('waits'), patience)

describe('the package registry', () => {
  it('is there when it answers, whatever it answers', async () => {
    expect(await ask('exit 0')).toBeNull()
    expect(await ask('echo "npm error code E404" >&2; exit 1')).toBeNull()
  })

  it('is not there when npm says why', async () => {
    expect(await ask('echo "npm ERR! code ENOTFOUND" >&2; exit 1')).toBe('ENOTFOUND')
  })

  it('is waited for, with a word about it, and not for ever', async () => {
    const waits: string[] = []
    expect(await ask('exec sleep 60', waits, 100)).toBe('no answer within 0.1 s')
    expect(waits).toEqual(['waits'])
  })
})
