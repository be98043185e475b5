/** How refs are spelt: any scenario's name as a ref that git takes and no other name collides with. */
import { REF, invalid } from '../../../../src/contract/index.ts'

/** A ref is a file and its lock a longer-named one; most file systems end names at 255 bytes. */
const SEGMENT_CHARACTERS_MAX = 240

export const scenarioRef = (scenario: string): string => REF.scenarios + encodeName(scenario)

export const heldRef = (releaseId: string): string => REF.held + releaseId

export function archivedRef(scenario: string, as: string): string {
  if (as === '') throw invalid('bad_archive_name', 'the name of an archive must not be empty')
  return `${REF.archived}${encodeName(scenario)}/${escapeSegment(as)}`
}

/** Where the value that a pointer is taken away from stays reachable; null for a ref that is named by its value. */
export function displacedRef(ref: string, releaseId: string): string | null {
  return ref.startsWith(REF.scenarios) ? `${REF.archived}${ref.slice(REF.scenarios.length)}/${releaseId}` : null
}

/** A long name becomes folders that end in `+`, a character of no encoded name: no scenario's ref can be another's folder. */
function encodeName(scenario: string): string {
  const text = Buffer.from(scenario).toString('base64url')
  if (text === '') throw invalid('bad_scenario', 'the name of a scenario must not be empty')
  return text.replace(new RegExp(`.{${SEGMENT_CHARACTERS_MAX}}(?=.)`, 'g'), '$&+/')
}

/** What git forbids in a ref is percent-encoded: its special characters, and dots where they would mean something. */
function escapeSegment(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('~', '%7E')
    .replaceAll('*', '%2A')
    .replace(/^\.|\.(?=\.|lock$|$)/g, '%2E')
}
