/** Where the Tab key leads on a page. */
import type { Page } from 'playwright-core'

export interface Stop {
  readonly name: string
  /** Whether the focus is visible. */
  readonly isMarked: boolean
}

const HERE = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return null
  const { outlineStyle, outlineWidth } = getComputedStyle(at)
  return { name: at.textContent.trim(), isMarked: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 }
})()`

const STOPS_MAX = 200

/** All tab stops of the page. */
export async function tabStops(page: Page): Promise<readonly Stop[]> {
  const stops: Stop[] = []
  while (stops.length < STOPS_MAX) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate<Stop | null>(HERE)
    if (stop === null) return stops
    stops.push(stop)
  }
  return stops
}
