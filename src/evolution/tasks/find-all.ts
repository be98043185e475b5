/** Finds many texts in many others in linear time. */

/**
 * The wanted texts, each of at least `length` characters, that occur in the other texts. A rolling hash looks up a few pieces of every wanted
 * text; only a text whose pieces all occur is searched for whole, and only until it is found. So crafted input cannot make it slow.
 */
export function findAll(wanted: readonly string[], length: number, texts: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>()
  const pieces = piecesOf(wanted, length)
  for (const text of texts) {
    const shown = shownIn(text, pieces, length)
    const meant = [...shown].flatMap((hash) => pieces.byRarest.get(hash) ?? [])
    for (const { whole, hashes } of meant)
      if (!found.has(whole) && hashes.every((hash) => shown.has(hash)) && text.includes(whole)) found.add(whole)
  }
  return found
}

const PIECES_PER_TEXT = 8

interface Wanted {
  readonly whole: string
  readonly hashes: readonly number[]
}
interface Pieces {
  readonly all: ReadonlySet<number>
  /** Each text by its rarest piece, since many tasks begin alike. */
  readonly byRarest: ReadonlyMap<number, readonly Wanted[]>
  /** A Bloom filter, since most positions hold no piece. */
  readonly filter: Uint8Array
}

function piecesOf(wanted: readonly string[], length: number): Pieces {
  const cut = wanted.map((whole) => ({ whole, hashes: hashesOf(whole, length) }))
  const sharers = Map.groupBy(
    cut.flatMap(({ hashes }) => hashes),
    (hash) => hash,
  )
  const rarityOf = (hash: number): number => sharers.get(hash)?.length ?? 0
  const rarest = ({ hashes }: Wanted): number => hashes.reduce((one, other) => (rarityOf(other) < rarityOf(one) ? other : one))
  const filter = new Uint8Array(FILTER_SIZE)
  for (const hash of sharers.keys()) filter[hash & (FILTER_SIZE - 1)] = 1
  return { all: new Set(sharers.keys()), byRarest: Map.groupBy(cut, rarest), filter }
}

/** Hashes of evenly spaced pieces. */
function hashesOf(text: string, length: number): readonly number[] {
  const last = text.length - length
  const starts = Array.from({ length: PIECES_PER_TEXT }, (_, n) => Math.floor((last * n) / (PIECES_PER_TEXT - 1)))
  return [...new Set(starts.map((start) => hashOf(text.slice(start, start + length))))]
}

const FILTER_SIZE = 1 << 20
const BASE = 0x01000193

/** The hashes of pieces that occur in the text. */
function shownIn(text: string, { all, filter }: Pieces, length: number): ReadonlySet<number> {
  const shown = new Set<number>()
  if (text.length < length || all.size === 0) return shown
  let leaving = 1
  for (let n = 1; n < length; n += 1) leaving = Math.imul(leaving, BASE)
  let hash = hashOf(text.slice(0, length))
  for (let end = length; ; end += 1) {
    if (filter[hash & (FILTER_SIZE - 1)] === 1 && all.has(hash)) shown.add(hash)
    if (end >= text.length) return shown
    hash = (Math.imul(hash - Math.imul(text.charCodeAt(end - length), leaving), BASE) + text.charCodeAt(end)) | 0
  }
}

function hashOf(piece: string): number {
  let hash = 0
  for (let n = 0; n < piece.length; n += 1) hash = (Math.imul(hash, BASE) + piece.charCodeAt(n)) | 0
  return hash
}
