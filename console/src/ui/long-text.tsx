/** A text of any length: its beginning at once, the rest when asked for, and never so much at a time that the page stands still. */
import { whole } from '../../../src/presentation/index.ts'
import { useMemo, useState } from 'preact/hooks'
import { morePieces, piecesOf } from './cut.ts'
import { Text } from './text.tsx'

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
        <button type="button" class="button small" onClick={() => setCount(morePieces)}>
          Show more <span class="muted">{`${whole(shown)} of ${whole(value.length)} characters`}</span>
        </button>
      )}
    </div>
  )
}
