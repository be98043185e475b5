/** Pages with injection attacks: everything is shown as text, nothing runs, and the page stays usable. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { named, textAt } from '../spec/support/helpers.ts'
import { trainee, type Trainee } from '../spec/support/trainee.ts'
import type { World } from '../support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { ATTACKS, HOSTILE_FAILURE, HOSTILE_NAME, HOSTILE_RECORDS, HOSTILE_REQUEST, HOSTILE_TEXT, HOSTILE_WAIT } from './support/hostile.ts'
import { typeUntil } from './support/keyboard.ts'
import { expectScreensFit, expectNoSidewaysScroll } from './support/screens.ts'
import { openShop } from './support/world.ts'

const open = browserOfFile()
let here: World
let hostile: Trainee
/** The pages of requests, by their text. */
const requests = new Map<string, string>()
const requestIds = new Map<string, string>()
const HUGE_ID = 'ten-million-characters'
let versions: readonly JsonObject[]

beforeAll(async () => {
  here = await openShop(null)
  hostile = trainee(here, HOSTILE_NAME)
  await here.post('/svc/scenarios', { name: HOSTILE_NAME })
  await settled(HOSTILE_REQUEST)
  await settled(HOSTILE_FAILURE)
  await proposed()
  versions = await hostile.listed()
  for (const [id, [request_type, payload]] of Object.entries(HOSTILE_RECORDS)) await keep(id, request_type, payload)
  await keep(HUGE_ID, 'inference', {
    model: 'm',
    messages: [{ role: 'user', content: 'ten million letters '.repeat(500_000) }],
    response: {},
  })
  await hostile.reached(await ask(HOSTILE_WAIT), 'proposing')
})
afterAll(() => here.close())

async function keep(agent_record_id: string, request_type: string, payload: JsonObject): Promise<void> {
  const { status, text } = await here.post('/svc/records', { agent_record_id, request_type, payload }, named(HOSTILE_NAME))
  if (status !== 200) throw new Error(`the import of ${agent_record_id} answered ${status}: ${text}`)
}

async function ask(words: string): Promise<string> {
  const { json } = await here.post('/svc/train', { text: words, session: HOSTILE_TEXT, release_id: ATTACKS[0] }, named(HOSTILE_NAME))
  requests.set(words, `${here.address}${textAt(json, 'page_path')}`)
  requestIds.set(words, textAt(json, 'agent_record_id'))
  return textAt(json, 'agent_record_id')
}
const settled = async (words: string): Promise<JsonObject> => hostile.consumer(await ask(words))

/** Proposed by a malicious agent. */
async function proposed(): Promise<void> {
  const mutations = [{ op: 'create', id: 'thanks', options: { name: 'rules', config: { text: HOSTILE_TEXT } } }]
  await here.post('/svc/harness/proposals', { mutations, reason: HOSTILE_TEXT, session: ATTACKS[0], release_id: 'r' }, named(HOSTILE_NAME))
  const [, report] = await hostile.reported({ score: 0, feedback: HOSTILE_TEXT })
  await hostile.consumer(report)
}

/** Elements that pages never contain, and that no text may become. */
const STRANGE =
  'img, iframe, form, input, link, base, object, embed, template, a[href^="javascript:"], script:not([type="application/json"])'

async function expectTextsAlone(page: Page): Promise<void> {
  expect(await page.locator(STRANGE).count()).toBe(0)
  expect(await page.locator('style').count()).toBe(1)
  const shown = await page.locator('body').innerText()
  for (const attack of ATTACKS) expect(shown).toContain(attack)
  await expectNoSidewaysScroll(page)
  await page.setViewportSize({ width: 360, height: 800 })
  await expectNoSidewaysScroll(page)
}

const openVersion = (place: number) => open(`${here.address}${textAt(versions[place] ?? {}, 'page_path')}`)

describe('the page of a version', () => {
  it.each([
    ['that was asked for', 1],
    ['that failed', 2],
    ['that an agent proposed', 3],
  ])('%s shows every hostile text as text', async (_, place) => {
    const { page } = await openVersion(place)
    await expectTextsAlone(page)
    const row: unknown = JSON.parse((await page.locator('script').textContent()) ?? '')
    expect(row).toMatchObject({ release_id: versions[place]?.['release_id'] })
    await page.getByRole('link', { name: /Previous/ }).click()
    // The step before it may have made no release, and has no number then.
    await page.getByRole('heading', { name: new RegExp(`^Harness (?:v${place - 1}$|try of )`) }).waitFor()
  })

  it('names characters that would reorder the text instead of applying them', async () => {
    const { page } = await openVersion(1)
    const shown = await page.locator('body').innerText()
    expect(shown).toContain('U+202E')
    expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f]/)
    await expectScreensFit(page, 'version-hostile')
  })

  it('leaves out the rest of a very long text, and shows how much', async () => {
    const { page, answer } = await openVersion(1)
    expect(await page.locator('body').innerText()).toMatch(/characters? left out of this page/)
    expect((await answer?.body())?.length).toBeLessThan(400 * 1024)
  })
})

describe('the page of a request', () => {
  it.each([
    ['that is settled', HOSTILE_REQUEST],
    ['that failed', HOSTILE_FAILURE],
    ['whose step is under way', HOSTILE_WAIT],
  ])('%s shows every hostile text as text', async (_, words) => {
    const { page } = await open(requests.get(words) ?? '')
    await page.getByText('Where it came from').click()
    await expectTextsAlone(page)
  })
})

async function openConsole(...parts: readonly string[]): Promise<Page> {
  const { page } = await open(`${here.address}/console#/s/${[HOSTILE_NAME, ...parts].map(encodeURIComponent).join('/')}`)
  return page
}

describe('the console', () => {
  /** Elements that the console never contains, and that no text may become. */
  const FOREIGN = [
    'iframe, object, embed, base, style, form[action], meta[http-equiv], a[href^="javascript:"], a[href^="http"]',
    'script:not([src^="/console/"]), link:not([href^="/console/"]), img:not([src^="/console/"], [src^="data:image/"])',
    '[onerror], [onload], [onclick], [onfocus], [onmouseover], [srcdoc]',
  ].join(', ')

  async function expectTextsShown(page: Page): Promise<void> {
    for (const attack of ATTACKS) await expect.poll(() => page.locator('body').innerText()).toContain(attack)
    expect(await page.locator(FOREIGN).count()).toBe(0)
    expect(await page.locator('body').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    await page.setViewportSize({ width: 360, height: 800 })
    await expectNoSidewaysScroll(page)
  }

  it.each(Object.keys(HOSTILE_RECORDS))('shows %s of hostile texts as text, and as JSON', async (id) => {
    const page = await openConsole('traffic', id)
    const record = page.getByRole('region', { name: 'Record' })
    for (const fold of await record.locator('details').all()) await fold.evaluate((details) => details.setAttribute('open', ''))
    await expectTextsShown(page)
    await record.getByRole('button', { name: 'Raw JSON' }).click()
    await record.getByText('strangersCodeRan').first().waitFor()
    expect(await page.locator(FOREIGN).count()).toBe(0)
  })

  it.each([
    ['that was asked for', '1'],
    ['that failed', '2'],
    ['that an agent proposed', '3'],
  ])('shows a step %s in hostile words as text', async (_, place) => {
    await expectTextsShown(await openConsole('releases', place))
  })

  it('shows requests in hostile words as text, while they are worked on too', async () => {
    const page = await openConsole('ask', requestIds.get(HOSTILE_WAIT) ?? '')
    await page.getByRole('region', { name: 'Request', exact: true }).getByText('failed:').first().waitFor()
    await expectTextsShown(page)
  })

  it.each(['traffic', 'releases', 'training'])('shows %s of a hostile scenario, and the hostile name as a name', async (view) => {
    const page = await openConsole(view)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => page.title()).toContain(HOSTILE_NAME)
    expect(await page.locator(FOREIGN).count()).toBe(0)
    await typeUntil(page, 'gs', page.getByRole('link', { name: HOSTILE_NAME }).first())
    expect(await page.locator(FOREIGN).count()).toBe(0)
  })

  it('shows the first page with hostile requests, failures and names as text', async () => {
    const { page } = await open(`${here.address}/console`)
    await page.locator('.inbox-scenario').filter({ hasText: HOSTILE_NAME }).first().waitFor()
    await page
      .getByText(ATTACKS[0] ?? '')
      .first()
      .waitFor()
    expect(await page.locator(FOREIGN).count()).toBe(0)
    expect(await page.locator('body').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    await expectScreensFit(page, 'console-hostile-home')
  })

  it('fits its screens and is accessible with hostile content', async () => {
    const page = await openConsole('traffic', 'a-chat')
    await page
      .getByText(ATTACKS[0] ?? '')
      .first()
      .waitFor()
    await expectScreensFit(page, 'console-hostile')
  })

  it('opens ten million characters at their beginning, and stays usable', async () => {
    const page = await openConsole('traffic', HUGE_ID)
    const record = page.getByRole('region', { name: 'Record' })
    const more = record.getByRole('button', { name: /Show more/ })
    await more.waitFor()
    const shown = (): Promise<number> => record.innerText().then(({ length }) => length)
    const before = await shown()
    expect(before).toBeLessThan(100_000)
    await more.click()
    await expect.poll(shown).toBeGreaterThan(before)
    expect(await shown()).toBeLessThan(500_000)
    await record.getByRole('button', { name: 'Raw JSON' }).click()
    await expect.poll(shown).toBeLessThan(200_000)
    await typeUntil(page, 'gr', page.getByRole('heading', { level: 1, name: 'Releases' }))
  })
})
