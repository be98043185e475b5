/** The site of the documents in a real browser: readable, accessible, and searched by keys alone. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentPages } from '../../site/documents.ts'
import { sitePath } from '../../site/places.ts'
import { runCli } from '../../src/cli/program.ts'
import { fakeSurroundings } from '../../src/cli/testing/surroundings.ts'
import { until } from '../support/wait.ts'
import { browserOfFile } from './support/browser.ts'
import { tabStops } from './support/keyboard.ts'
import { axeProblems, expectNoSidewaysScroll, expectScreensFit, IS_SHORT } from './support/screens.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** One of each kind, and the ones with the widest tables. */
const FEW = ['docs/README.md', 'docs/clients.md', 'docs/extend/README.md']
/** Decisions look alike, and a page of two thousand rows takes axe more than a minute: these are examined in one look. */
const ALIKE = /^docs\/(?:decisions\/00(?!01)|conformance)/
const ALL = documentPages(ROOT)
const DOCUMENTS = IS_SHORT ? FEW : ALL.filter((page) => !ALIKE.test(page))
const ALIKE_DOCUMENTS = ALL.filter((page) => ALIKE.test(page)).filter((_page, place) => !IS_SHORT || place === 0)

/** A reference of a thousand rows takes axe a minute on a busy machine. */
const LARGE_PAGE_MS = 300_000

const browse = browserOfFile()
const surroundings = fakeSurroundings()
let root = ''
let ended: Promise<number>
beforeAll(async () => {
  ended = runCli(['docs', '--port', '0'], surroundings)
  await until(() => Promise.resolve(surroundings.printed.length > 0))
  root = surroundings.printed[0] ?? ''
})
afterAll(async () => {
  surroundings.signal('SIGTERM')
  await ended
})

const open = async (path: string): Promise<Page> => (await browse(root + path)).page
const results = (page: Page) => page.locator('#results a')

describe('every page', () => {
  it.each(DOCUMENTS)('%s fits its screens and is accessible', { timeout: LARGE_PAGE_MS }, async (path) => {
    const page = await open(sitePath(path))
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await expectScreensFit(page, `site-${path.replaceAll('/', '-')}`)
  })

  it.each(ALIKE_DOCUMENTS)('%s is accessible', { timeout: LARGE_PAGE_MS }, async (path) => {
    const page = await open(sitePath(path))
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await expectNoSidewaysScroll(page)
    expect(await axeProblems(page)).toEqual([])
  })

  it('has links that all lead somewhere', async () => {
    const page = await open('index.html')
    const links = await page.evaluate<readonly string[]>(`Array.from(document.querySelectorAll('#pages a'), ({ href }) => href)`)
    const files = globSync('**/*.html', { cwd: join(ROOT, 'dist/site') })
    expect(links.length).toBeGreaterThan(40)
    expect(links.map((link) => new URL(link).pathname.slice(1)).filter((link) => !files.includes(link))).toEqual([])
  })

  it('shows examples as code', async () => {
    await expectScreensFit(await open('source/examples/recipe/text-counter.ts.html'), 'site-example')
  })

  it('that is missing is a page with the search and all pages, at any depth', async () => {
    const { page } = await browse(`${root}a/b/c.html`, { expects: /404/ })
    await page.getByRole('heading', { name: 'No such page' }).waitFor()
    await expectScreensFit(page, 'site-missing')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Quickstart' }).click()
    await page.getByRole('heading', { name: 'Quickstart', level: 1 }).waitFor()
  })

  it('says where it is, on a telephone too', async () => {
    const { page } = await browse(`${root}evolution.html`, { width: 360 })
    await expectNoSidewaysScroll(page)
    await page.getByRole('link', { name: 'All pages' }).click()
    await page.locator('#pages [aria-current=page]').waitFor()
  })
})

describe('the search', () => {
  it('is reached, used and left by keys alone', async () => {
    const page = await open('guides/index.html')
    await page.keyboard.press('/')
    await page.keyboard.type('score against cost')
    await results(page).first().waitFor()
    await expectScreensFit(page, 'site-search')
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.closest("#results") !== null')).toBe(true)
    await page.keyboard.press('Escape')
    await page.locator('#results').waitFor({ state: 'hidden' })
    await page.keyboard.type('!')
    await results(page).first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/evolution\.html#score-against-cost-and-time$/)
  })

  it('says when it finds nothing, and runs nothing that is typed', async () => {
    const page = await open('index.html')
    await page.getByRole('searchbox').fill('<img src=x onerror=alert(1)> qqqq')
    await page.getByText('Nothing found').waitFor()
    expect(await page.locator('img[src=x]').count()).toBe(0)
  })

  it('says when its index cannot be loaded', async () => {
    const { page } = await browse(`${root}index.html`, { expects: /ERR_FAILED|Failed to load/ })
    await page.route('**/search-index.js', (route) => route.abort())
    await page.getByRole('searchbox').fill('harness')
    await page.getByText('could not be loaded').waitFor()
  })
})

it('the Tab key walks through a page with a visible focus', async () => {
  const stops = await tabStops(await open('quickstart.html'))
  expect(stops.length).toBeGreaterThan(8)
  expect(stops.filter(({ isMarked }) => !isMarked)).toEqual([])
})
