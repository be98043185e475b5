/** Where there is nothing to show yet: what is missing, and how it would come. */
import type { ComponentChildren } from 'preact'

export function Empty({ title, hint }: { readonly title: string; readonly hint?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {hint !== undefined && <div>{hint}</div>}
    </div>
  )
}
