/** The token of this machine: of the role agent, for one scenario. The one that a person installs with has it made, and is written nowhere. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { showHiddenLine } from '@svc-ai/client/hidden'
import { connect, field, parseJson, pasted, ServiceFailure, TOKEN_VARIABLE, type Svc } from '@svc-ai/client/shared'
import { isPlainToken } from './binding.ts'
import { Stop } from './failure.ts'
import { inFolder } from './places.ts'
import { recordIfThere, type InstallRecord } from './record.ts'
import type { Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { keptToken, tokenIn } from './token.ts'
import { PRIVATE, readIfThere, writeWhole } from './whole-file.ts'

const ASK_SECONDS_MAX = 30
const NAME_PART_CHARACTERS_MAX = 24
const UNIQUE_BYTES = 4

type Place = Pick<InstallRecord, 'url' | 'scenario' | 'adapter'>

export interface MachineToken {
  readonly name: string
  readonly token: string
}

/** Null where there is none to write: none was given, or the service asks for none. */
export async function machineToken(place: Place, folder: string, env: NodeJS.ProcessEnv): Promise<MachineToken | null> {
  // One that was kept goes to the service that it was kept for alone.
  const kept = (await recordIfThere(folder))?.url === place.url ? await keptToken(folder) : null
  const pass = tokenIn(env) ?? kept
  if (pass === null) return null
  const service = serviceFor(place, pass)
  const { kind, role, scenarios, name } = await orStop(place, service.caller())
  if (kind === 'anyone') return null
  const shownName = showHiddenLine(name ?? '')
  if (role === 'admin') return (await keptIfGood(place, kept)) ?? orStop(place, made(service, place, folder))
  if (role !== 'agent') throw new Stop(`the token ${shownName} has the role ${role}, with which no agent runs; ${askedFor(place)}`)
  if (!isFor(place, scenarios)) throw new Stop(`the token ${shownName} is for other scenarios; ${askedFor(place)}`)
  if (!isPlainToken(pass)) throw new Stop(`the token ${shownName} holds characters that are not written into settings; ${askedFor(place)}`)
  return { name: shownName, token: pass }
}

const serviceFor = ({ url, scenario }: Place, token: string): Svc => connect({ url, scenario, token, timeoutSeconds: ASK_SECONDS_MAX })

const isFor = ({ scenario }: Place, scenarios: readonly string[] | null): boolean => scenarios?.includes(scenario) ?? false

const askedFor = ({ scenario }: Place): string =>
  `ask for one of this machine (svc token create NAME --role agent --scenario ${pasted(scenario)}) and run the same line with it in ${TOKEN_VARIABLE}`

/** A token that is wrong is said as it is everywhere; after anything else nothing is written, least of all the token that was given. */
async function orStop<T>(place: Place, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof ServiceFailure) || error.status === 401) throw error
    throw new Stop(
      `there is no token for this machine, and ${TOKEN_VARIABLE} is never written in its place: ${error.message}; run the same line again, or ${askedFor(place)}`,
      { cause: error },
    )
  }
}

/** Null for one that was revoked, has expired, or may do more than a machine should. */
async function keptIfGood(place: Place, kept: string | null): Promise<MachineToken | null> {
  if (kept === null) return null
  const caller = await orStop(place, serviceFor(place, kept).caller().catch(unlessRefused))
  if (caller?.role !== 'agent' || !isFor(place, caller.scenarios)) return null
  return { name: showHiddenLine(caller.name ?? ''), token: kept }
}

function unlessRefused(error: unknown): null {
  if (error instanceof ServiceFailure && error.status === 401) return null
  throw error
}

/** One that this install had made before, and whose secret was lost, is rotated: it is known by its name, and none piles up. */
async function made(service: Svc, place: Place, folder: string): Promise<MachineToken> {
  const name = await nameFor(place, folder)
  const { token, role, scenarios } = await service
    .createToken({ name, role: 'agent', scenarios: [place.scenario] })
    .catch((error: unknown) => {
      if (error instanceof ServiceFailure && error.code === 'token_exists') return service.rotateToken(name)
      throw error
    })
  if (role !== 'agent' || JSON.stringify(scenarios) !== JSON.stringify([place.scenario]) || !isPlainToken(token))
    throw new Stop(
      `the service has another token ${name} than one of this machine; end it (svc token revoke ${name}) and run the same line again`,
    )
  return { name, token }
}

/** On the disk before the token is made: killed anywhere, the next install goes on with that name. */
async function nameFor({ scenario, adapter }: Place, folder: string): Promise<string> {
  const before = await keptName(folder)
  if (before !== null && before.scenario === scenario) return before.name
  const name = tokenName(hostname(), adapter, randomBytes(UNIQUE_BYTES).toString('hex'))
  await writeWhole({ path: inFolder(folder).tokenName, text: `${JSON.stringify({ name, scenario })}\n`, mode: PRIVATE })
  return name
}

/** Machines have the same names, and any: hence the last part, and the few characters that the service takes. */
export const tokenName = (host: string, adapter: string, unique: string): string =>
  [plainPart(host.split('.', 1)[0] ?? '') || 'machine', plainPart(adapter) || 'agent', unique].join('-')

const plainPart = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9_]+/g, '-')
    .slice(0, NAME_PART_CHARACTERS_MAX)
    .replace(/^[-_]+|[-_]+$/g, '')

/** Of the token that this install had made; null where a person gave one. */
async function keptName(folder: string): Promise<{ readonly name: string; readonly scenario: string } | null> {
  const found = parseJson((await readIfThere(inFolder(folder).tokenName)) ?? '')
  const [name, scenario] = [field(found, 'name'), field(found, 'scenario')]
  return typeof name === 'string' && typeof scenario === 'string' ? { name, scenario } : null
}

/** A token may not end itself: where no other one is given, an administrator is told which. */
export async function endMachineToken({ folder, record, env }: Install, terminal: Terminal): Promise<void> {
  const [found, given] = [await keptName(folder), tokenIn(env)]
  if (found === null) return
  const name = showHiddenLine(found.name)
  const isEnded = given !== null && (await isRevoked(serviceFor(record, given), found.name))
  if (isEnded) terminal.print(`revoked the token ${name} of this machine`)
  else
    terminal.warn(
      `the token ${name} of this machine is still in force at ${record.url}; an administrator ends it: svc token revoke ${name}`,
    )
}

async function isRevoked(service: Svc, name: string): Promise<boolean> {
  try {
    await service.revokeToken(name)
    return true
  } catch (error) {
    if (error instanceof ServiceFailure) return error.code === 'unknown_token'
    throw error
  }
}
