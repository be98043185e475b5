/** HTML that is safe by its type: text becomes markup by being escaped and in no other way, and all of it is ASCII. */
import { shownParts } from '../kit/index.ts'

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

type Mark = (name: string) => string
const marked: Mark = (name) => `<i>${name}</i>`
const named: Mark = (name) => `[${name}]`

const escaped = (text: string, mark: Mark): string =>
  shownParts(text)
    .map((part) => (part.isHidden ? mark(part.text) : asciiOf(part.text)))
    .join('')

const asciiOf = (text: string): string => text.replaceAll(/[&<>"']|[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`)

/** JSON for a script block: no `<` that could end it, and ASCII. */
export function jsonMarkup(json: string): Html {
  return new Html(json.replaceAll(/[<>&\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`))
}

/** Our own style sheet. */
export const styleMarkup = (css: string): Html => new Html(css)
