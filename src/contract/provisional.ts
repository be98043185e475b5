/** Provisional releases: unproven, and served only to those who take them. What rows say of them, and what serving needs. */
import { isObject, type JsonObject } from './json.ts'
import type { Commit, Release } from './nouns.ts'

/** On the row that made one: how much better it seemed. */
export const PROVISIONAL_METRIC = 'provisional'
/** On the row that ended one. */
export const PROVISIONAL_ENDED_METRIC = 'provisional_ended'

/** refuted: the gate decided against it, or it looks better no longer. withdrawn: worse by live scores, or taken back by a person. */
export type ProvisionalEnd = 'refuted' | 'withdrawn'

/** How much better it seemed; null for any other row. */
export function provisionalGain({ release, pending, metrics }: Pick<Commit, 'release' | 'pending' | 'metrics'>): number | null {
  const offered = metrics[PROVISIONAL_METRIC]
  if (release === null || !pending || !isObject(offered)) return null
  const { gain } = offered
  return typeof gain === 'number' ? gain : 0
}

export interface EndedProvisional {
  /** Of the row that made it. */
  readonly step: number
  readonly content_id: string
  readonly because: ProvisionalEnd
}

/** What the row ends; null where it ends none. */
export function provisionalEnded(metrics: JsonObject): EndedProvisional | null {
  const ended = metrics[PROVISIONAL_ENDED_METRIC]
  if (!isObject(ended)) return null
  const { step, content_id, because } = ended
  if (typeof step !== 'number' || typeof content_id !== 'string') return null
  return { step, content_id, because: because === 'withdrawn' ? 'withdrawn' : 'refuted' }
}

/** The provisional release of a scenario, where it is served at all. */
export interface ServedProvisional {
  readonly release: Release
  /** The share of sessions that it is served to, from 0 to 1. */
  readonly share: number
}
