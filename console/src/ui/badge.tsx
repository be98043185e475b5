/** A word with a tone. The word alone must be enough: the tone is not accessible to all. */
import type { ComponentChildren } from 'preact'
import type { RequestStatus } from '../../../src/presentation/index.ts'

interface BadgeProps {
  readonly tone: RequestStatus['tone']
  readonly title?: string
  readonly children: ComponentChildren
}

export function Badge({ tone, title, children }: BadgeProps) {
  return (
    <span class={`badge ${tone === 'busy' ? 'warn' : tone}`} title={title}>
      {children}
    </span>
  )
}
