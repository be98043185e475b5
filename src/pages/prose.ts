/** Texts that others wrote, shown as they are and no longer than a page can bear. */
import { counted, formatted } from '../presentation/index.ts'
import { markup, type Html, type Piece } from './html.ts'

const PROSE_CHARACTERS_MAX = 8000
const LINE_CHARACTERS_MAX = 500
const ITEMS_MAX = 40

/** A text of several lines. */
export const prose = (text: string): Html => markup`<div class="prose" dir="auto">${clipped(text, PROSE_CHARACTERS_MAX)}</div>`

/** A text within a line. */
export const inline = (text: string): Html => markup`<bdi>${clipped(text, LINE_CHARACTERS_MAX)}</bdi>`

export const code = (text: string): Html => markup`<code>${inline(text)}</code>`

function clipped(text: string, charactersMax: number): Piece {
  const shown = text.slice(0, charactersMax).toWellFormed()
  return shown.length >= text.length ? shown : [shown, markup` <span class="cut">${leftOut(text.length - shown.length)}</span>`]
}

export const leftOut = (characters: number): string => `[${counted(characters, 'more character')} left out of this page]`

/** Of a long list the first items, and how many more there are. */
export function listed<T>(items: readonly T[], itemOf: (item: T) => Html): Piece {
  const more = items.length - ITEMS_MAX
  return [items.slice(0, ITEMS_MAX).map(itemOf), more > 0 && markup`<li class="cut">and ${formatted(more)} more</li>`]
}

/** One line of a list of facts. `meaning` is shown where the pointer rests. */
export const term = (label: string, value: Piece, meaning?: string): Html =>
  markup`<div><dt>${label}</dt>${meaning === undefined ? markup`<dd>${value}</dd>` : markup`<dd title="${meaning}">${value}</dd>`}</div>`

/** Seconds since the epoch as a date of UTC; nothing where they are none. */
export function moment(seconds: number): Html | null {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return null
  const text = date.toISOString()
  return markup`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** "2 min 5 s" */
export function lasting(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const minutes = Math.floor(whole / 60)
  if (minutes === 0) return `${whole} s`
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
