/** The live traffic of a scenario: every record, newest first, with its key facts; one opens beside the list. */
import { counted } from '../../../../src/presentation/index.ts'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { go, SEARCH_FILTERS, useFilter, useFilters, placeIn } from '../../route.ts'
import { Button, Toggle } from '../../ui/button.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { useKeys } from '../../ui/keys.ts'
import { FirstRequest } from '../scenarios/first-request.tsx'
import { RecordPanel } from '../record/record.tsx'
import { searchOf } from './filters.ts'
import { TrafficFilters } from './traffic-filters.tsx'
import { TrafficList } from './traffic-list.tsx'
import { TrafficPlots } from './traffic-plots.tsx'
import { useTraffic, type RecordType, type LiveTraffic } from './use-traffic.ts'
import { ViewsMenu } from './views-menu.tsx'
import './traffic.css'

/** `id` is the record that is open. */
export function Traffic({ scenario, id }: { readonly scenario: string; readonly id: string | null }) {
  const chosen = useFilter('type')
  const type = TYPES.find(([each]) => each === chosen.value)?.[0] ?? null
  const [isPaused, setPaused] = useState(false)
  const [selected, setSelected] = useState<number | null>(null)
  const [show, setShow] = useState<{ readonly index: number } | null>(null)
  const main = useRef<HTMLDivElement>(null)
  const place = useFilter('at')
  const group = useFilter('group')
  const { values, choose } = useFilters(SEARCH_FILTERS)
  const isGrouped = group.value === 'session'
  const search = useMemo(() => searchOf(values, Date.now() / 1000), [JSON.stringify(values)])
  const isPart = type !== null || search !== null || isGrouped
  const traffic = useTraffic(scenario, { type, search, isGrouped }, isPaused)
  const { book } = traffic
  const index = selected === null ? null : book.indexOf(selected)
  const row = index === null ? null : book.at(index)
  const open = (recordId: string | null): void => go(placeIn(scenario, 'traffic', recordId))
  const jump = (wish: string): void => {
    const at = /^\d{1,12}$/.test(wish) ? book.indexOf(Number(wish)) : null
    if (at === null) return RECEIPT.test(wish) ? open(wish) : choose({ text: wish })
    setSelected(Number(wish))
    place.type(wish)
    return setShow({ index: at })
  }
  useStart(traffic, place.value, jump)
  const toTop = (): void => {
    place.type('')
    traffic.showUnseen()
    setShow({ index: 0 })
  }
  useKeys({ p: () => setPaused(!isPaused) })
  useReturn(main, id)
  const isCovered = useMedia('(max-width: 1000px)') && id !== null
  return (
    <div class={id === null ? 'traffic' : 'traffic has-record'}>
      <div class="traffic-main" ref={main} inert={isCovered}>
        <div class="row">
          <h1>Traffic</h1>
          <span class="muted number">{traffic.isOpen && !isPart && counted(book.count + book.unseen, 'record')}</span>
          <span class="spring" />
          <Search key={values.text} text={values.text} onSearch={jump} onClear={() => choose({ text: '' })} />
          <Toggle class="" isOn={isPaused} set={setPaused}>
            {isPaused ? 'Paused' : 'Pause'}
          </Toggle>
        </div>
        <Plots scenario={scenario} isPaused={isPaused} />
        <div class="row">
          <Types type={type} onType={(each) => chosen.choose(each ?? '')} />
          <Toggle isOn={isGrouped} set={(isOn) => group.choose(isOn ? 'session' : '')}>
            By session
          </Toggle>
          <TrafficFilters />
          <ViewsMenu scenario={scenario} />
        </div>
        <Notice said={traffic.said} />
        {traffic.waiting > 0 && <p class="muted">{counted(traffic.waiting, 'record')} cannot be found yet: they are still being read.</p>}
        {traffic.isOpen && book.count + book.unseen === 0 ? (
          <Empty
            title={search !== null ? 'Nothing was found' : isPart ? 'None of these yet' : 'No records yet'}
            hint={!isPart && <FirstRequest scenario={scenario} />}
          />
        ) : (
          <TrafficList
            key={JSON.stringify([type, search, isGrouped])}
            {...{ scenario, id, traffic, selected, show }}
            onSelect={setSelected}
            onNew={toTop}
          />
        )}
      </div>
      {id !== null && <RecordPanel scenario={scenario} id={id} row={row?.agent_record_id === id ? row : null} onClose={() => open(null)} />}
    </div>
  )
}

/** An address with the number of a record scrolls there once, when the list is known. */
function useStart({ isOpen, book }: Pick<LiveTraffic, 'isOpen' | 'book'>, place: string, jump: (wish: string) => void): void {
  const isPast = useRef(false)
  useEffect(() => {
    if (!isOpen || isPast.current) return
    isPast.current = true
    if (/^\d{1,12}$/.test(place) && book.indexOf(Number(place)) !== null) jump(place)
  }, [isOpen])
}

/** Closing a record moves the focus to the list before the next key can be pressed. */
function useReturn(main: { readonly current: HTMLElement | null }, id: string | null): void {
  const before = useRef(id)
  useLayoutEffect(() => {
    if (before.current !== null && id === null) main.current?.querySelector<HTMLElement>('[role=grid]')?.focus({ preventScroll: true })
    before.current = id
  }, [id])
}

/** A receipt of the service, or of a program that makes such ids. */
const RECEIPT = /^(?=.*\d)[\w.:-]{20,}$/

interface SearchProps {
  readonly text: string
  readonly onSearch: (wish: string) => void
  readonly onClear: () => void
}

function Search({ text, onSearch, onClear }: SearchProps) {
  const [wish, setWish] = useState(text)
  return (
    <form
      role="search"
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        if (wish.trim() !== '') onSearch(wish.trim())
        else if (text !== '') onClear()
      }}
    >
      <input
        data-filter
        aria-label="Search for words, or go to a receipt or to a record by its number"
        placeholder="Words, receipt or number"
        title={'"several words" in this order, begin* for a beginning, -without for none of it'}
        value={wish}
        onInput={(event) => setWish(event.currentTarget.value)}
        spellcheck={false}
        autocomplete="off"
      />
      {text !== '' && <Button onClick={onClear}>Clear</Button>}
    </form>
  )
}

/** Where the screen is small, they are there when asked for. */
function Plots(props: Parameters<typeof TrafficPlots>[0]) {
  const isSmall = useMedia('(max-width: 720px), (max-height: 700px)')
  const [isOpen, setOpen] = useState(false)
  if (!isSmall) return <TrafficPlots {...props} />
  return (
    <details class="fold" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Plots of the latest exchanges</summary>
      {isOpen && <TrafficPlots {...props} />}
    </details>
  )
}

const TYPES: readonly (readonly [type: RecordType | null, name: string])[] = [
  [null, 'All'],
  ['inference', 'Exchanges'],
  ['report', 'Reports'],
  ['train', 'Instructions'],
]

function Types({ type, onType }: { readonly type: RecordType | null; readonly onType: (type: RecordType | null) => void }) {
  return (
    <div class="row" role="group" aria-label="Which records">
      {TYPES.map(([each, name]) => (
        <Toggle key={name} isOn={type === each} set={() => onType(each)}>
          {name}
        </Toggle>
      ))}
    </div>
  )
}

/** Whether the screen matches, for what style sheets cannot decide. */
function useMedia(query: string): boolean {
  const [isSuch, setSuch] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const follow = (): void => setSuch(list.matches)
    follow()
    list.addEventListener('change', follow)
    return () => list.removeEventListener('change', follow)
  }, [query])
  return isSuch
}
