/** A word with a tone. The word alone must tell: the tone is for those who see it. */
import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

export function Badge({ tone, title, children }: { readonly tone: Tone; readonly title?: string; readonly children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  )
}
