/** A number or a sentence with numbers, and what they mean: shown when the pointer rests on it, read out with it. */
import type { ComponentChildren } from 'preact'

export function Explained({ words, children }: { readonly words: string; readonly children: ComponentChildren }) {
  return (
    <span class="explained" title={words}>
      {children}
    </span>
  )
}
