/** What a contestant is, and where it runs. */

import { join } from 'node:path'
import type { ContestantName, FormatName } from './options.ts'
import type { Process } from './processes.ts'

export const TOKEN = 'bench'
export const SCENARIO = 'bench'

export interface Site {
  readonly upstreamPort: number
  /** Where the contestant may keep its data and its output. */
  readonly directory: string
  readonly format: FormatName
  /** Further options of the service. */
  readonly settings: Readonly<Record<string, string>>
  readonly before: string | undefined
  /** The cores that the service may use; missing: all. */
  readonly cores?: string
}

export const recordsIn = ({ directory }: Pick<Site, 'directory'>): string => join(directory, 'records')
export const artifactsIn = ({ directory }: Pick<Site, 'directory'>): string => join(directory, 'artifacts.git')

export interface Running {
  readonly name: ContestantName
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** Missing for the upstream itself, whose cost is not measured. */
  readonly process?: Process
  readonly bootMs: number
  /** What the paths of its own routes begin with; missing: as the service's. */
  readonly routes?: string
}

export interface Contestant {
  readonly name: ContestantName
  /** Its answers carry receipts that must survive kill -9. */
  readonly durable: boolean
  /** Not ours: a run goes on without it. */
  readonly isPeer: boolean
  /** Starts with an empty directory every round. */
  readonly fresh: boolean
  readonly start: (site: Site) => Promise<Running>
}
