/** Shortens long texts for a prompt by cutting their middle; short texts are kept whole. */
import type { Episode, Json } from '../../../src/contract/index.ts'

const ITEMS_SHOWN_MAX = 400
const MEMBERS_SHOWN_MAX = 200
const TEXT_CHARACTERS_MAX = 8000
const EPISODE_CHARACTERS_MAX = 64 * 1024
const OUTPUT_CHARACTERS_MAX = 4000
/** Room for the note that says how much is missing. */
const MARK_CHARACTERS = 48

/** Keeps the head and the tail. */
export function excerpt(text: string, characters: number): string {
  if (text.length <= characters) return text
  const half = Math.max(0, Math.floor((characters - MARK_CHARACTERS) / 2))
  const tail = half === 0 ? '' : text.slice(-half)
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters left out …\n${tail}`.toWellFormed()
}

/** Shortens the texts to a total size. A text that needs less than its share leaves the rest to the others. */
export function fitted(texts: readonly string[], characters: number): readonly string[] {
  const shares = new Map<number, number>()
  const shortest = texts.map((text, index) => ({ index, length: text.length })).toSorted((a, b) => a.length - b.length)
  let left = characters
  for (const [at, { index, length }] of shortest.entries()) {
    const share = Math.min(length, Math.floor(left / (shortest.length - at)))
    shares.set(index, share)
    left -= share
  }
  return texts.map((text, index) => excerpt(text, shares.get(index) ?? 0))
}

/** The episode, one line of JSON per item, so that no text in it can begin a line. */
export function episodeText({ trajectory, stdout, stderr, exitCode, ended }: Episode): string {
  const lines = trajectory.length <= ITEMS_SHOWN_MAX ? trajectory : trajectory.slice(0, ITEMS_SHOWN_MAX / 2)
  const last = trajectory.length <= ITEMS_SHOWN_MAX ? [] : trajectory.slice(-ITEMS_SHOWN_MAX / 2)
  const missing = trajectory.length - lines.length - last.length
  const end = {
    exit_code: exitCode,
    ...(ended !== undefined && { ended }),
    stdout: excerpt(stdout, OUTPUT_CHARACTERS_MAX),
    ...(stderr !== '' && { stderr: excerpt(stderr, OUTPUT_CHARACTERS_MAX) }),
  }
  const shown = [...lines.map(line), ...(missing > 0 ? [`… ${missing} items left out …`] : []), ...last.map(line), line(end)]
  return excerpt(shown.join('\n'), EPISODE_CHARACTERS_MAX)
}

export function line(value: Json | object): string {
  try {
    return JSON.stringify(value, shortened)
  } catch {
    return '(an item that cannot be printed: it is nested too deeply)'
  }
}

/** Shortens while printing, so that a huge text is never printed whole. */
function shortened(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return excerpt(value, TEXT_CHARACTERS_MAX)
  return Array.isArray(value) && value.length > MEMBERS_SHOWN_MAX ? value.slice(-MEMBERS_SHOWN_MAX) : value
}
