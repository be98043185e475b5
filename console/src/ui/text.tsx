/** Stored text as it may be shown: isolated, and of any length. */
import { useMemo, useState } from 'preact/hooks'
import { whole } from '../../../src/presentation/index.ts'
import { Button } from './button.tsx'
import { visible } from './visible.ts'

/** Isolated, so that it cannot turn around what stands beside it. */
export function Text({ value, class: style }: { readonly value: string; readonly class?: string }) {
  return <bdi class={style}>{visible(value)}</bdi>
}

const CHARACTERS_MAX = 400

/** The beginning of a text, where the whole of it stands elsewhere. */
export const shortened = (text: string, most = CHARACTERS_MAX): string => (text.length > most ? `${text.slice(0, most)} …` : text)

/** A text of any length: its beginning at once, the rest in steps that keep the page responsive. */
export function LongText({ value, mono = false }: { readonly value: string; readonly mono?: boolean }) {
  const [count, setCount] = useState(1)
  const pieces = useMemo(() => piecesOf(value, count), [value, count])
  const shown = pieces.reduce((sum, { length }) => sum + length, 0)
  return (
    <div class={mono ? 'long-text mono' : 'long-text'}>
      {pieces.map((piece, at) => (
        <div key={at} class="long-text-piece">
          <Text value={piece} />
        </div>
      ))}
      {shown < value.length && (
        <Button onClick={() => setCount(morePieces)}>
          Show more <span class="muted">{`${whole(shown)} of ${whole(value.length)} characters`}</span>
        </Button>
      )}
    </div>
  )
}

export const PIECE_CHARACTERS = 20_000
/** More pieces at once would slow the page down. */
const PIECES_PER_STEP_MAX = 64

/** The first pieces of a text, which together are its beginning; a piece ends with a line where it can, and never within a character. */
export function piecesOf(text: string, count: number): readonly string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length && pieces.length < count;) {
    const end = endOfPiece(text, from)
    pieces.push(text.slice(from, end))
    from = end
  }
  return pieces
}

/** How many pieces to show after another press: twice as many, so that a text of any length is reached in a few. */
export const morePieces = (count: number): number => count + Math.min(count, PIECES_PER_STEP_MAX)

function endOfPiece(text: string, from: number): number {
  const limit = from + PIECE_CHARACTERS
  if (limit >= text.length) return text.length
  const line = text.lastIndexOf('\n', limit - 1)
  if (line > from + PIECE_CHARACTERS / 2) return line + 1
  const isWithinCharacter = /[\udc00-\udfff]/.test(text[limit] ?? '')
  return isWithinCharacter ? limit - 1 : limit
}
