/** `update`: the served release, or the one that is named, in place of what is installed. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { connect, type Svc, INSTALL_ROUTE, KEY_VARIABLE, ServiceFailure, TOKEN_VARIABLE, readOptions } from '@svc-ai/client/shared'
import { checkScript } from '@svc-ai/client/signing'
import { Stop } from './failure.ts'
import { heldLinesOf, NOT_SHOWN } from './held.ts'
import { itemLine } from './install-gate.ts'
import { commandOf, homeOf } from './places.ts'
import { readReleaseFile, unmet } from './release-file.ts'
import { changedFiles } from './run-folder.ts'
import { runScript, SCRIPT_SECONDS_MAX } from './script.ts'
import type { Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { tokenOf } from './token.ts'
import { RELEASE_VARIABLE, trustedManifest } from './trust.ts'

const UNMET = 3

/** 0 when it is installed, 3 when something must be set up first, 1 when it failed. */
export async function update(install: Install, argv: readonly string[], terminal: Terminal): Promise<number> {
  const { folder, record, env } = install
  const values = readOptions(argv, { release: { type: 'string' }, provisional: { type: 'boolean', default: false } })
  // Not through a session's proxy: the script is written for the address at which it is asked for.
  const token = await tokenOf(folder, env)
  const service = connect({
    url: record.url,
    scenario: record.scenario,
    token,
    timeoutSeconds: SCRIPT_SECONDS_MAX,
    provisional: values.provisional,
  })
  const { manifest, step, trust } = await trustedManifest(install, service, values, terminal).catch((error: unknown) => {
    if (values.release !== undefined && error instanceof ServiceFailure && error.code === 'unknown_release') throw new Stop(NOT_SHOWN)
    throw error
  })
  const { release_id, requires } = manifest
  const isUnproven = manifest.provisional === true
  if (values.provisional && !isUnproven) terminal.warn('there is no provisional release now; this is the one that is served')
  const installed = await readReleaseFile(record.destination, homeOf(env))
  const open = unmet(requires, installed?.setup ?? [])
  if (open.length > 0) return tellUnmet(record.adapter, release_id, open.map(itemLine), terminal)
  const isInstalled = installed?.release_id === release_id && record.release_id === release_id
  if (isInstalled && (await changedFiles(record)).length === 0) {
    terminal.print(`release ${showHiddenLine(release_id)} is already current`)
    return 0
  }
  if (isUnproven) terminal.warn(`release ${showHiddenLine(release_id)} is provisional: it looked better after one round and is not proved`)
  else if (values.release !== undefined) for (const line of await heldLinesOf(service, release_id)) terminal.warn(line)
  const script = await scriptOf(service, record.adapter, release_id)
  const signed = checkScript(trust.key, script)
  const { scenario, adapter } = record
  const isWanted = signed.scenario === scenario && signed.adapter === adapter && signed.release_id === release_id && signed.step === step
  if (!isWanted) throw new Stop('the install script is for something else than what was asked for; nothing of it was run. Try again')
  const given = {
    ...(token !== null && { [TOKEN_VARIABLE]: token }),
    [RELEASE_VARIABLE]: isUnproven ? release_id : values.release,
    [KEY_VARIABLE]: undefined,
  }
  return runScript(script, [record.destination, record.prefix], { ...env, ...given })
}

function tellUnmet(adapter: string, release: string, items: readonly string[], terminal: Terminal): number {
  terminal.warn(`release ${showHiddenLine(release)} needs to be set up first:`)
  for (const item of items) terminal.warn(`  ${item}`)
  terminal.warn(`run: ${commandOf(adapter)} setup --release ${showHiddenLine(release)}`)
  return UNMET
}

const scriptOf = (service: Svc, adapter: string, release: string): Promise<string> =>
  service.text(INSTALL_ROUTE, { adapter, release_id: release })
