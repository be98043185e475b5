/** What went wrong, in one line that says what to do; nothing while nothing did. */
import type { ComponentChildren } from 'preact'
import type { FailureNotice } from '../failure.ts'
import { Text } from './text.tsx'

export function Notice({ said, children }: { readonly said: FailureNotice | null; readonly children?: ComponentChildren }) {
  if (said === null) return null
  return (
    <p class="notice bad" role="alert">
      <Text value={said.line} />
      {children}
    </p>
  )
}

/** Where there is nothing to show yet: what is missing, and how it would come. */
export function Empty({ title, hint }: { readonly title: string; readonly hint?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {hint !== undefined && <div>{hint}</div>}
    </div>
  )
}
