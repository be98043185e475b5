/** What keeps an install from beginning: a Node that the agent cannot run on, or items that are not set up. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { quoted, type Requires } from '@svc-ai/client/shared'
import { keyIn, safeInstallLine } from '@svc-ai/client/signing'
import { Stop } from './failure.ts'
import type { InstallStart, SignedInstallation } from './installation.ts'
import { commandOf } from './places.ts'
import type { Terminal } from './terminal.ts'
import { tokenIn } from './token.ts'

export function requireNode(
  { binary, install: { version, node_least } }: Pick<InstallStart, 'binary' | 'install'>,
  nodeVersion: string,
): void {
  if (node_least === undefined || isAtLeast(nodeVersion, node_least)) return
  throw new Stop(
    `${binary} ${version} needs Node ${node_least} or newer and this is ${nodeVersion}; install a newer Node and run the same command again`,
  )
}

function isAtLeast(version: string, least: string): boolean {
  const [have, want] = [version, least].map((each) => each.split('.').map(Number))
  const differing = (want ?? []).findIndex((number, index) => number !== (have?.[index] ?? 0))
  return differing === -1 || (have?.[differing] ?? 0) > (want?.[differing] ?? 0)
}

/** The list of what is missing, and the way to go on. */
export function tellUnmet(
  installation: SignedInstallation,
  missing: readonly Requires[],
  { args, env, isInstalled }: { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv; readonly isInstalled: boolean },
  terminal: Terminal,
): void {
  const { adapter, release_id, fallback_release_id } = installation
  const command = commandOf(adapter)
  terminal.warn(`svc: release ${release_id} needs to be set up first. Nothing was installed. Not checked off yet:`)
  for (const item of missing) terminal.warn(`  ${itemLine(item)}`)
  const steps = [`${command} setup --release ${quoted(release_id)}`, `${command} update --release ${quoted(release_id)}`]
  if (!isInstalled && fallback_release_id === null)
    return terminal.warn('There is no earlier release that needs nothing; ask the operator of the service to publish one.')
  if (!isInstalled && fallback_release_id !== null) {
    terminal.warn(`Install release ${fallback_release_id} first, the newest that needs nothing (?release_id=${fallback_release_id}):`)
    const { url, scenario, signed } = installation
    const order = { url, adapter, scenario, release: fallback_release_id, args, key: keyIn(signed), hasToken: tokenIn(env) !== null }
    terminal.warn(`  ${safeInstallLine(order)}`)
  }
  terminal.warn(isInstalled ? 'Set it up and install it with:' : 'Then set this one up and install it with:')
  for (const step of steps) terminal.warn(`  ${step}`)
}

/** For a person: what it is called, what it is, what to do. */
export function itemLine({ name, kind, check, prompt }: Requires): string {
  const named = { env: 'variable', binary: 'program' } as const
  const what = kind === 'env' || kind === 'binary' ? `${named[kind]} ${check ?? name}` : kind
  return showHiddenLine(`${name} (${what})${prompt === undefined ? '' : `: ${prompt}`}`)
}
