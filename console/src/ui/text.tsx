/** Stored text as it may be shown: characters that would reorder, hide or break what a person reads are written out by their number. */

/** Line feeds and tabs are layout. The joiner of emoji (U+200D) is left: it changes no order, and people's text is full of it. */
const UNSEEN = /(?![\n\t])\p{Cc}|\p{Cs}|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(UNSEEN, (character) => `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`)
}

/** Isolated, so that it cannot turn around what stands beside it. */
export function Text({ value, class: style }: { readonly value: string; readonly class?: string }) {
  return <bdi class={style}>{visible(value)}</bdi>
}
