/** Texts and changes of texts, within the room that a page has for them: what does not fit is left out, and how much that is is told. */
import type { Line, Part } from './diff.ts'
import { markup, type Html } from './html.ts'
import { counted, leftOut } from './prose.ts'

/** How much markup texts may become, so that none can make a page large, whatever it is written in. */
export class Room {
  #left: number
  readonly #whole: Room | null

  /** Of a whole, no more than is left there. */
  constructor(bytes: number, whole: Room | null = null) {
    this.#left = bytes
    this.#whole = whole
  }

  /** Whether it fits; after the first that does not, nothing does. */
  take(made: Html): boolean {
    const fits = made.text.length <= this.#left && (this.#whole === null || this.#whole.take(made))
    this.#left = fits ? this.#left - made.text.length : 0
    return fits
  }
}

/** A text that does not fit is cut at a multiple of this. */
const CHUNK_CHARACTERS = 500

export function wholeText(text: string, room: Room): Html {
  const shown: Html[] = []
  let told = 0
  while (told < text.length) {
    const chunk = chunkAt(text, told)
    const made = markup`${chunk}`
    if (!room.take(made)) break
    shown.push(made)
    told += chunk.length
  }
  return markup`${shown}${told < text.length && markup`<b>${leftOut(text.length - told)}</b>`}`
}

/** Never half of a surrogate pair. */
function chunkAt(text: string, start: number): string {
  const chunk = text.slice(start, start + CHUNK_CHARACTERS)
  return /[\ud800-\udbff]$/.test(chunk) ? text.slice(start, start + CHUNK_CHARACTERS + 1) : chunk
}

export function changedLines(lines: readonly Line[], room: Room): Html {
  const shown: Html[] = []
  for (const line of lines) {
    const made = lineOf(line)
    if (!room.take(made)) break
    shown.push(made)
  }
  const left = lines.length - shown.length
  return markup`${grouped(lines, shown)}${left > 0 && markup`<b>[${counted(left, 'more line')} of this change left out of this page]</b>`}`
}

function lineOf(line: Line): Html {
  if (line.kind === 'gap') return markup`<b>${counted(line.count, 'unchanged line')}</b>`
  const parts = partsOf(line.parts)
  if (line.kind === 'same') return markup`<span>  ${parts}</span>`
  return line.kind === 'del' ? markup`<del>- ${parts}</del>` : markup`<ins>+ ${parts}</ins>`
}

const LINE_CHARACTERS_MAX = 2000

function partsOf(parts: readonly Part[]): readonly Html[] {
  let left = LINE_CHARACTERS_MAX
  return parts.map(({ text, isMarked }) => {
    const shown = text.slice(0, Math.max(0, left)).toWellFormed()
    left -= text.length
    const cut = shown.length < text.length && markup`<b>${leftOut(text.length - shown.length)}</b>`
    return isMarked ? markup`<mark>${shown}</mark>${cut}` : markup`${shown}${cut}`
  })
}

/** Lines that took each other's place stand together, so that a wide page can set them side by side. */
function grouped(lines: readonly Line[], shown: readonly Html[]): readonly Html[] {
  const isChange = (index: number): boolean => lines[index]?.kind === 'del' || lines[index]?.kind === 'ins'
  return shown.map((made, index) => {
    const opens = isChange(index) && !isChange(index - 1)
    const closes = isChange(index) && (!isChange(index + 1) || index === shown.length - 1)
    return markup`${opens && OPENED}${made}${closes && CLOSED}`
  })
}
const OPENED = markup`<div>`
const CLOSED = markup`</div>`
