/** Views saved in this browser: open one, save what is shown, remove one. */
import { useState } from 'preact/hooks'
import { filtersOf, placeIn, plainHref } from '../../route.ts'
import { Button } from '../../ui/button.tsx'
import { Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import { keptFilters, NAME_CHARACTERS_MAX, removeView, savedViews, saveView } from './saved-views.ts'

export function ViewsMenu({ scenario }: { readonly scenario: string }) {
  const [views, setViews] = useState(() => savedViews(localStorage))
  const [name, setName] = useState('')
  const [isRefused, setRefused] = useState(false)
  const done = (isKept: boolean): void => {
    setRefused(!isKept)
    setViews(savedViews(localStorage))
  }
  const save = (event: Event): void => {
    event.preventDefault()
    if (name.trim() === '') return
    done(saveView(localStorage, { name: name.trim(), filters: filtersOf(location.hash) }))
    setName('')
  }
  return (
    <details class="fold traffic-views">
      <summary>{views.length === 0 ? 'Saved views' : `Saved views, ${views.length}`}</summary>
      <div class="stack tight">
        <ul class="row" aria-label="Saved views">
          {views.map((view) => (
            <li key={view.name} class="row">
              <a href={`${plainHref(placeIn(scenario, 'traffic'))}?${keptFilters(view.filters)}`}>
                <Text value={view.name} />
              </a>
              <Button onClick={() => done(removeView(localStorage, view.name))}>
                Remove<span class="hidden-visually"> {visible(view.name)}</span>
              </Button>
            </li>
          ))}
        </ul>
        <form class="row" onSubmit={save}>
          <input
            aria-label="Name of this view"
            placeholder="Name of this view"
            maxLength={NAME_CHARACTERS_MAX}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            autocomplete="off"
          />
          <button type="submit" class="button small">
            Save
          </button>
        </form>
        {isRefused && <p class="muted">This browser keeps nothing for this page. Copy the address instead.</p>}
      </div>
    </details>
  )
}
