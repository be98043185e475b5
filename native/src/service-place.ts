/** Which service a folder's harness comes from: as the command line says, else as it was last served. */
import { readIfThere } from '@svc-ai/agent/shared'
import { Failure, scenarioName, serviceUrl, tokenIn, field, parseJson } from '@svc-ai/client/shared'
import type { ResidentPlaces } from './places.ts'

export interface ServicePlace {
  readonly url: string
  readonly scenario: string
  readonly token: string | null
}

interface Given {
  readonly url: string | undefined
  readonly scenario: string | undefined
}

export async function serviceIn({ root, state }: ResidentPlaces, given: Given): Promise<ServicePlace> {
  const served = parseJson((await readIfThere(state)) ?? '')
  const [url, scenario] = [given.url ?? textOf(served, 'url'), given.scenario ?? textOf(served, 'scenario')]
  if (url === undefined || scenario === undefined)
    throw new Failure(`${root} was never served: say which service is meant with --url and --scenario`)
  return { url: serviceUrl(url), scenario: scenarioName(scenario), token: tokenIn(process.env) }
}

function textOf(value: unknown, name: string): string | undefined {
  const text = field(value, name)
  return typeof text === 'string' ? text : undefined
}
