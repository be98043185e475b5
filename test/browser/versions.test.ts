/** The page of a version for every outcome of a step, in a browser. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { textAt } from '../spec/support/helpers.ts'
import { browserOfFile } from './support/browser.ts'
import { tabStops } from './support/keyboard.ts'
import { expectScreensFit, IS_SHORT } from './support/screens.ts'
import { PLAYS } from './support/script.ts'
import { openBrowserWorld, PLACES, SHOP, type BrowserWorld } from './support/world.ts'

const USUAL_PAGE_BYTES_MAX = 80 * 1024

const browse = browserOfFile()
let world: BrowserWorld
let rows: readonly JsonObject[]
beforeAll(async () => {
  world = await openBrowserWorld('a-token-of-the-shop')
  rows = await world.shop.listed()
})
afterAll(() => world.here.close())

/** With the page's key. */
const addressOf = (state: keyof typeof PLACES): string => `${world.here.address}${textAt(rows[PLACES[state]] ?? {}, 'page_path')}`

async function open(state: keyof typeof PLACES): Promise<Page> {
  const { page } = await browse(addressOf(state))
  return page
}

const USUAL_CARDS = ['Why', 'What changed', 'Result', 'Setup', 'Chain']
const ALL_CARDS = ['Why', 'Design', 'What changed', 'Review', 'Result', 'Setup', 'Chain']

/** What the pill says, words that this page has and others have not, and the cards. */
const STATES: readonly (readonly [state: keyof typeof PLACES, word: string, words: string, cards: readonly string[]])[] = [
  ['created', 'Published', 'created with', USUAL_CARDS],
  ['published', 'Published', PLAYS.published.words, ALL_CARDS],
  ['learned', 'Published', '+ - express: ', USUAL_CARDS],
  ['rejected', 'Not selected', 'Answer in one word.', USUAL_CARDS],
  ['promoted', `Promoted at step ${PLACES.promotion}`, 'Ask for the order number', ALL_CARDS.filter((card) => card !== 'Design')],
  ['skipped', 'No changes', 'no proposal', USUAL_CARDS],
  ['failed', 'No changes', PLAYS.failed.failure, USUAL_CARDS],
  ['promotion', 'Published', 'A person promoted', USUAL_CARDS],
  ['pending', 'Ready for review', 'night-bell', USUAL_CARDS],
  ['proposed', 'Not selected', 'People wait a long time', USUAL_CARDS],
  ['rollback', 'Published', 'A person put an earlier release back', USUAL_CARDS],
]

/** In the short form: between them they have every card, a step that made nothing, and one that waits for a person. */
const EXAMINED: ReadonlySet<string> = new Set(['created', 'published', 'failed', 'pending'])

/** Only releases are numbered; a step that made none is called by what it was and when. */
const titleOf = (place: number): RegExp =>
  NUMBERLESS.has(rows[place]?.['result']) ? /^Harness try of [\d-]+ [\d:]+ UTC$/ : new RegExp(`^Harness v${place}$`)
const NUMBERLESS: ReadonlySet<unknown> = new Set(['rejected', 'skipped', 'failed'])

describe.each(STATES)('the page of the version called %s', (state, word, words, cards) => {
  const place = PLACES[state]

  it('has its status, its cards in order, its row as JSON, links to pages alone with its key, and nothing that could run; it fits its screens and is accessible', async () => {
    const page = await open(state)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(titleOf(place))
    expect(await page.locator('.hero .pill').textContent()).toBe(word)
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(cards)
    expect(await page.getByRole('main').innerText()).toContain(words)
    const row: unknown = JSON.parse((await page.locator('script').textContent()) ?? '')
    expect(row).toMatchObject({ step: place, release_id: rows[place]?.['release_id'] })
    expect(await page.locator('script:not([type="application/json"])').count()).toBe(0)
    expect(await page.evaluate(ATTRIBUTES_THAT_ACT)).toEqual([])
    expect(await bytesOf(page)).toBeLessThan(USUAL_PAGE_BYTES_MAX)
    const hrefs = await page.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    const others = hrefs.filter((href) => href !== '#main').map((href) => new URL(href, world.here.address))
    expect(others.length).toBeGreaterThan(0)
    for (const { origin, pathname, search } of others) {
      expect(pathname).toMatch(/^\/svc\/harness\/(releases\/\d+|requests\/[^/]+)\/page$/)
      expect({ origin, search }).toEqual({ origin: world.here.address, search: new URL(page.url()).search })
    }
    if (!IS_SHORT || EXAMINED.has(state)) await expectScreensFit(page, `version-${state}`)
  })
})

const ATTRIBUTES_THAT_ACT = `[...document.querySelectorAll('*')]
  .flatMap((each) => each.getAttributeNames())
  .filter((name) => name === 'style' || name.startsWith('on'))`

const bytesOf = async (page: Page): Promise<number> => (await (await page.request.get(page.url())).body()).length

describe('from version to version', () => {
  it('Next and Previous lead from the first to the last and back, and end there', async () => {
    const page = await open('created')
    const steps = page.getByRole('navigation', { name: 'Steps' })
    for (let place = 1; place < rows.length; place += 1) {
      await steps.getByRole('link', { name: /Next/ }).click()
      await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toMatch(titleOf(place))
    }
    expect(await steps.getByRole('link').allTextContents()).toEqual(['Previous step'])
    for (let place = rows.length - 2; place >= 0; place -= 1) {
      await steps.getByRole('link', { name: /Previous/ }).click()
      await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toMatch(titleOf(place))
    }
    expect(await steps.getByRole('link').allTextContents()).toEqual(['Next step'])
  })

  it('the breadcrumb leads to the served version, whose own page has no such link', async () => {
    const page = await open('rejected')
    const way = page.getByRole('navigation', { name: 'Breadcrumb' })
    await way.getByRole('link', { name: 'Harness' }).click()
    await page.getByText('Currently served').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/svc/harness/releases/${PLACES.rollback}/page`)
    expect(await way.getByRole('link').count()).toBe(0)
  })

  it('the chain leads to the parent and to the children', async () => {
    const page = await open('learned')
    const chain = page.locator('section', { has: page.getByRole('heading', { name: 'Chain' }) })
    await chain.getByRole('link', { name: 'v1', exact: true }).click()
    await page.getByRole('heading', { name: 'Harness v1', exact: true }).waitFor()
    await chain
      .getByRole('listitem')
      .filter({ hasText: 'Child' })
      .getByRole('link', { name: `v${PLACES.learned}` })
      .click()
    await page.getByRole('heading', { name: `Harness v${PLACES.learned}`, exact: true }).waitFor()
  })

  it('a request leads to its page and back', async () => {
    const page = await open('published')
    await page.getByRole('link', { name: /request/i }).click()
    await page.getByRole('heading', { name: /^Harness request/ }).waitFor()
    await page.getByRole('link', { name: /v1/ }).first().click()
    await page.getByRole('heading', { name: 'Harness v1', exact: true }).waitFor()
  })
})

describe('by keyboard alone', () => {
  it('every link of a page is reached in reading order, with a visible focus', async () => {
    const page = await open('learned')
    const stops = await tabStops(page)
    expect(stops.map(({ name }) => name)).toEqual(
      await page.locator('a, summary, [tabindex="0"]').evaluateAll((all) => all.map((each) => (each.textContent ?? '').trim())),
    )
    expect(stops.filter(({ isMarked }) => !isMarked)).toEqual([])
  })

  it('the first stop skips to the content', async () => {
    const page = await open('learned')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.querySelector("main").contains(document.activeElement)')).toBe(true)
  })
})

describe('a page that cannot be shown', () => {
  it.each([
    ['key', 401, () => `${world.here.address}/svc/harness/releases/1/page?scenario=${SHOP}&key=0`],
    ['version', 404, () => addressOf('created').replace('releases/0', 'releases/999')],
    ['scenario', 401, () => addressOf('created').replace(`scenario=${SHOP}`, 'scenario=unknown')],
  ] as const)('because its %s is wrong gives the reason in a line, and what to do', async (wrong, status, address) => {
    const { page, answer } = await browse(address(), { expects: new RegExp(`status of ${status}`) })
    expect(answer?.status()).toBe(status)
    await page.getByText('Not shown').waitFor()
    await expectScreensFit(page, `refused-${wrong}`)
  })

  it(`of ${SHOP} is not cached, and its address is sent to no page it links to`, async () => {
    const { answer } = await browse(addressOf('published'))
    expect(answer?.headers()).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  })
})
