/** A link to a page that may be shared, in a tab of its own; nothing where there is no page. */

interface PageLinkProps {
  readonly path: string | null
  readonly words: string
  /** What it is the page of, for screen readers. */
  readonly of?: string
  readonly class: string
}

export function PageLink({ path, words, of = '', class: style }: PageLinkProps) {
  if (path === null) return null
  return (
    <a class={style} href={path} target="_blank" rel="noopener noreferrer">
      {words} <span aria-hidden="true">↗</span>
      <span class="hidden-visually">{of}, opens in a new tab</span>
    </a>
  )
}
