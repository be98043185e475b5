/** The pictures of the console that the documents show. `npm run docs:pictures` writes them into docs/pictures; otherwise they are only looked at. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { browserOfFile } from './support/browser.ts'
import { HELPDESK, openBrowserWorld, PLACES, SHOP, type BrowserWorld } from './support/world.ts'

const FOLDER = join(import.meta.dirname, '..', '..', process.env['PICTURES'] === 'write' ? 'docs/pictures' : 'screenshots/pictures')
const SIZE = { width: 1120, height: 700 }
/** Text stays sharp at this one, and a picture has about forty kilobytes. */
const QUALITY = 70
const BYTES_MAX = 100_000

/** The name of each picture, its address, and words that are there once it has loaded everything. */
const PICTURES = [
  ['home', '#/', /shop/],
  ['traffic', `#/s/${HELPDESK}/traffic`, /shop-large/],
  ['releases', `#/s/${SHOP}/releases`, /Rolled back by a person/],
  ['decision', `#/s/${SHOP}/releases/${PLACES.pending}`, /night-bell/],
] as const

const browse = browserOfFile()
let world: BrowserWorld
beforeAll(async () => {
  world = await openBrowserWorld()
})
afterAll(() => world.here.close())

it.each(PICTURES)('%s is a small picture, in light and dark', async (name, way, words) => {
  const { page } = await browse(`${world.here.address}/console${way}`)
  await page.getByRole('main').filter({ hasText: words }).waitFor()
  mkdirSync(FOLDER, { recursive: true })
  for (const scheme of ['light', 'dark'] as const) {
    await page.setViewportSize(SIZE)
    await page.emulateMedia({ colorScheme: scheme })
    const picture = await pictureOf(page)
    expect(picture.subarray(8, 12).toString()).toBe('WEBP')
    expect(picture.length).toBeLessThan(BYTES_MAX)
    writeFileSync(join(FOLDER, `${name}${scheme === 'dark' ? '-dark' : ''}.webp`), picture)
  }
})

/** The browser writes this format, which playwright has no name for. */
async function pictureOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  return Buffer.from(data, 'base64')
}
