/** Walks the links of a list: from the item that has the focus to its neighbour, from anywhere else to the first. */
export function moveFocus(list: HTMLElement | null, selector: string, by: number): void {
  const links = [...(list?.querySelectorAll<HTMLElement>(selector) ?? [])]
  const at = links.findIndex((link) => link.closest('li, tr')?.contains(document.activeElement) === true)
  links[at === -1 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus()
}
