/** The word for what came of a step, what it means, and where the catalog leads: promotions, the served head, neighbours. */
import type { Operation, StepOutcome } from '../contract/index.ts'
import type { CatalogRow, Releases } from './view.ts'

type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'busy'
export interface Status {
  readonly word: string
  readonly tone: Tone
  readonly meaning: string
}

export function statusOf(releases: Releases, row: CatalogRow): Status {
  const promotion = promotionOf(releases, row)
  if (promotion !== undefined) return { word: `Promoted at step ${promotion.step}`, ...PROMOTED }
  return BY_HAND[row.operation] ?? OUTCOMES[row.result]
}

/** The row by which a held release was promoted. */
export const promotionOf = (releases: Releases, { pending, release_id }: CatalogRow): CatalogRow | undefined =>
  pending ? [...releases.values()].find((row) => row.operation === 'promote' && row.rollback_target_release_id === release_id) : undefined

const PROMOTED = { tone: 'good', meaning: 'The candidate was held for review, and a person promoted it.' } as const

const BY_HAND: Readonly<Partial<Record<Operation, Status>>> = {
  create: { word: 'Starting point', tone: 'calm', meaning: 'The tree that this scenario was created with.' },
  promote: { word: 'Published', tone: 'good', meaning: 'A person promoted a release that was held for review.' },
  rollback: { word: 'Published', tone: 'good', meaning: 'A person put an earlier release back.' },
  shipped: { word: 'Published', tone: 'good', meaning: 'The service brought the entries that it ships up to date.' },
}

const OUTCOMES: Readonly<Record<StepOutcome, Status>> = {
  published: { word: 'Published', tone: 'good', meaning: 'The candidate was selected and became what is served.' },
  pending: {
    word: 'Ready for review',
    tone: 'warn',
    meaning: 'The candidate was selected and waits for a person to look at it. Nobody is served it before it is promoted.',
  },
  rejected: { word: 'Not selected', tone: 'calm', meaning: 'There was a candidate, and it was not selected. What was served still is.' },
  skipped: { word: 'No changes', tone: 'calm', meaning: 'There was no candidate to try. What was served still is.' },
  failed: { word: 'Failed', tone: 'bad', meaning: 'The step failed before there was anything to serve. What was served still is.' },
}

/** Where a row that nobody asked for in words came from. */
export const ORIGINS: Readonly<Record<Operation, string>> = {
  create: 'Creation',
  train: 'Learned from traffic',
  promote: 'Promoted by a person',
  rollback: 'Rolled back by a person',
  shipped: 'Shipped with the service',
}

const served = (releases: Releases): readonly [number, CatalogRow] | undefined =>
  [...releases].findLast(([, { result, pending }]) => result === 'published' && !pending)

/** The newest row that published: what clients pull now. */
export const servedIn = (releases: Releases): CatalogRow | undefined => served(releases)?.[1]
export const servedPlace = (releases: Releases): number | undefined => served(releases)?.[0]

/** Clients pull the release of the row at that place now. */
export const isServed = (releases: Releases, place: number): boolean => servedPlace(releases) === place

/** The place of the row that made a release. */
export const placeOf = (releases: Releases, releaseId: string): number | undefined =>
  [...releases].find(([, row]) => row.release_id === releaseId)?.[0]

/** A step that made no release of its own is shown with the one it ran on. */
export const madeRelease = ({ result }: CatalogRow): boolean => result === 'published' || result === 'pending'
