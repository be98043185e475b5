/** Folders of the deployment in every place where an episode might find them: below the system's, through links and mounts, beside its program. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/load.ts'
import { ownPaths } from '../../src/config/own-paths.ts'
import type { Episode } from '../../src/contract/index.ts'
import { describeSandboxed } from '../support/sandbox.ts'
import { until } from '../support/wait.ts'
import { sandboxWorld } from './sandbox-world.ts'

const at = sandboxWorld()
/** Only root writes below `/usr`, and only root mounts. */
const isRoot = process.getuid?.() === 0
const ANSWER = 'the-answer-of-a-held-out-task'
const PACKAGE = dirname(findPackageJSON(import.meta.url) ?? '')

interface Place {
  readonly title: string
  /** Where the episode looks. */
  readonly path: string
  /** Of the file in it. */
  readonly name?: string
}

const fileOf = ({ path, name = '/answer.txt' }: Place): string => `${path}${name}`

const made: string[] = []
const mounted: string[] = []

/** A folder with an answer in it. */
function planted(parent: string): string {
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'planted-'))
  made.push(folder)
  writeFileSync(join(folder, 'answer.txt'), ANSWER, { mode: 0o644 })
  return folder
}

function bound(from: string, parent: string): string {
  const folder = mkdtempSync(join(parent, 'planted-'))
  made.push(folder)
  execFileSync('mount', ['--bind', from, folder])
  mounted.push(folder)
  return folder
}

function placesOf(): { readonly hides: readonly string[]; readonly needs: readonly string[]; readonly places: readonly Place[] } {
  const below = ['/usr/share', '/usr/local/share', '/usr/lib', '/usr/local/lib', '/usr/bin', '/usr/include']
  const system = below.map((parent) => [parent, planted(parent)] as const)
  const beside = planted(tmpdir())
  const program = planted(tmpdir())
  const tasks = planted(join(program, 'data'))
  const link = join('/usr/share', `planted-link-${process.pid}`)
  symlinkSync(beside, link)
  made.push(link)
  const whole = bound(beside, '/usr/share')
  const inner = planted(join(beside, 'inner'))
  const part = bound(inner, '/usr/local/share')
  const twice = mkdtempSync('/usr/share/planted-')
  made.push(twice)
  linkSync(join(system[0]?.[1] ?? '', 'answer.txt'), join(twice, 'answer.txt'))
  const file = planted('/usr/local/share')
  for (const name of ['svc.yaml', '.env']) writeFileSync(join(file, name), ANSWER)
  const config = join('/usr/share', `planted-config-${process.pid}.yaml`)
  symlinkSync(join(file, 'svc.yaml'), config)
  made.push(config)
  const own = ownPaths(readConfig({ text: '', environment: {} }).config, { file: config, base: '/usr/share' })
  const fromHere = planted('/usr/share')
  const service = bound(PACKAGE, '/usr/share')
  const elsewhere = ['/usr/src', '/opt', '/srv', '/home', '/var/lib'].map((parent) => [parent, planted(parent)] as const)
  return {
    hides: [...system.map(([, folder]) => folder), beside, tasks, relative(process.cwd(), fromHere), ...own, '/usr/bin/env/nowhere'],
    needs: [program],
    places: [
      ...system.map(([parent, path]) => ({ title: `below ${parent}`, path })),
      ...elsewhere.map(([parent, path]) => ({ title: `below ${parent}, which no episode sees`, path })),
      { title: 'beside the episode', path: beside },
      { title: 'behind a link', path: link },
      { title: 'behind a mount of the whole', path: whole },
      { title: 'behind a mount of a part', path: part },
      { title: 'under another name of its file', path: twice },
      { title: 'in the folder of the program', path: tasks },
      { title: 'named from the working directory', path: fromHere },
      { title: 'around the real configuration file', path: file },
      { title: 'that is the configuration file, in a folder of the system', path: config, name: '' },
      { title: 'closed beside the real configuration file', path: file, name: '/.env' },
      { title: 'that is the service itself, with its tasks', path: service, name: '/package.json' },
    ],
  }
}

await describeSandboxed('what no episode sees', () => {
  if (!isRoot) return it.skip('needs root, who alone writes below /usr', () => undefined)
  const world = placesOf()
  let found: Record<string, boolean> = {}
  let episode: Episode | null = null

  beforeAll(async () => {
    const paths = world.places.map(fileOf)
    const script = `const fs = require("node:fs");
      const roots = ["", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../..", "/proc/1/cwd/.."];
      const found = {};
      for (const path of ${JSON.stringify(paths)}) found[path] = roots.some((root) => { try { return fs.readFileSync(root + path, "utf8") !== "" } catch { return false } });
      const read = (path) => { try { return fs.readFileSync(path, "utf8") } catch { return "" } };
      process.stdout.write(JSON.stringify({ found, known: ["/proc/self/mountinfo", "/proc/mounts", "/proc/self/mountstats", "/proc/self/maps", "/proc/1/mountinfo", "/proc/1/cmdline", "/proc/self/environ", "/proc/1/environ", "/proc/self/cgroup"].map(read).join("\\n"), listed: ["/usr/share", "/usr/local/share", "/usr/lib", "/usr/bin"].flatMap((folder) => fs.readdirSync(folder)), usual: fs.existsSync("/usr/bin/env") && fs.existsSync(${JSON.stringify(join(world.needs[0] ?? '', 'answer.txt'))}) }))`
    episode = await at.attempt(script, { play: { hides: world.hides, needs: world.needs } })
    found = JSON.parse(episode.stdout).found
  })
  afterAll(() => {
    // Others may look into it at this moment.
    for (const folder of mounted.toReversed()) execFileSync('umount', ['--lazy', folder])
    for (const path of made) rmSync(path, { recursive: true, force: true })
  })

  describe('a folder', () => {
    it.each(world.places)('$title', (place) => expect(found[fileOf(place)]).toBe(false))
  })

  it('is not named by mounts, maps, variables or lists of folders either', () => {
    const { known, listed } = JSON.parse(episode?.stdout ?? '{}')
    const hidden = world.hides.map((path) => basename(path)).filter((name) => name.startsWith('planted-'))
    expect(hidden.filter((name) => `${known}`.includes(name))).toEqual([])
    expect(hidden.filter((name) => listed.includes(name))).toEqual([])
  })

  it('is not seen either when it is made while an episode runs', async () => {
    const later = join('/usr/local/include', `planted-later-${process.pid}`)
    made.push(later)
    const script = `const fs = require("node:fs"); const { url, apiKey } = JSON.parse(fs.readFileSync("../model.json")); fetch(url + "/v1/chat/completions", { method: "POST", headers: { authorization: "Bearer " + apiKey }, body: "{}" }).then(() => setTimeout(() => process.stdout.write(String(fs.existsSync("${later}"))), 700))`
    const playing = at.attempt(script, { play: { hides: [later] } })
    await until(() => at.calls.length > 0)
    mkdirSync(later)
    expect((await playing).stdout).toBe('false')
  })

  it('leaves the rest: the programs of the system, and what the agent needs', () => {
    expect(JSON.parse(episode?.stdout ?? '{}').usual).toBe(true)
  })
})
