import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { LLAMA_PACKAGE, OPENID_PACKAGE, PG_PACKAGE, runtimeFolder, signInFolder, storeFolder } from '../contract/index.ts'
import { binaryFor, gpuBinariesFor } from './runtime-install.ts'
import { execute, fakeSurroundings, homeWith } from './testing/surroundings.ts'

const LOCK = readFileSync(new URL('../../plugins/runtimes/llama/package-lock.json', import.meta.url), 'utf8')
const PG_LOCK = readFileSync(new URL('../../plugins/stores/postgres/package-lock.json', import.meta.url), 'utf8')
const OPENID_LOCK = readFileSync(new URL('../sign-in/package-lock.json', import.meta.url), 'utf8')

/** An npm that installs a library of one function at once. */
const NPM = `#!${process.execPath}
const { mkdirSync, writeFileSync, appendFileSync, existsSync } = require('node:fs')
const words = process.argv.slice(2)
const isSaid = (name) => existsSync(process.env.HOME + '/' + name)
appendFileSync(process.env.HOME + '/seen', words.join(' ') + '\\n')
if (isSaid('NPM_FAILS')) { console.error('npm error code E404'); process.exit(1) }
const folder = words[words.indexOf('--prefix') + 1] + '/node_modules/node-llama-cpp'
mkdirSync(folder, { recursive: true })
writeFileSync(folder + '/package.json', JSON.stringify({ name: 'node-llama-cpp', type: 'module', exports: './index.js' }))
const gpu = isSaid('GPU_FAILS') ? 'if (gpu) throw new Error()' : ''
writeFileSync(folder + '/index.js', isSaid('BINARY_FAILS') ? 'throw new Error()' : 'export const getLlama = async ({ gpu }) => {' + gpu + '}')
for (const word of words.filter((word) => word.startsWith('@'))) mkdirSync(folder + '/../' + word.slice(0, word.lastIndexOf('@')), { recursive: true })
`

function machine(more: Readonly<Record<string, string>> = {}) {
  const environment = { ...homeWith('npm', NPM), ...more }
  const { HOME: home } = environment
  // It gets only the variables that it needs, so files tell it how to behave.
  for (const name of Object.keys(more)) writeFileSync(join(home, name), '')
  const run = (...args: readonly string[]) => execute(args, fakeSurroundings({}, environment))
  const runtimes = join(home, '.svc/runtimes')
  return { run, home, runtimes, folder: runtimeFolder('llama', environment), seen: () => readFileSync(join(home, 'seen'), 'utf8') }
}

describe('svc runtime', () => {
  it('adds the pinned library and the binary of this machine alone, and says how large it is', async () => {
    const { run, folder, runtimes, seen } = machine()
    expect(await run('runtime', 'list')).toMatchObject({ exit: 0, out: expect.stringContaining('not installed: svc runtime add llama') })
    expect(await run('runtime', 'add', 'llama')).toMatchObject({ exit: 0, out: expect.stringMatching(/llama installed: .*KiB\)/) })
    expect(seen()).toContain('--omit=optional --ignore-scripts')
    expect(seen()).toContain(`@node-llama-cpp/`)
    expect(readdirSync(runtimes)).toEqual([`llama-${LLAMA_PACKAGE.version}`])
    expect(readFileSync(join(folder, 'package-lock.json'), 'utf8')).toBe(LOCK)
    const listed: unknown = JSON.parse((await run('runtime', 'list', '--json')).out)
    expect(listed).toMatchObject([{ runtime: 'llama', version: LLAMA_PACKAGE.version, installed: true, folder }])
  })

  it('adds it once, and again with --force', async () => {
    const { run, seen, folder } = machine()
    await run('runtime', 'add', 'llama')
    expect(await run('runtime', 'add', 'llama')).toMatchObject({ exit: 0, out: expect.stringContaining('is installed') })
    expect(seen().trim().split('\n')).toHaveLength(1)
    expect((await run('runtime', 'add', 'llama', '--force')).exit).toBe(0)
    expect(seen().trim().split('\n')).toHaveLength(2)
    expect(readdirSync(folder)).not.toContain('replaced')
  })

  it('adds the binary for a graphics card when asked, also to what is there, and once', async () => {
    const { run, seen, folder } = machine()
    await run('runtime', 'add', 'llama')
    for (const _ of [1, 2]) expect((await run('runtime', 'add', 'llama', '--gpu', 'cuda')).exit).toBe(0)
    const [plain, card, ...more] = seen().trim().split('\n')
    expect(plain).not.toContain('cuda')
    expect(card).toContain(`-cuda@${LLAMA_PACKAGE.version}`)
    expect(more).toEqual([])
    expect(readdirSync(folder)).not.toContain('replaced')
    expect(await run('runtime', 'add', 'llama', '--gpu', 'abacus')).toMatchObject({ exit: 2 })
    expect(await run('store', 'add', 'postgres', '--gpu', 'cuda')).toMatchObject({ exit: 2 })
  })

  it('keeps what is there when the binary for a graphics card does not run', async () => {
    const { run, home, folder } = machine()
    await run('runtime', 'add', 'llama')
    writeFileSync(join(home, 'GPU_FAILS'), '')
    const failed = await run('runtime', 'add', 'llama', '--gpu', 'cuda')
    expect(failed).toMatchObject({ exit: 1, err: [expect.stringContaining('the binary for cuda does not run on this machine')] })
    expect(readdirSync(join(folder, 'node_modules/@node-llama-cpp')).filter((name) => name.endsWith('-cuda'))).toEqual([])
  })

  it('added twice at once is there once', async () => {
    const { run, runtimes } = machine()
    const both = await Promise.all([run('runtime', 'add', 'llama'), run('runtime', 'add', 'llama')])
    expect(both.map(({ exit }) => exit)).toEqual([0, 0])
    expect(readdirSync(runtimes)).toEqual([`llama-${LLAMA_PACKAGE.version}`])
  })

  it('removes what a killed installation left long ago, and nothing that may still be worked on', async () => {
    const { run, runtimes, folder } = machine()
    for (const name of ['old', 'new']) mkdirSync(`${folder}.making-${name}`, { recursive: true })
    utimesSync(`${folder}.making-old`, 1, 1)
    await run('runtime', 'add', 'llama')
    expect(readdirSync(runtimes).sort()).toEqual([`llama-${LLAMA_PACKAGE.version}`, `llama-${LLAMA_PACKAGE.version}.making-new`])
  })

  it.each([
    ['npm fails', { NPM_FAILS: '1' }, 'E404'],
    ['there is no npm', { PATH: '/nowhere' }, 'npm, which is not on PATH'],
    ['the binary does not run', { BINARY_FAILS: '1' }, 'does not run on this machine'],
  ])('leaves nothing behind when %s', async (_, environment, words) => {
    const { run, runtimes } = machine(environment)
    expect(await run('runtime', 'add', 'llama')).toMatchObject({ exit: 1, err: [expect.stringContaining(words)] })
    expect(readdirSync(runtimes)).toEqual([])
  })

  it('keeps what is there when it cannot be added anew', async () => {
    const home = temporaryFolder()
    const [good, bad] = [machine({ SVC_RUNTIMES_DIR: home }), machine({ SVC_RUNTIMES_DIR: home, NPM_FAILS: '1' })]
    await good.run('runtime', 'add', 'llama')
    expect((await bad.run('runtime', 'add', 'llama', '--force')).exit).toBe(1)
    expect((await good.run('runtime', 'list')).out).toContain(home)
    expect(readdirSync(home)).toEqual([`llama-${LLAMA_PACKAGE.version}`])
  })

  it('knows no other runtime', async () => {
    expect((await machine().run('runtime', 'add', 'sglang')).exit).toBe(2)
  })
})

describe('svc store', () => {
  it('adds what the postgres store runs on, from its lockfile and without install scripts', async () => {
    const { run, seen, home } = machine()
    const folder = storeFolder('postgres', { HOME: home })
    expect(await run('store', 'list')).toMatchObject({ exit: 0, out: expect.stringContaining('not installed: svc store add postgres') })
    expect(await run('store', 'add', 'postgres')).toMatchObject({ exit: 0, out: expect.stringMatching(/postgres installed: .*\)/) })
    expect(seen()).toContain('--omit=optional --ignore-scripts')
    expect(readFileSync(join(folder, 'package-lock.json'), 'utf8')).toBe(PG_LOCK)
    expect(JSON.parse(PG_LOCK)).toMatchObject({ packages: { '': { dependencies: { [PG_PACKAGE.name]: PG_PACKAGE.version } } } })
    expect(JSON.parse((await run('store', 'list', '--json')).out)).toMatchObject([
      { store: 'postgres', version: PG_PACKAGE.version, folder },
    ])
    expect((await run('store', 'add', 'sqlite')).exit).toBe(2)
  })
})

describe('svc sign-in', () => {
  it('adds what people sign in with, from its lockfile and without install scripts', async () => {
    const { run, seen, home } = machine()
    const folder = signInFolder({ HOME: home })
    expect(await run('sign-in', 'list')).toMatchObject({ exit: 0, out: expect.stringContaining('not installed: svc sign-in add openid') })
    expect(await run('sign-in', 'add', 'openid')).toMatchObject({ exit: 0, out: expect.stringMatching(/openid installed: .*\)/) })
    expect(seen()).toContain('--omit=optional --ignore-scripts')
    expect(readFileSync(join(folder, 'package-lock.json'), 'utf8')).toBe(OPENID_LOCK)
    expect(JSON.parse(OPENID_LOCK)).toMatchObject({ packages: { '': { dependencies: { [OPENID_PACKAGE.name]: OPENID_PACKAGE.version } } } })
  })
})

describe('the binary', () => {
  it.each([
    ['linux', 'x64', 'linux-x64'],
    ['linux', 'arm64', 'linux-arm64'],
    ['darwin', 'arm64', 'mac-arm64-metal'],
    ['darwin', 'x64', 'mac-x64'],
  ])('of %s on %s is one that the lock pins', (platform, architecture, name) => {
    expect(binaryFor(LOCK, platform, architecture)).toBe(`@node-llama-cpp/${name}@${LLAMA_PACKAGE.version}`)
  })

  it('for a graphics card is one that the lock pins, where there is one', () => {
    expect(gpuBinariesFor(LOCK, 'linux', 'x64', 'cuda')).toEqual([
      `@node-llama-cpp/linux-x64-cuda@${LLAMA_PACKAGE.version}`,
      `@node-llama-cpp/linux-x64-cuda-ext@${LLAMA_PACKAGE.version}`,
    ])
    expect(gpuBinariesFor(LOCK, 'win32', 'x64', 'vulkan')).toEqual([`@node-llama-cpp/win-x64-vulkan@${LLAMA_PACKAGE.version}`])
    expect(() => gpuBinariesFor(LOCK, 'darwin', 'arm64', 'cuda')).toThrow('no llama runtime with cuda for darwin')
  })

  it('of a machine without one is refused', () => {
    expect(() => binaryFor(LOCK, 'sunos', 'sparc')).toThrow('no llama runtime')
  })
})
