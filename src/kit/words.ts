/** What a stranger's error says to people: one line, of bounded length, without secrets or places of this machine, whatever was thrown. */
import { withoutKnownSecrets } from './known-secrets.ts'
import { screenText } from './screen.ts'
import { firstCodePoints } from './text.ts'

/** No more than trainers are promised (STEP_TEXT_CHARACTERS_MAX): a test of theirs holds the two together, since this room imports nothing. */
const CHARACTERS_MAX = 2000

const NO_WORDS = 'it failed without saying why'
/** The folders of an absolute path; the name at its end stays. */
const FOLDERS = /(?:\bfile:\/\/|(?<![\w.:/]))\/(?:[^\s'"`/:]+\/)+/g

export function wordsOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message || error.name : String(error)
    // Cut last: half a key at the cut would not be found.
    const known = withoutKnownSecrets(text.trimStart().slice(0, 4 * CHARACTERS_MAX))
    const line = firstCodePoints(known, CHARACTERS_MAX).replaceAll(/\s+/g, ' ').trim()
    if (screenText(line) === 'credential_in_text') return 'it failed; what it said holds a credential and is withheld'
    return line.replaceAll(FOLDERS, '') || NO_WORDS
  } catch {
    // An object that cannot be printed, or one whose message throws.
    return NO_WORDS
  }
}
