/** Which rows of a long list are on the screen, and where they lie: arithmetic alone, so that a million rows cost what forty do. */

/** Browsers draw no box of more than some 17 million pixels; beyond this the scroll bar stands for more rows than it has pixels. */
export const HEIGHT_MAX = 8_000_000
/** Rows drawn beyond each edge, so that a quick scroll shows no gap. */
const SPARE_ROWS = 8

export interface Extent {
  readonly count: number
  readonly rowHeight: number
  readonly viewHeight: number
}

export const heightOf = ({ count, rowHeight }: Extent): number => Math.min(count * rowHeight, HEIGHT_MAX)

/** The first row drawn, the one after the last, and where the first one lies in the box that scrolls. */
export function windowAt(extent: Extent, scrollTop: number) {
  const { count, rowHeight, viewHeight } = extent
  const place = placeAt(extent, scrollTop)
  const first = clamp(Math.floor(place) - SPARE_ROWS, 0, count)
  const end = clamp(Math.ceil(place + viewHeight / rowHeight) + SPARE_ROWS, first, count)
  return { first, end, top: scrollTop - (place - first) * rowHeight }
}

/** Where to scroll so that the row is whole on the screen, moving no further than that takes. */
export function scrollTopFor(extent: Extent, scrollTop: number, index: number): number {
  const visibleRows = extent.viewHeight / extent.rowHeight
  const place = placeAt(extent, scrollTop)
  if (index < place) return scrollTopOf(extent, index)
  if (index + 1 > place + visibleRows) return scrollTopOf(extent, index + 1 - visibleRows)
  return scrollTop
}

/** The row at the upper edge, with fraction. */
function placeAt(extent: Extent, scrollTop: number): number {
  const range = heightOf(extent) - extent.viewHeight
  return range <= 0 ? 0 : (clamp(scrollTop, 0, range) / range) * placeMax(extent)
}

function scrollTopOf(extent: Extent, place: number): number {
  const range = heightOf(extent) - extent.viewHeight
  return range <= 0 ? 0 : (clamp(place, 0, placeMax(extent)) / placeMax(extent)) * range
}

/** The row at the upper edge when the last one is at the lower. */
const placeMax = ({ count, rowHeight, viewHeight }: Extent): number => Math.max(count - viewHeight / rowHeight, 0)

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)
