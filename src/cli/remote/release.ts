/** Releases as people name them: by number, by the beginning of an id, or by the whole of it. */
import type { ReleaseRow } from '@svc-ai/client'
import { invalid, STEP_OUTCOMES, unknown } from '../../contract/index.ts'
import { madeRelease, stepTime } from '../../presentation/index.ts'
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

/** A step that made no release is listed with the one it ran on, and is never meant by that. */
function candidates(rows: readonly ReleaseRow[], asked: string): readonly ReleaseRow[] {
  const made = rows.filter(madeRelease)
  const whole = made.filter(({ release_id }) => release_id === asked)
  if (whole.length > 0) return whole.slice(0, 1)
  const step = Number(NUMBER.exec(asked)?.[1] ?? -1)
  const isPrefix = asked.length >= PREFIX_CHARACTERS_LEAST
  return made.filter((row) => row.step === step || (isPrefix && row.release_id.startsWith(asked.toLowerCase())))
}

function nothingFound(rows: readonly ReleaseRow[], asked: string, list: string): Error {
  const step = Number(NUMBER.exec(asked)?.[1] ?? -1)
  const row = rows.find((one) => one.step === step)
  if (row !== undefined)
    return unknown('no_release', `that step made no release (${STEP_OUTCOMES[row.result].word}); see which did: ${list}`)
  if (NUMBER.test(asked) || asked.length >= PREFIX_CHARACTERS_LEAST)
    return unknown('unknown_release', `no release is called ${oneLine(asked).slice(0, 80)}; see them: ${list}`)
  return invalid('short_release', `give the number of a release, or ${PREFIX_CHARACTERS_LEAST} characters of its id and more: ${list}`)
}

/** Whether a release is named by its number. */
export const isNumbered = (words: string): boolean => NUMBER.test(words.trim())

export const numberOf = ({ step }: { readonly step: number }): string => `v${step}`

/** What is typed to mean a step: the number of its release, or when it was. */
export const handleOf = (row: ReleaseRow): string => (madeRelease(row) ? numberOf(row) : stepTime(row))

/** As git shortens a commit; ids of another kind stay whole. */
export const shortId = (id: string): string => (/^[0-9a-f]{40,64}$/.test(id) ? id.slice(0, SHORT_CHARACTERS) : oneLine(id))

export const servedRow = (rows: readonly ReleaseRow[]): ReleaseRow | undefined => rows.find(({ current }) => current)
