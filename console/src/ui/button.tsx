/** Buttons, small unless their class says otherwise, and links to pages. */
import type { ComponentChildren } from 'preact'

interface ButtonProps {
  readonly onClick: () => void
  readonly class?: string
  readonly children: ComponentChildren
}

export function Button({ onClick, class: style = 'small', children }: ButtonProps) {
  return (
    <button type="button" class={`button ${style}`} onClick={onClick}>
      {children}
    </button>
  )
}

interface ToggleProps extends Omit<ButtonProps, 'onClick'> {
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
}

export function Toggle({ isOn, set, class: style = 'small', children }: ToggleProps) {
  return (
    <button type="button" class={`button ${style}`} aria-pressed={isOn} onClick={() => set(!isOn)}>
      {children}
    </button>
  )
}

interface PageLinkProps {
  readonly path: string | null
  readonly words: string
  /** What it is the page of, for screen readers. */
  readonly of?: string
  readonly class: string
}

/** A link to a page that may be shared, in a tab of its own; nothing where there is no page. */
export function PageLink({ path, words, of = '', class: style }: PageLinkProps) {
  if (path === null) return null
  return (
    <a class={style} href={path} target="_blank" rel="noopener noreferrer">
      {words} <span aria-hidden="true">↗</span>
      <span class="hidden-visually">{of}, opens in a new tab</span>
    </a>
  )
}
