/** The page of a request, from the queue to its result, as a person with a browser follows it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { textAt } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import { browserOfFile } from './support/browser.ts'
import { tabStops } from './support/keyboard.ts'
import { expectScreensFit } from './support/screens.ts'
import { PLAYS, QUEUED_WORDS } from './support/script.ts'
import { openBrowserWorld, PLACES, type BrowserWorld } from './support/world.ts'

const browse = browserOfFile()
let world: BrowserWorld
let rows: readonly JsonObject[]
beforeAll(async () => {
  world = await openBrowserWorld('a-token-of-the-shop')
  rows = await world.shop.listed()
})
afterAll(() => world.here.close())

const addressOf = (id: string): string => `${world.here.address}${world.pages.get(id) ?? ''}`

async function open(id: string): Promise<Page> {
  const { page } = await browse(addressOf(id))
  return page
}

const requestAt = (state: keyof typeof PLACES): string => textAt(memberOf(rows[PLACES[state]], 'training_request'), 'id')
const headings = (page: Page): Promise<readonly string[]> => page.getByRole('heading', { level: 2 }).allTextContents()
const reloads = (page: Page): Promise<number> => page.locator('meta[http-equiv="refresh"]').count()
const stageShown = (page: Page): Promise<string | null> => page.locator('[aria-current="step"]').textContent()
/** The page stays unchanged while nothing new happens. */
const standStill = (page: Page): Promise<unknown> => page.route('**', (route) => route.fulfill({ status: 204 }))

describe('the page of a request that is not settled', () => {
  it('shows that it waits in the queue, and reloads by itself', async () => {
    const page = await open(world.queued)
    expect(await page.locator('.hero .pill').textContent()).toBe('Queued')
    expect(await headings(page)).toEqual(['Request', 'Progress'])
    expect(await page.getByRole('main').innerText()).toContain(QUEUED_WORDS)
    expect([await stageShown(page), await reloads(page)]).toEqual(['Received', 1])
    await standStill(page)
    await expectScreensFit(page, 'request-queued')
  })

  it('shows what its step does, the newest first, with failures marked', async () => {
    const page = await open(world.waiting)
    expect(await page.locator('.hero .pill').textContent()).toBe('Designing the change')
    expect(await headings(page)).toEqual(['Request', 'Progress', 'Activity'])
    const lines = await page
      .locator('section', { has: page.getByRole('heading', { name: 'Activity' }) })
      .getByRole('listitem')
      .allInnerTexts()
    const activity = PLAYS.waiting.activity.toReversed()
    expect(lines.length).toBe(activity.length)
    for (const [index, [, text, failed = false]] of activity.entries()) {
      expect(lines[index]).toContain(text)
      expect(lines[index]?.includes('Failed:')).toBe(failed)
    }
    expect([await stageShown(page), await reloads(page)]).toEqual(['Processing', 1])
    await standStill(page)
    await expectScreensFit(page, 'request-proposing')
  })
})

/** What the pill says, the cards, and what to do next. */
const SETTLED: readonly (readonly [state: keyof typeof PLACES, word: string, cards: readonly string[], next: string])[] = [
  ['published', 'Published', ['Request', 'Result', 'What changed', 'Review', 'Design'], 'svc-pi update'],
  ['rejected', 'Not selected', ['Request', 'Result', 'Proposed changes'], 'Rephrase it'],
  ['promoted', `Promoted at step ${PLACES.promotion}`, ['Request', 'Result', 'Proposed changes', 'Review'], 'svc-pi update'],
  ['skipped', 'No changes', ['Request', 'Result', 'Proposed changes'], 'Rephrase it'],
  ['failed', 'Failed', ['Request', 'Result', 'Proposed changes'], 'send it again'],
  ['pending', 'Ready for review', ['Request', 'Result', 'Proposed changes'], 'svc promote'],
]

describe('the page of a settled request', () => {
  it.each(SETTLED)('that ended as %s shows the outcome and what to do next, and reloads no more', async (state, word, cards, next) => {
    const page = await open(requestAt(state))
    expect(await page.locator('.hero .pill').textContent()).toBe(word)
    expect(await headings(page)).toEqual(cards)
    expect(await page.locator('section', { has: page.getByRole('heading', { name: 'Result' }) }).innerText()).toContain(next)
    expect([await stageShown(page), await reloads(page)]).toEqual([expect.stringContaining('Outcome'), 0])
    expect(await page.locator('script:not([type="application/json"])').count()).toBe(0)
    const search = new URL(page.url()).search
    const hrefs = await page.locator('a:not([href="#main"])').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    for (const href of hrefs) expect(href).toMatch(/^\/svc\/harness\/releases\/\d+\/page/)
    expect(hrefs.every((href) => href.endsWith(search))).toBe(true)
    await expectScreensFit(page, `request-${state}`)
  })

  it('leads to the page of its version, and by keyboard too', async () => {
    const page = await open(requestAt('pending'))
    expect((await tabStops(page)).filter(({ isMarked }) => !isMarked)).toEqual([])
    await page.getByRole('link', { name: `v${PLACES.pending}` }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `Harness v${PLACES.pending}`, exact: true }).waitFor()
  })
})

describe('a page left open', () => {
  it('shows the result by itself, and then reloads no more', async () => {
    const page = await open(world.waiting)
    const loads: string[] = []
    page.on('load', () => loads.push(page.url()))
    await world.openGate()
    await world.shop.consumer(world.waiting)
    await page.locator('.hero .pill', { hasText: /^(Ready for review|Published)$/ }).waitFor()
    expect(new Set(loads)).toEqual(new Set([addressOf(world.waiting)]))
    expect(await reloads(page)).toBe(0)
  })
})

describe('a page that cannot be shown', () => {
  it('of an unknown request says in a line that there is none, and what to do', async () => {
    const { page, answer } = await browse(addressOf(world.queued).replace(world.queued, 'unknown-request'), { expects: /status of 404/ })
    expect(answer?.status()).toBe(404)
    expect(await page.getByRole('main').innerText()).toContain('unknown-request')
  })

  it('of a deleted scenario says in a line that there is none, and what to do', async () => {
    const { page } = await browse(addressOf(requestAt('published')), { expects: /status of 404/ })
    await world.shop.remove()
    await page.reload()
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  })
})
