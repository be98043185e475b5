/** The keyboard as a way around: a view says which strokes it means while it is shown. */
import { useEffect, useRef } from 'preact/hooks'
import { meant, opens, type KeyMap, type Stroke } from './strokes.ts'

const maps: KeyMap[] = []
let before: Stroke | null = null

/** Names are those of `KeyboardEvent.key`; a pair is written 'g s'. Nothing runs while somebody types, or while a dialog is open. */
export function useKeys(map: KeyMap): void {
  const newest = useRef(map)
  newest.current = map
  const names = Object.keys(map).join('\n')
  useEffect(() => {
    const live: KeyMap = Object.fromEntries(names.split('\n').map((name) => [name, () => newest.current[name]?.()]))
    if (maps.length === 0) addEventListener('keydown', onKey)
    maps.push(live)
    return () => {
      maps.splice(maps.indexOf(live), 1)
      if (maps.length === 0) removeEventListener('keydown', onKey)
    }
  }, [names])
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isDialogOpen()) return
  if (isTyping(event.target)) return leaveField(event)
  const stroke = { key: event.key, at: event.timeStamp }
  const run = meant(maps, before, stroke)
  before = run === null && opens(maps, event.key) ? stroke : null
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
