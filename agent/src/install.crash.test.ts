import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { RELEASE_FILE } from '@svc-ai/client/shared'
import { anInstallation, makeHome, SERVICE_URL, textsBelow, type Home } from './testing/harness-home.ts'
import { captureEarlier, installEarlier } from './testing/earlier.ts'
import type { Installation } from './installation.ts'
import type { InstallOrder } from './install.ts'
import { formerFolders, installFolder, isRealFolder, stateFolders } from './places.ts'
import { readRecord } from './record.ts'

const DYING = fileURLToPath(new URL('./testing/dying.mjs', import.meta.url))

const one = anInstallation()
const two = anInstallation({
  release_id: 'r2',
  files: { 'AGENTS.md': 'two\n', 'models.json': '{}\n', 'two/two.md': '2\n' },
  install: { ...one.install, version: '2.0.0' },
})
const three = anInstallation({ release_id: 'r3', files: { 'AGENTS.md': 'three\n', 'models.json': '{}\n' } })

test('killed before any change it makes, an install is completed by the next, of whichever release', { timeout: 300_000 }, async () => {
  const home = makeHome()
  const bundle = await bundled(home)
  for (let nth = 1; ; nth += 1) {
    await must(home, bundle, one)
    const { signal } = await attempt(home, bundle, two, 'kill', nth)
    const next = nth % 2 === 0 ? two : three
    await must(home, bundle, next)
    await expectWhole(home, next, `after a kill before change ${nth}`)
    if (signal === null) return expect(nth).toBeGreaterThan(20)
  }
})

test('a disk that is full at any moment is one line, and the same command completes the install later', { timeout: 300_000 }, async () => {
  const home = makeHome()
  const bundle = await bundled(home)
  const said = new Set<string>()
  await must(home, bundle, one)
  // Every third moment: each stage has several, and the run is not short.
  for (let nth = 1; nth < 60; nth += 3) {
    const { code, stderr } = await attempt(home, bundle, nth % 2 === 0 ? two : one, 'full', nth)
    if (code !== 0) said.add(stderr.replaceAll(/^installing .*\n/gm, '').replaceAll(home.path, ''))
    await must(home, bundle, two)
    await expectWhole(home, two, `after a full disk at change ${nth}`)
  }
  expect(said.size).toBeGreaterThan(5)
  for (const line of said) expect(line).toMatch(/^svc: there is no room left to write .*; free some and run the same command again\n$/)
})

test(
  'killed before any change of moving an earlier version’s folders, the next install completes the move',
  { timeout: 300_000 },
  async () => {
    for (let nth = 1; ; nth += 1) {
      const home = makeHome()
      const bundle = await bundled(home)
      const earlier = await installEarlier(home)
      const name = captureEarlier(home, earlier, ['a'])
      const place = { ...home, destination: earlier.destination, prefix: earlier.prefix }
      const order = (): Omit<InstallOrder, 'terminal'> => home.order(one, [earlier.destination, earlier.prefix])
      const { signal } = await attempt({ ...place, order }, bundle, one, 'kill', nth)
      const isThrough = !isRealFolder(formerFolders(home.path).installs) && !isRealFolder(formerFolders(home.path).captures)
      await must({ ...place, order }, bundle, one)
      const folder = installFolder(home.path, earlier.renamed)
      expect(await readRecord(folder), `after a kill before change ${nth}`).toMatchObject({ destination: earlier.renamed })
      expect(readFileSync(join(folder, 'state/kept'), 'utf8')).toBe('kept by the agent\n')
      expect(readlinkSync(join(home.path, '.local/bin/svc-agent'))).toBe(join(folder, 'svc-agent'))
      expect(readdirSync(stateFolders(home.path).captures)).toEqual([name])
      expect(readdirSync(join(home.path, 'work'))).toEqual(['svc-harness'])
      expect(home.npmCalls()).toHaveLength(1)
      if (signal === null || isThrough) return expect(nth).toBeGreaterThan(10)
    }
  },
)

/** As it is delivered: one file for the oldest Node. */
async function bundled(home: Home): Promise<string> {
  const file = join(home.path, 'bundle.mjs')
  const build = await rolldown({
    input: fileURLToPath(new URL('install.ts', import.meta.url)),
    platform: 'node',
    transform: { target: 'node20' },
  })
  await build.write({ file, format: 'esm' })
  return file
}

async function must(home: Home, bundle: string, installation: Installation): Promise<void> {
  expect(await attempt(home, bundle, installation, 'kill', 0)).toMatchObject({ code: 0, signal: null })
}

interface Ending {
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
}

function attempt(home: Home, bundle: string, installation: Installation, trouble: 'kill' | 'full', nth: number): Promise<Ending> {
  const order = join(home.path, 'order.json')
  writeFileSync(order, JSON.stringify(home.order(installation)))
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [DYING, bundle, trouble, String(nth), order], { env: home.env }, (_error, _stdout, stderr) =>
      resolve({ code: child.exitCode, signal: child.signalCode, stderr }),
    )
  })
}

async function expectWhole(home: Home, installation: Installation, when: string): Promise<void> {
  const {
    [RELEASE_FILE]: release = '{}',
    '.gitignore': _ignored,
    '.env': env,
    'models.json': models,
    ...texts
  } = textsBelow(home.destination)
  const { 'models.json': _, ...files } = installation.files
  expect(texts, when).toEqual(files)
  expect([env, models], when).toEqual(['KEY="secret-token"\n', `{"url":"${SERVICE_URL}/v1","key":"secret-token"}\n`])
  const { release_id } = JSON.parse(release)
  expect([release_id, (await readRecord(installFolder(home.path, home.destination))).release_id], when).toEqual([
    installation.release_id,
    installation.release_id,
  ])
  const unfinished = [...readdirSync(home.destination), ...readdirSync(installFolder(home.path, home.destination))]
  expect(
    unfinished.filter((name) => name.startsWith('.') && ![RELEASE_FILE, '.gitignore', '.env'].includes(name)),
    when,
  ).toEqual([])
  const vendor = readFileSync(join(home.prefix, 'node_modules/@vendor/agent/package.json'), 'utf8')
  expect(vendor, when).toContain(installation.install.version)
}
