/** Releases as people name them: by number, by the beginning of an id, or by the whole of it. */
import type { ReleaseRow } from '@svc-ai/client'
import { meanScores } from '@svc-ai/client/scores'
import { invalid, unknown } from '../../contract/index.ts'
import { oneLine } from '../screen/text.ts'

const PREFIX_CHARACTERS_LEAST = 4
const SHORT_CHARACTERS = 8
const NUMBER = /^(?:v|step\s*)?(\d{1,9})$/i

/** The row that made the release. `list` is the command that shows them all. */
export function findRelease(rows: readonly ReleaseRow[], words: string, list: string): ReleaseRow {
  const asked = words.trim()
  const found = candidates(rows, asked)
  const [first, ...others] = found
  if (first === undefined) throw nothingFound(rows, asked, list)
  if (others.length === 0) return first
  const names = found.map((row) => `${numberOf(row)} (${row.release_id.slice(0, asked.length + 4)}…)`)
  throw invalid('several_releases', `several releases are meant by that: ${names.join(', ')}; give more of the id, or the number: ${list}`)
}

/** A step that made no release shows the one it ran on; it is never meant by that. */
export const isMade = ({ result }: ReleaseRow): boolean => result === 'published' || result === 'pending'

function candidates(rows: readonly ReleaseRow[], asked: string): readonly ReleaseRow[] {
  const made = rows.filter(isMade)
  const whole = made.filter(({ release_id }) => release_id === asked)
  if (whole.length > 0) return whole.slice(0, 1)
  const step = Number(NUMBER.exec(asked)?.[1] ?? -1)
  const isPrefix = asked.length >= PREFIX_CHARACTERS_LEAST
  return made.filter((row) => row.step === step || (isPrefix && row.release_id.startsWith(asked.toLowerCase())))
}

function nothingFound(rows: readonly ReleaseRow[], asked: string, list: string): Error {
  const step = Number(NUMBER.exec(asked)?.[1] ?? -1)
  const row = rows.find((one) => one.step === step)
  if (row !== undefined) return unknown('no_release', `step ${step} made no release (${row.result}); see which did: ${list}`)
  if (NUMBER.test(asked) || asked.length >= PREFIX_CHARACTERS_LEAST)
    return unknown('unknown_release', `no release is called ${oneLine(asked).slice(0, 80)}; see them: ${list}`)
  return invalid('short_release', `give the number of a release, or ${PREFIX_CHARACTERS_LEAST} characters of its id and more: ${list}`)
}

export const numberOf = ({ step }: { readonly step: number }): string => `v${step}`

/** As git shortens a commit; ids of another kind stay whole. */
export const shortId = (id: string): string => (/^[0-9a-f]{40,64}$/.test(id) ? id.slice(0, SHORT_CHARACTERS) : oneLine(id))

/** Waiting for review: held, and not promoted since. Newest first. */
export function heldRows(rows: readonly ReleaseRow[]): readonly ReleaseRow[] {
  return rows.filter((row) => row.pending && promotionOf(rows, row) === undefined)
}

/** The row that put a held release in front of users. */
export function promotionOf(rows: readonly ReleaseRow[], { release_id }: ReleaseRow): ReleaseRow | undefined {
  return rows.find(({ operation, rollback_target_release_id: target }) => operation === 'promote' && target === release_id)
}

export const servedRow = (rows: readonly ReleaseRow[]): ReleaseRow | undefined => rows.find(({ current }) => current)

/** As many as fit a line. */
const SCORES_MAX = 40

/** What the latest releases that training published scored per episode, oldest first, after what there was before the first of them. */
export function scoresOf(rows: readonly ReleaseRow[]): readonly number[] {
  const trained = rows
    .filter(({ operation, result }) => operation === 'train' && result === 'published')
    .slice(0, SCORES_MAX)
    .toReversed()
  const scored = trained.flatMap(({ metrics }) => meanScores(metrics) ?? [])
  const before = trained[0] === undefined ? null : (meanScores(trained[0].metrics)?.current ?? null)
  return [before, ...scored.map(({ candidate }) => candidate)].filter((score) => score !== null)
}
