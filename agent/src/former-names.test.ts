/** Installs of an earlier version, which were in `~/.reef` and `reef-harness`: moved once, whole, and never over anything. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sessionsOf } from './captures.ts'
import { moveFormer } from './former-names.ts'
import { install } from './install.ts'
import { formerFolders, installFolder, stateFolders } from './places.ts'
import { readRecord } from './record.ts'
import { readReleaseFile } from './release-file.ts'
import type { Install } from './service.ts'
import { captureEarlier, installEarlier, type Earlier } from './testing/earlier.ts'
import { anInstallation, makeHome, textsBelow, transcript, type Home, type Transcript } from './testing/harness-home.ts'
import { uninstall } from './uninstall.ts'

const PROGRAM = '// the wrapper\n'

async function move(home: Home, terminal: Transcript = transcript()): Promise<Transcript> {
  await moveFormer({ home: home.path, terminal, program: PROGRAM, node: home.order(anInstallation()).node.path })
  return terminal
}

const commandOf = (home: Home): string => readlinkSync(join(home.path, '.local/bin/svc-agent'))

async function expectMoved(home: Home, { destination, renamed, folder }: Earlier): Promise<void> {
  const now = installFolder(home.path, renamed)
  expect([existsSync(destination), lstatSync(now).isDirectory()]).toEqual([false, true])
  expect(await readRecord(now)).toMatchObject({
    destination: renamed,
    prefix: join(stateFolders(home.path).programs, 'agent'),
    executable: join(stateFolders(home.path).programs, 'agent/node_modules/.bin/agent'),
  })
  expect(await readReleaseFile(renamed, home.path)).toMatchObject({ release_id: 'r1' })
  expect(readdirSync(renamed)).not.toContain('.reef-harness-release')
  expect(textsBelow(now)).toMatchObject({ 'wrapper.mjs': PROGRAM, token: 'secret-token\n', 'state/kept': 'kept by the agent\n' })
  expect(readFileSync(join(now, 'svc-agent'), 'utf8')).toContain(now)
  expect(commandOf(home)).toBe(join(now, 'svc-agent'))
  // Paths that a program or a person knows lead there still.
  expect(realpathSync(folder)).toBe(now)
  expect(realpathSync(formerFolders(home.path).programs)).toBe(stateFolders(home.path).programs)
}

test('everything is moved: harness, record, launcher, command, program, receipts; done twice it does nothing', async () => {
  const home = makeHome()
  const earlier = await installEarlier(home)
  const name = captureEarlier(home, earlier, ['a', 'b'])
  const { warned } = await move(home)
  expect(warned).toEqual([expect.stringContaining(`${formerFolders(home.path).installs} is ${stateFolders(home.path).installs} now`)])
  await expectMoved(home, earlier)
  const captures = stateFolders(home.path).captures
  expect(readdirSync(captures)).toEqual([name])
  const record = await readRecord(installFolder(home.path, earlier.renamed))
  expect(await sessionsOf(captures, record)).toMatchObject([{ receipts: ['a', 'b'], destination: earlier.renamed }])
  const before = textsBelow(home.path)
  expect((await move(home)).warned).toEqual([])
  expect(textsBelow(home.path)).toEqual(before)
})

test('an update, which names the former folders, finds the install in its new place', async () => {
  const home = makeHome()
  const earlier = await installEarlier(home)
  const order = home.order(anInstallation({ release_id: 'r2' }), [earlier.destination, earlier.prefix])
  expect(await install({ ...order, terminal: transcript() })).toBe(0)
  expect(await readRecord(installFolder(home.path, earlier.renamed))).toMatchObject({ release_id: 'r2', destination: earlier.renamed })
  expect(readdirSync(join(home.path, 'work'))).toEqual(['svc-harness'])
  expect(home.npmCalls()).toHaveLength(1)
})

test.each([
  ['a session that runs', ({ folder }: Earlier) => note(folder, process.ppid)],
  ['an install under way', ({ folder }: Earlier) => symlinkSync(`${process.ppid}-x`, join(folder, 'lock'))],
])('%s keeps everything where it is until it ends', async (_case, use) => {
  const home = makeHome()
  const earlier = await installEarlier(home)
  use(earlier)
  const before = textsBelow(home.path)
  await move(home)
  expect(textsBelow(home.path)).toEqual(before)
  expect(installFolder(home.path, earlier.destination)).toBe(earlier.folder)
  for (const name of ['lock', 'runs/00000000-0000-4000-8000-000000000001.json']) rmIfThere(join(earlier.folder, name))
  await move(home)
  await expectMoved(home, earlier)
})

test('a folder of a person’s own in the new place is left alone, and the harness stays in the former one', async () => {
  const home = makeHome()
  const earlier = await installEarlier(home)
  mkdirSync(earlier.renamed)
  writeFileSync(join(earlier.renamed, 'mine.txt'), 'mine\n')
  await move(home)
  expect(textsBelow(earlier.renamed)).toEqual({ 'mine.txt': 'mine\n' })
  expect(await readRecord(installFolder(home.path, earlier.destination))).toMatchObject({ destination: earlier.destination })
  expect(await readReleaseFile(earlier.destination, home.path)).toMatchObject({ release_id: 'r1' })
})

test('what no install made stays in the former folder, and the paths of installs lead on', async () => {
  const home = makeHome()
  const earlier = await installEarlier(home)
  const { installs, captures } = formerFolders(home.path)
  mkdirSync(join(installs, 'mine'))
  mkdirSync(captures)
  writeFileSync(join(captures, 'notes.txt'), 'mine\n')
  await move(home)
  await expectMoved(home, earlier)
  expect([readdirSync(installs).includes('mine'), readdirSync(captures)]).toEqual([true, ['notes.txt']])
})

test('an earlier version beside it writes through the link; what it made in a folder of its own is moved by the next command', async () => {
  const home = makeHome()
  await installEarlier(home, 'one')
  await move(home)
  const { installs } = formerFolders(home.path)
  writeFileSync(join(installs, 'through'), '')
  expect(readdirSync(stateFolders(home.path).installs)).toContain('through')
  const other = makeHome()
  const [first, second] = [await installEarlier(other, 'one'), 'two']
  await move(other)
  rmIfThere(formerFolders(other.path).installs)
  mkdirSync(join(formerFolders(other.path).installs, 'begun'), { recursive: true })
  writeFileSync(join(formerFolders(other.path).installs, 'begun', 'start.json'), JSON.stringify({ scenario: second }))
  await move(other)
  expect(readFileSync(join(stateFolders(other.path).installs, 'begun/start.json'), 'utf8')).toContain(second)
  expect(existsSync(installFolder(other.path, first.renamed))).toBe(true)
})

test('an uninstall takes the links away with the rest', async () => {
  const home = makeHome()
  const earlier = await installEarlier(home)
  await move(home)
  const folder = installFolder(home.path, earlier.renamed)
  const installed: Install = { folder, record: await readRecord(folder), env: home.env }
  expect(await uninstall(installed, ['--yes'], transcript())).toBe(0)
  expect([existsSync(earlier.renamed), lstatSync(join(home.path, '.reef'), { throwIfNoEntry: false })]).toEqual([false, undefined])
  expect(lstatSync(formerFolders(home.path).programs, { throwIfNoEntry: false })).toBeUndefined()
})

test('where no new folder can be made everything stays in the former place', async () => {
  const home = makeHome()
  const earlier = await installEarlier(home)
  writeFileSync(join(home.path, '.svc'), '')
  await expect(move(home)).rejects.toThrow('.svc')
  expect(installFolder(home.path, earlier.destination)).toBe(earlier.folder)
})

function note(folder: string, pid: number): void {
  writeFileSync(join(folder, 'runs', '00000000-0000-4000-8000-000000000001.json'), JSON.stringify({ pids: [pid], ours: [] }))
}

function rmIfThere(path: string): void {
  rmSync(path, { force: true })
}
