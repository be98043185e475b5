/** A part of a view with a name of its own. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import './card.css'

interface CardProps {
  readonly title: string
  /** Beside the title. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

export function Card({ title, aside, children }: CardProps) {
  const id = useId()
  return (
    <section class="card stack tight" aria-labelledby={id}>
      <div class="row">
        <h2 id={id}>{title}</h2>
        <span class="spring" />
        {aside}
      </div>
      {children}
    </section>
  )
}
