/** An install that names no scenario: what is installed in the folder is brought up to date; where nothing is, a scenario is made first. */
import { connect, type Svc, INSTALL_ROUTE, field, parseJson, pasted } from '@svc-ai/client/shared'
import { checkScript, firstKey, requireWay } from '@svc-ai/client/signing'
import { Stop } from './failure.ts'
import { moveFormer } from './former-names.ts'
import { requireNode } from './install-gate.ts'
import { oneAtATime } from './process-lock.ts'
import { destinationFor, knows } from './install-place.ts'
import { inOneLine, requireFewArguments, type InstallOrder } from './install.ts'
import type { InstallStart } from './installation.ts'
import { commandOf, homeOf, inFolder, installFolder } from './places.ts'
import { recordIfThere, type InstallRecord } from './record.ts'
import { runScript, SCRIPT_SECONDS_MAX } from './script.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { tokenIn } from './token.ts'
import { readTrust } from './trust.ts'
import { PRIVATE, readIfThere, writeWhole } from './whole-file.ts'
import { mkdirp } from '@svc-ai/client/folders'

type StartOrder = Omit<InstallOrder, 'installation'> & { readonly start: InstallStart }

/** The exit code. */
export const installFromStart = ({ terminal = openTerminal(), ...order }: StartOrder): Promise<number> =>
  inOneLine(terminal, () => installOrRefuse(order, terminal))

async function installOrRefuse({ start, program, args, env, node }: Omit<StartOrder, 'terminal'>, terminal: Terminal): Promise<number> {
  requireFewArguments(args)
  requireNode(start, node.version)
  requireWay(start.url, env)
  await moveFormer({ home: homeOf(env), terminal, program, node: node.path })
  const [argument, prefix] = args
  const destination = await destinationFor({ argument, adapter: start.adapter, env }, (record) => isOf(start, record))
  const scenario = await scenarioFor(start, installFolder(homeOf(env), destination), env, terminal)
  const script = await serviceOf(start, env, scenario).text(INSTALL_ROUTE, { adapter: start.adapter })
  const signed = checkScript(await keyFor(start, destination, env), script)
  if (signed.scenario !== scenario || signed.adapter !== start.adapter || signed.release_id === null)
    throw new Stop('the install script is for something else than what was asked for; nothing of it was run. Run the same line again')
  return runScript(script, [destination, ...(prefix === undefined ? [] : [prefix])], env)
}

/** The key that this folder pinned, else the one of the line, else null: whichever arrives over a way that nobody can change. */
async function keyFor({ url }: InstallStart, destination: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  return (await readTrust(installFolder(homeOf(env), destination)))?.key ?? firstKey(url, env)
}

const isOf = (start: InstallStart, record: InstallRecord): boolean => record.adapter === start.adapter && record.url === start.url

const serviceOf = ({ url }: InstallStart, env: NodeJS.ProcessEnv, scenario: string): Svc =>
  connect({ url, scenario, token: tokenIn(env), timeoutSeconds: SCRIPT_SECONDS_MAX })

/** The name is on the disk before the scenario is made: killed anywhere, the same line goes on with that scenario. */
async function scenarioFor(start: InstallStart, folder: string, env: NodeJS.ProcessEnv, terminal: Terminal): Promise<string> {
  await mkdirp(folder, { mode: 0o700 })
  return oneAtATime(inFolder(folder).lock, terminal, async () => {
    // The one that was waited for may have come to its end.
    const record = await recordIfThere(folder)
    if (record !== null && isOf(start, record)) return installedScenario(record, env)
    const begun = (await begunIn(folder, start)) ?? start.scenario
    await writeWhole({ path: inFolder(folder).start, text: JSON.stringify({ url: start.url, scenario: begun }), mode: PRIVATE })
    await serviceOf(start, env, begun).createScenario(begun, start.recipe)
    return begun
  })
}

async function installedScenario({ url, scenario, destination, adapter }: InstallRecord, env: NodeJS.ProcessEnv): Promise<string> {
  if (await knows({ url, scenario, env })) return scenario
  throw new Stop(
    `the service does not know scenario ${JSON.stringify(scenario)} any more, whose harness is in ${destination}; remove it with: ${commandOf(adapter)} --scenario ${pasted(scenario)} uninstall; then run the same line again`,
  )
}

async function begunIn(folder: string, { url }: InstallStart): Promise<string | null> {
  const found = parseJson((await readIfThere(inFolder(folder).start)) ?? '')
  const scenario = field(found, 'scenario')
  return field(found, 'url') === url && typeof scenario === 'string' ? scenario : null
}
