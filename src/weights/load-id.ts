/** The names of weight loads: `<incarnation>:<sequence>`, and the adapter an engine knows them by. */
import type { ServedAdapter } from '../contract/index.ts'

export interface LoadId {
  /** One life of a scenario's chain: no colon, no dot. */
  readonly incarnation: string
  /** How many publications of the scenario's weights came before. */
  readonly sequence: number
}

const LOAD_ID = /^([A-Za-z0-9_-]{1,64}):(0|[1-9]\d{0,14})$/
const ADAPTER_PREFIX = 'svc'

export const printLoadId = ({ incarnation, sequence }: LoadId): string => `${incarnation}:${sequence}`

export function parseLoadId(text: string): LoadId | null {
  const [, incarnation, sequence] = LOAD_ID.exec(text) ?? []
  return incarnation === undefined ? null : { incarnation, sequence: Number(sequence) }
}

/** One name is one load of one scenario for ever: an engine that keeps caches by name never mixes two of them up. */
export function adapterName(scenario: string, { incarnation, sequence }: LoadId): string {
  return [ADAPTER_PREFIX, Buffer.from(scenario).toString('base64url'), incarnation, sequence].join('.')
}

export interface OwnAdapter extends LoadId {
  readonly scenario: string
}

export function parseAdapterName(name: string): OwnAdapter | null {
  const [prefix, scenario = '', incarnation, sequence, ...rest] = name.split('.')
  const load = parseLoadId(`${incarnation}:${sequence}`)
  if (prefix !== ADAPTER_PREFIX || load === null || rest.length > 0) return null
  return { scenario: Buffer.from(scenario, 'base64url').toString(), ...load }
}

export const loadOf = ({ runtime_load_id }: ServedAdapter): LoadId | null => parseLoadId(runtime_load_id)
