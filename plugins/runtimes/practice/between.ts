/** Pieces of a text between two marks, found in one pass: a pattern would take forever on a text full of opening marks. */

/** Every piece from an opening mark to the next closing one, marks included. */
export function piecesBetween(text: string, open: string, close: string): readonly string[] {
  const pieces: string[] = []
  let from = text.indexOf(open)
  while (from !== -1) {
    const to = text.indexOf(close, from + open.length)
    if (to === -1) break
    pieces.push(text.slice(from, to + close.length))
    from = text.indexOf(open, to + close.length)
  }
  return pieces
}

/** What is inside the first such element, or null. */
export function elementText(text: string, name: string): string | null {
  const [piece] = piecesBetween(text, `<${name}>`, `</${name}>`)
  return piece?.slice(name.length + 2, -(name.length + 3)).trim() ?? null
}
