/** Where keys lead on a page. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

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

/** Two keys belong together within seconds, which a busy machine may need for one: they are typed until they lead there. */
export async function typeUntil(page: Page, keys: string, shown: Locator): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    await page.keyboard.type(keys)
    return shown.isVisible()
  }
  await expect.poll(isThere, { interval: 500 }).toBe(true)
}

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
