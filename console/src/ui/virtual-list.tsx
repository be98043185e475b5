/** A list of any length: rows of one height, of which only those on the screen are drawn; walked with the keyboard like any grid. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from './keys.ts'
import { heightOf, scrollTopFor, windowAt, type Extent } from './window.ts'

interface VirtualListProps {
  /** The label of the list for screen readers. Row ids derive from it, so two lists of a page need two. */
  readonly label: string
  readonly count: number
  readonly columns: readonly string[]
  /** In pixels; a narrow list may need two lines for a row. */
  readonly rowHeight: (width: number) => number
  /** The cells of a row, one for each column. */
  readonly cells: (index: number) => readonly ComponentChildren[]
  readonly rowClass?: (index: number) => string
  readonly selected: number | null
  readonly onSelect: (index: number) => void
  readonly onOpen: (index: number) => void
  /** Which rows are on the screen, whenever that changes. */
  readonly onWindow: (first: number, end: number) => void
  readonly onTop: (isAtTop: boolean) => void
  /** A row to be brought onto the screen, once whenever another object is given. */
  readonly show: { readonly index: number } | null
}

const ROW_HEIGHT_BEFORE_MEASURED = 36

export function VirtualList(props: VirtualListProps) {
  const { label, count, columns, cells, selected, rowClass } = props
  const box = useRef<HTMLDivElement>(null)
  const [scrollTop, setScrollTop] = useState(0)
  const extent = useExtent(box, count, props.rowHeight)
  const { first, end, top } = windowAt(extent, scrollTop)
  const move = useMoves(props, box, extent)

  useEffect(() => props.onWindow(first, end), [first, end, count])
  useEffect(() => props.onTop(scrollTop < extent.rowHeight / 2), [scrollTop < extent.rowHeight / 2])
  useEffect(() => {
    if (props.show !== null) bringUp(box, extent, props.show.index)
  }, [props.show])

  const idOf = (index: number): string => `${label.replaceAll(/\W+/g, '-')}-${index}`
  const active = selected !== null && selected >= first && selected < end ? { 'aria-activedescendant': idOf(selected) } : {}
  const rows = Array.from({ length: end - first }, (_, at) => first + at)
  return (
    <div
      class="list"
      ref={box}
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      tabIndex={0}
      {...active}
      onKeyDown={move}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
    >
      <div class="list-head" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <span key={column} role="columnheader" class={`cell-${column.toLowerCase()}`}>
            {column}
          </span>
        ))}
      </div>
      <div class="list-body" role="rowgroup" style={{ height: `${heightOf(extent)}px` }}>
        <div role="presentation" style={{ transform: `translateY(${top}px)` }}>
          {rows.map((index) => (
            <div
              key={index}
              id={idOf(index)}
              role="row"
              class={`list-row ${rowClass?.(index) ?? ''}`}
              aria-rowindex={index + 2}
              aria-selected={index === selected}
              style={{ height: `${extent.rowHeight}px` }}
              onClick={(event) => openUnlessLink(event, () => props.onOpen(index))}
            >
              {cells(index).map((cell, at) => (
                <span key={columns[at]} role="gridcell" class={`cell-${columns[at]?.toLowerCase() ?? ''}`}>
                  {cell}
                </span>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

type Box = { readonly current: HTMLDivElement | null }

/** The size of the list as the page lays it out, without the head that stays in place. */
function useExtent(box: Box, count: number, rowHeight: VirtualListProps['rowHeight']): Extent {
  const [size, setSize] = useState({ rowHeight: ROW_HEIGHT_BEFORE_MEASURED, viewHeight: 0 })
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const measure = (): void => {
      const head = element.firstElementChild instanceof HTMLElement ? element.firstElementChild.offsetHeight : 0
      setSize({ rowHeight: rowHeight(element.clientWidth), viewHeight: Math.max(0, element.clientHeight - head) })
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { count, ...size }
}

function bringUp(box: Box, extent: Extent, index: number): void {
  if (box.current !== null) box.current.scrollTop = scrollTopFor(extent, box.current.scrollTop, index)
}

/** The keys of the list itself while it has the focus; j and k from anywhere. */
function useMoves({ count, selected, onSelect, onOpen }: VirtualListProps, box: Box, extent: Extent): (event: KeyboardEvent) => void {
  const to = (index: number): void => {
    if (count === 0) return
    const place = Math.min(Math.max(index, 0), count - 1)
    box.current?.focus({ preventScroll: true })
    onSelect(place)
    bringUp(box, extent, place)
  }
  const page = Math.max(1, Math.floor(extent.viewHeight / extent.rowHeight) - 1)
  const [next, previous] = [(by: number) => to(selected === null ? 0 : selected + by), (by: number) => to((selected ?? 0) - by)]
  const moves: Readonly<Record<string, () => void>> = {
    ArrowDown: () => next(1),
    ArrowUp: () => previous(1),
    PageDown: () => next(page),
    PageUp: () => previous(page),
    Home: () => to(0),
    End: () => to(count - 1),
    Enter: () => void (selected !== null && onOpen(selected)),
  }
  useKeys({ j: () => next(1), k: () => previous(1) })
  return (event) => {
    const move = event.target === box.current && !event.ctrlKey && !event.metaKey && !event.altKey ? moves[event.key] : undefined
    if (move === undefined) return
    event.preventDefault()
    move()
  }
}

function openUnlessLink(event: MouseEvent, open: () => void): void {
  if (event.target instanceof Element && event.target.closest('a, button') === null) open()
}
