/** HTML that is safe by its type: text becomes markup by being escaped and in no other way, and all of it is ASCII. */

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Piece = Html | string | number | null | false | readonly Piece[]

/** Literal parts are markup; everything put between them is escaped text, unless it is `Html` already. */
export function markup(literals: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  let text = ''
  let inTag = false
  for (const [index, literal] of literals.entries()) {
    inTag = isInTag(literal, inTag)
    text += literal + rendered(pieces[index] ?? null, inTag)
  }
  return new Html(text)
}

/** Inside of a tag there is no room for marks of our own: what stands there is an attribute. */
function isInTag(literal: string, before: boolean): boolean {
  const opened = literal.lastIndexOf('<')
  const closed = literal.lastIndexOf('>')
  return opened === closed ? before : opened > closed
}

function rendered(piece: Piece, inTag: boolean): string {
  if (piece === null || piece === false) return ''
  if (piece instanceof Html) return piece.text
  if (typeof piece === 'string') return escaped(piece, inTag ? named : marked)
  if (typeof piece === 'number') return String(piece)
  return piece.map((each) => rendered(each, inTag)).join('')
}

/**
 * Characters that are invisible or reorder text could make it read as another. Joiners belong to many scripts and to
 * emoji, and are hidden only after Latin letters.
 */
const HIDDEN =
  '(?<![^\\0-\\u024f])[\\u200c\\u200d]|[^\\P{C}\\t\\n\\u200c\\u200d]|[\\u2028\\u2029\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u3164\\uffa0\\u{e0100}-\\u{e01ef}]'
const UNSAFE = new RegExp(`(${HIDDEN})\\1*|[&<>"']|[^\\0-\\x7f]`, 'gu')
const HIDDEN_RUN = new RegExp(`(${HIDDEN})\\1*`, 'gu')

type Mark = (name: string) => string
const marked: Mark = (name) => `<i>${name}</i>`
const named: Mark = (name) => `[${name}]`

function escaped(text: string, mark: Mark): string {
  return text.replaceAll(UNSAFE, (run: string, hidden: string | undefined) =>
    hidden === undefined ? `&#${run.codePointAt(0)};` : mark(nameOf(run, hidden)),
  )
}

/** "U+202E", or "U+202E x9" for nine in a row. */
function nameOf(run: string, hidden: string): string {
  const point = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const times = run.length / hidden.length
  return times === 1 ? `U+${point}` : `U+${point} x${times}`
}

/** Where a page can hold no mark of ours, such as its title: the names of hidden characters as words. */
export const plainly = (text: string): string => text.replaceAll(HIDDEN_RUN, (run: string, hidden: string) => named(nameOf(run, hidden)))

/** JSON for a script block: no `<` that could end it, and ASCII. */
export function jsonMarkup(json: string): Html {
  return new Html(json.replaceAll(/[<>&\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`))
}

/** Our own style sheet. */
export const styleMarkup = (css: string): Html => new Html(css)
