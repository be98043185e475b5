/** Pinning a client to a release: the sessions that are at one, and the lines that pin. Pure. */
import type { ListedRecord } from '@svc-ai/client'
import { quoted } from './commands.ts'

export const sessionOf = ({ summary, excerpt }: ListedRecord): string | null => summary?.session ?? excerpt?.tags['session'] ?? null

export interface SessionAtRelease {
  /** Null stands for all calls that name none. */
  readonly session: string | null
  readonly count: number
  /** Of its newest exchange. */
  readonly at: number
}

/** The one that was last heard of first, as the exchanges are. */
export function sessionsIn(exchanges: readonly ListedRecord[]): readonly SessionAtRelease[] {
  const groups = Map.groupBy(exchanges, sessionOf)
  return [...groups].map(([session, rows]) => ({ session, count: rows.length, at: Math.max(...rows.map((row) => row.created_at)) }))
}

/** Puts an installed agent at the release; null where none can be installed. */
export const updateCommand = (adapter: string | null, release: string): string | null =>
  adapter === null ? null : `svc-${adapter} update --release=${quoted(release)}`

export const pullCommand = (origin: string, scenario: string, release: string): string =>
  `svc-client pull ./harness --url ${origin} --scenario=${quoted(scenario)} --release=${quoted(release)}`

export const pinHeaders = (release: string): string => `x-svc-tag-session: NAME\nx-svc-tag-release: ${release}`
