/** `update`: the served release, or the one that is named, in place of what is installed. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect, type Svc } from '../api.ts'
import { INSTALL_ROUTE, TOKEN_VARIABLE } from '../names.ts'
import { understand } from '../options.ts'
import { Stop } from './failure.ts'
import { itemLine } from './install-gate.ts'
import { commandOf } from './places.ts'
import { runProgram, withNode } from './programs.ts'
import { readReleaseFile, unmet } from './release-file.ts'
import { changedFiles } from './run-folder.ts'
import type { Install } from './service.ts'
import { visible, type Terminal } from './terminal.ts'
import { tokenOf } from './token.ts'

const UNMET = 3
/** The service may be making the script, and it is not small. */
const SCRIPT_SECONDS_MAX = 300

/** 0 when it is installed, 3 when something must be set up first, 1 when it failed. */
export async function update(install: Install, argv: readonly string[], terminal: Terminal): Promise<number> {
  const { folder, record, env } = install
  const { values } = understand(() => parseArgs({ args: [...argv], options: { release: { type: 'string' } } }))
  // Not through a session's proxy: the script is written for the address at which it is asked for.
  const token = await tokenOf(folder, env)
  const service = connect({ url: record.url, scenario: record.scenario, token, timeoutSeconds: SCRIPT_SECONDS_MAX })
  const { release_id, requires } = await service.manifest(values.release)
  const installed = await readReleaseFile(record.destination)
  const open = unmet(requires, installed?.setup ?? [])
  if (open.length > 0) return tellUnmet(record.adapter, release_id, open.map(itemLine), terminal)
  const isInstalled = installed?.release_id === release_id && record.release_id === release_id
  if (isInstalled && (await changedFiles(record)).length === 0) {
    terminal.print(`release ${visible(release_id)} is already current`)
    return 0
  }
  return runScript(install, await scriptOf(service, record.adapter, release_id), token)
}

function tellUnmet(adapter: string, release: string, items: readonly string[], terminal: Terminal): number {
  terminal.warn(`release ${visible(release)} needs to be set up first:`)
  for (const item of items) terminal.warn(`  ${item}`)
  terminal.warn(`run: ${commandOf(adapter)} setup --release ${visible(release)}`)
  return UNMET
}

const scriptOf = (service: Svc, adapter: string, release: string): Promise<string> =>
  service.text(INSTALL_ROUTE, { adapter, release_id: release })

/** A shell reads the script to its end before any of it is run: one that ended early is no script. */
async function runScript({ record, env }: Install, script: string, token: string | null): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-update-'))
  try {
    const file = join(folder, 'install.sh')
    await writeFile(file, script, { mode: 0o600 })
    // On the Node that runs this, since the one on PATH may be another; everything else as the person has it.
    await symlink(process.execPath, join(folder, 'node'))
    const own = { ...withNode(env, join(folder, 'node')), ...(token !== null && { [TOKEN_VARIABLE]: token }) }
    const { code } = await runProgram('sh', ['-n', file], { env: own })
    if (code !== 0 || script.trim() === '')
      throw new Stop('the install script of the service did not arrive whole; run the same command again')
    return await passedOn('sh', [file, record.destination, record.prefix], own)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** With this terminal, and with 1 for whatever is not success. */
function passedOn(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code === 0 ? 0 : 1))
  })
}
