/** Keyboard shortcuts: a view registers its keys while it is shown. A shortcut is one key, or two in a row. */
import { useLayoutEffect, useRef } from 'preact/hooks'

export type KeyMap = Readonly<Record<string, () => void>>

interface Stroke {
  readonly key: string
  /** Of the event, in milliseconds. */
  readonly at: number
}

const FOLLOWS_WITHIN_MS = 2500

const registered: KeyMap[] = []
let lastStroke: Stroke | null = null

/** Names are those of `KeyboardEvent.key`; a pair is written 'g s'. Nothing runs while somebody types, or while a dialog is open. */
export function useKeys(map: KeyMap): void {
  const newest = useRef(map)
  newest.current = map
  const names = Object.keys(map).join('\n')
  // Before the view is painted, so that no key of a person who sees it is lost.
  useLayoutEffect(() => {
    const live: KeyMap = Object.fromEntries(names.split('\n').map((name) => [name, () => newest.current[name]?.()]))
    if (registered.length === 0) addEventListener('keydown', onKey)
    registered.push(live)
    return () => {
      registered.splice(registered.indexOf(live), 1)
      if (registered.length === 0) removeEventListener('keydown', onKey)
    }
  }, [names])
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isDialogOpen()) return
  if (isTyping(event.target)) return leaveField(event)
  const stroke = { key: event.key, at: event.timeStamp }
  const run = meant(registered, lastStroke, stroke)
  lastStroke = run === null && opens(registered, event.key) ? stroke : null
  if (run === null) return
  event.preventDefault()
  run()
}

/** The one key that a field gives away: it leads out of it. */
function leaveField({ key, target }: KeyboardEvent): void {
  if (key === 'Escape' && target instanceof HTMLElement) target.blur()
}

/** A button or a link keeps its own keys; a field keeps all of them. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), select, textarea'))
  )
}

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null

/** The newest map wins, so that a panel answers before the view under it. Null: no map has this stroke. */
export function meant(maps: readonly KeyMap[], before: Stroke | null, stroke: Stroke): (() => void) | null {
  const isPair = before !== null && stroke.at - before.at <= FOLLOWS_WITHIN_MS
  return (isPair ? found(maps, `${before.key} ${stroke.key}`) : null) ?? found(maps, stroke.key)
}

/** Whether it may be the first of a pair. */
export const opens = (maps: readonly KeyMap[], key: string): boolean =>
  maps.some((map) => Object.keys(map).some((name) => name.startsWith(`${key} `)))

function found(maps: readonly KeyMap[], name: string): (() => void) | null {
  for (const map of maps.toReversed()) if (Object.hasOwn(map, name)) return map[name] ?? null
  return null
}

/** j, k and the arrows walk the links of a list: from the item that has the focus to its neighbour, from anywhere else to the first. */
export function useListKeys<T extends HTMLElement>(selector: string) {
  const list = useRef<T>(null)
  const move = (by: number) => (): void => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>(selector) ?? [])]
    const at = links.findIndex((link) => link.closest('li, tr')?.contains(document.activeElement) === true)
    links[at === -1 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus()
  }
  useKeys({ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) })
  return list
}
