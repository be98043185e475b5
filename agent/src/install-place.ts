/** Which folder an install goes to: the one that was named, else the first usual one that holds this harness or none. */
import { connect, pasted, ServiceFailure } from '@svc-ai/client/shared'
import { Stop } from './failure.ts'
import type { Installation } from './installation.ts'
import { commandOf, defaultDestinations, destinationOf, homeOf, installFolder, nonBlank } from './places.ts'
import { recordIfThere, type InstallRecord } from './record.ts'
import { tokenIn } from './token.ts'

const ASK_SECONDS_MAX = 15

interface PlaceOrder {
  readonly argument: string | undefined
  readonly adapter: string
  readonly env: NodeJS.ProcessEnv
}

/** Another harness that is installed in a folder is never written over: it would leave its command without files. */
export async function destinationFor(
  { argument, adapter, env }: PlaceOrder,
  isSame: (record: InstallRecord) => Promise<boolean> | boolean,
): Promise<string> {
  const named = nonBlank(argument)
  const places = (named === undefined ? defaultDestinations(adapter) : [named]).map(destinationOf)
  const records = await Promise.all(places.map((place) => recordIfThere(installFolder(homeOf(env), place))))
  for (const [index, place] of places.entries()) {
    const record = records[index] ?? null
    if (record !== null && (await isSame(record))) return place
  }
  const free = places.find((_, index) => records[index] === null)
  if (free !== undefined) return free
  throw taken(records[0] ?? null)
}

function taken(record: InstallRecord | null): Stop {
  if (record === null) return new Stop('every usual folder is taken; name another one as the first argument')
  const { destination, adapter, scenario, url } = record
  return new Stop(
    `${destination} holds the harness of scenario ${JSON.stringify(scenario)} at ${url} for ${adapter}; name another folder as the first argument, or remove that one with: ${commandOf(adapter)} --scenario ${pasted(scenario)} uninstall`,
  )
}

/** A service that moved still knows the release that is installed; another one with a scenario of the same name does not. */
export async function isSameHarness(
  record: InstallRecord,
  { adapter, scenario, url }: Installation,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  if (record.adapter !== adapter || record.scenario !== scenario) return false
  return record.url === url || knows({ url, scenario, env }, record.release_id)
}

/** Only a service that says so has none: one that cannot be asked may. */
export async function knows(
  { url, scenario, env }: { readonly url: string; readonly scenario: string; readonly env: NodeJS.ProcessEnv },
  release?: string,
): Promise<boolean> {
  try {
    await connect({ url, scenario, token: tokenIn(env), timeoutSeconds: ASK_SECONDS_MAX }).manifest(release)
    return true
  } catch (error) {
    if (error instanceof ServiceFailure) return error.status !== 404
    throw error
  }
}
