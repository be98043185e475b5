/** The palette on Ctrl-K: every view, every scenario and a search, found by a few letters and opened with Enter. */
import { useEffect, useId, useState } from 'preact/hooks'
import type { ScenarioRow } from '@svc-ai/client'
import type { Route } from '../route.ts'
import { useModal } from './modal.ts'
import { choicesFor, type PaletteChoice } from './palette-choices.ts'
import { Text } from './text.tsx'
import './palette.css'

interface PaletteProps {
  readonly route: Route
  readonly scenarios: readonly ScenarioRow[]
  readonly onClose: () => void
}

/** Opens on Ctrl-K, or on the command key of a Mac, also while somebody types. */
export function usePalette(): readonly [isOpen: boolean, set: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      if (document.querySelector('dialog[open]') === null) setOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return [isOpen, setOpen]
}

export function Palette({ route, scenarios, onClose }: PaletteProps) {
  const { close, props } = useModal(onClose)
  const list = useId()
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const choices = choicesFor(words, route, scenarios)
  const chosen = Math.min(at, choices.length - 1)
  const take = (choice: PaletteChoice | undefined): void => {
    if (choice === undefined) return
    close()
    location.hash = choice.href
  }
  const walk = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    // Enter may end the writing of a word, as in Japanese.
    if (event.isComposing) return
    if (event.key === 'Enter') take(choices[chosen])
    else if (by !== undefined) setAt(Math.max(0, Math.min(choices.length - 1, chosen + by)))
    else return
    event.preventDefault()
  }
  return (
    <dialog {...props} class="palette" aria-label="Go to">
      <input
        role="combobox"
        aria-label="Where to"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={choices.length === 0 ? undefined : `${list}-${chosen}`}
        placeholder="A view, a scenario, or words to search for"
        autocomplete="off"
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={walk}
      />
      <ul id={list} role="listbox" aria-label="Places">
        {choices.map((choice, place) => (
          <li
            key={choice.href}
            id={`${list}-${place}`}
            role="option"
            aria-selected={place === chosen}
            onMouseMove={() => setAt(place)}
            onClick={() => take(choice)}
          >
            <Text value={choice.title} /> <Text value={choice.hint} class="muted small" />
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p class="muted">Nothing is called so.</p>}
    </dialog>
  )
}
