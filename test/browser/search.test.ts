/** Finding records in the console: words, filters, sessions, saved views, and what a record is connected to; by keys, on every screen, whatever it says. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { inference, named, rowsOf } from '../spec/support/helpers.ts'
import { sharedWorld } from '../support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { ATTACKS, HOSTILE_TEXT } from './support/hostile.ts'
import { tabStops } from './support/keyboard.ts'
import { expectScreensFit } from './support/screens.ts'

const open = browserOfFile()
const here = sharedWorld({ backend: 'memory' })
const MANY = 300

beforeAll(async () => {
  const records = [
    ...Array.from({ length: MANY }, (_, at) =>
      said(`p${at}`, `Where is parcel ${at}?`, 'On its way.', { session: `s${Math.floor(at / 3)}` }),
    ),
    said('refund', 'I want a refund for order 7', 'That is not possible.', { session: 'last', user: 'ann' }),
    said('thanks', 'Why not?', 'Here is your refund.', { session: 'last', user: 'ann' }),
    said('hostile', `refund ${HOSTILE_TEXT}`, HOSTILE_TEXT, { session: ATTACKS[0] ?? '', user: ATTACKS[1] ?? '' }),
    { agent_record_id: 'complaint', request_type: 'report', payload: { score: 0.1, references: ['refund'], feedback: 'rude and wrong' } },
  ]
  const { status, text } = await here.post('/svc/records/batch', { records }, named('shop'))
  if (status !== 200) throw new Error(`the import answered ${status}: ${text}`)
})

const said = (id: string, input: string, output: string, tags: JsonObject): JsonObject =>
  inference(id, {
    messages: [{ role: 'user', content: input }],
    metadata: { tags },
    response: {
      object: 'chat.completion',
      model: 'shop-large',
      choices: [{ message: { role: 'assistant', content: output } }],
      usage: { prompt_tokens: 7, completion_tokens: 9, cost: 0.0021 },
    },
  })

async function openTraffic(filters = '', width = 1280, expects?: RegExp): Promise<Page> {
  const { page } = await open(`${here.address}/console#/s/shop/traffic${filters}`, { width, ...(expects !== undefined && { expects }) })
  await page.getByRole('heading', { level: 1, name: 'Traffic' }).waitFor()
  return page
}

const grid = (page: Page) => page.getByRole('grid', { name: 'Records' })
const rows = (page: Page) => grid(page).locator('.list-row')
const row = (page: Page, words: string | RegExp) => rows(page).filter({ hasText: words })
const panel = (page: Page) => page.getByRole('region', { name: 'Record' })
const box = (page: Page) => page.getByRole('search').getByRole('textbox')
const ids = (page: Page) =>
  rows(page)
    .locator('.cell-content a[title]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('title')))

async function searchFor(page: Page, words: string): Promise<void> {
  await box(page).fill(words)
  await box(page).press('Enter')
}

describe('the list', () => {
  it('shows what was asked and answered, tags, cost and score', async () => {
    const page = await openTraffic()
    const refund = row(page, 'I want a refund')
    await refund.filter({ hasText: 'That is not possible.' }).filter({ hasText: 'user:ann' }).filter({ hasText: '0.0021' }).waitFor()
    await refund.filter({ hasText: '0.1' }).waitFor()
    await row(page, 'rude and wrong').waitFor()
    await expectScreensFit(page, 'console-traffic-content')
  })
})

describe('a search', () => {
  it('finds records by their words, is in the address, and is cleared again', async () => {
    const page = await openTraffic()
    await row(page, 'Where is parcel').first().waitFor()
    await searchFor(page, 'refund -hostile "not possible"')
    await expect.poll(() => ids(page)).toEqual(['refund'])
    expect(new URL(page.url()).hash).toContain('text=refund')
    await page.reload()
    await expect.poll(() => ids(page)).toEqual(['refund'])
    expect(await box(page).inputValue()).toBe('refund -hostile "not possible"')
    await searchFor(page, 'nothing-like-it')
    await page.getByRole('heading', { name: 'Nothing was found' }).waitFor()
    await page.goBack()
    await expect.poll(() => ids(page)).toEqual(['refund'])
    await page.getByRole('search').getByRole('button', { name: 'Clear' }).click()
    await row(page, 'Where is parcel').first().waitFor()
  })

  it('by keys alone finds a bad answer and opens it in four actions', async () => {
    const page = await openTraffic()
    await row(page, 'Where is parcel').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('"not possible"')
    await page.keyboard.press('Enter')
    await expect.poll(() => ids(page)).toEqual(['refund'])
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await panel(page).getByText('I want a refund for order 7').waitFor()
  })

  it('is narrowed by filters, each with the others, and by Clear all by none', async () => {
    const page = await openTraffic('?text=refund')
    await expect.poll(() => ids(page)).toEqual(['hostile', 'thanks', 'refund'])
    await page.getByText('Filters', { exact: true }).click()
    await page.getByLabel('Tag').fill('user:ann')
    await page.getByLabel('Tag').press('Enter')
    await expect.poll(() => ids(page)).toEqual(['thanks', 'refund'])
    await page.getByLabel('Highest score').fill('0.5')
    await page.getByLabel('Highest score').press('Enter')
    await expect.poll(() => ids(page)).toEqual(['refund'])
    await page.getByLabel('Stored').selectOption('the last hour')
    await page.getByLabel('Answer').selectOption('broken off')
    await page.getByRole('heading', { name: 'Nothing was found' }).waitFor()
    await expectScreensFit(page, 'console-traffic-filters')
    await page.getByRole('button', { name: 'Clear all' }).click()
    await row(page, 'Where is parcel').first().waitFor()
  })

  it('keeps what is typed while records come in', async () => {
    const page = await openTraffic('?text=nobody-said-this&tag=user:cleo')
    await page.getByLabel('Least score').fill('0.5')
    await here.post('/svc/records', said('cleo', 'nobody-said-this', 'Nor that', { user: 'cleo' }), named('shop'))
    await expect.poll(() => ids(page)).toEqual(['cleo'])
    expect(await page.getByLabel('Least score').inputValue()).toBe('0.5')
  })

  it('reads older pages while one scrolls', async () => {
    const page = await openTraffic('?text=parcel')
    await row(page, `Where is parcel ${MANY - 1}?`).waitFor()
    const toEnd = async (): Promise<number> => {
      await grid(page).evaluate((list) => {
        list.scrollTop = list.scrollHeight
      })
      return row(page, 'Where is parcel 0?').count()
    }
    await expect.poll(toEnd).toBe(1)
  })

  it('shows what comes in and fits', async () => {
    const page = await openTraffic('?text=umbrella')
    await page.getByRole('heading', { name: 'Nothing was found' }).waitFor()
    await here.post('/svc/records', said('late', 'An umbrella, please', 'Here', {}), named('shop'))
    await expect.poll(() => ids(page)).toEqual(['late'])
  })
})

describe('sessions', () => {
  it('are a row each, which leads to their exchanges', async () => {
    const page = await openTraffic()
    await page.getByRole('button', { name: 'By session' }).click()
    await row(page, 'Why not?').filter({ hasText: '2 exchanges' }).waitFor()
    expect(await row(page, 'I want a refund').count()).toBe(0)
    await row(page, 'Why not?').getByRole('link', { name: '2 exchanges' }).click()
    await expect.poll(() => ids(page)).toEqual(['thanks', 'refund'])
    await expectScreensFit(page, 'console-traffic-session')
  })
})

describe('a saved view', () => {
  it('is kept in the browser, opened by a link and removed', async () => {
    const page = await openTraffic('?tag=user%3Aann&highest=0.5')
    await expect.poll(() => ids(page)).toEqual(['refund'])
    await page.getByText('Saved views', { exact: true }).click()
    const name = `bad ${ATTACKS[0] ?? ''}`.slice(0, 60)
    await page.getByLabel('Name of this view').fill(name)
    await page.getByLabel('Name of this view').press('Enter')
    await page.getByRole('list', { name: 'Saved views' }).getByRole('link').waitFor()
    await page.goto(`${here.address}/console#/s/shop/traffic`)
    await page.reload()
    await row(page, 'Where is parcel').first().waitFor()
    await page.getByText('Saved views, 1').click()
    await page.getByRole('list', { name: 'Saved views' }).getByRole('link').click()
    await expect.poll(() => ids(page)).toEqual(['refund'])
    await page.getByRole('button', { name: /^Remove/ }).click()
    await page.getByRole('list', { name: 'Saved views' }).getByRole('link').waitFor({ state: 'detached' })
    await expectScreensFit(page, 'console-traffic-views')
  })
})

describe('a record', () => {
  it('shows its tags, its reports and its neighbours in the session', async () => {
    const page = await openTraffic('/refund')
    await panel(page).getByText('user:ann').waitFor()
    await panel(page).getByRole('list', { name: 'Reports on this exchange' }).getByText('rude and wrong').waitFor()
    await expectScreensFit(page, 'console-record-connected')
    await panel(page).getByRole('link', { name: 'Later' }).click()
    await panel(page).getByText('Why not?').waitFor()
    await panel(page).getByRole('link', { name: 'Earlier' }).click()
    await panel(page).getByText('I want a refund for order 7').waitFor()
  })

  it('is scored by a person, which is a report like any other', async () => {
    const page = await openTraffic('/p7')
    await panel(page).getByRole('button', { name: 'Bad' }).click()
    await panel(page).getByRole('button', { name: 'Bad', pressed: true }).waitFor()
    await panel(page).getByRole('list', { name: 'Reports on this exchange' }).getByText('Score 0').waitFor()
    const reports = rowsOf(await here.get('/svc/scenarios/shop/search?quotes=p7'), 'records')
    expect(reports).toMatchObject([{ request_type: 'report', score: 0, references: ['p7'] }])
  })

  it('is exported as a file', async () => {
    const page = await openTraffic('/refund')
    const download = page.waitForEvent('download')
    await panel(page).getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toBe('refund.json')
  })
})

describe('hostile content', () => {
  it.each([360, 1600])('is shown as text at %i pixels, and harms nothing', async (width) => {
    const page = await openTraffic('?text=refund', width)
    await row(page, '<img src=x').waitFor()
    await row(page, '<img src=x').first().click()
    await panel(page).getByText('<script>').first().waitFor()
    expect(await page.locator('img[src="x"], iframe, form[action]').count()).toBe(0)
  })

  it.each([
    '?text=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E',
    `?text=${'w'.repeat(5000)}`,
    '?tag=nonsense&least=1e999&highest=__proto__&since=constructor&status=%00&group=%3Cscript%3E',
    '?model=%E0%A4%A&release=../../x',
  ])('in the address harms nothing: %s', async (filters) => {
    const page = await openTraffic(filters.slice(0, 5200), 1280, /status of 400/)
    await page.getByRole('main').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('img[src="x"]').count()).toBe(0)
  })
})

it('every control has a visible focus', async () => {
  const page = await openTraffic('?tag=user%3Aann')
  await row(page, 'Why not?').waitFor()
  const stops = await tabStops(page)
  expect(stops.length).toBeGreaterThan(12)
  expect(stops.filter(({ isMarked }) => !isMarked)).toEqual([])
})

it('a service that cannot search says so, and lists its records', async () => {
  const page = await openTraffic('', 1280, /status of 501/)
  const error = { message: 'this store cannot search', type: 'api_error', code: 'search_unsupported' }
  await page.route('**/search?*', (route) =>
    route.fulfill({ status: 501, contentType: 'application/json', body: JSON.stringify({ error }) }),
  )
  await row(page, 'Where is parcel').first().waitFor()
  await searchFor(page, 'refund')
  await page.getByRole('alert').filter({ hasText: 'this store cannot search' }).waitFor()
  await page.getByRole('search').getByRole('button', { name: 'Clear' }).click()
  await row(page, 'Where is parcel').first().waitFor()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})
