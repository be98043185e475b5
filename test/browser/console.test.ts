/** The console, view by view: each opens by its link and by keys alone, shows what the service knows, and follows what happens. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { typeCommand } from '../../src/cli/testing/surroundings.ts'
import { named, textAt } from '../spec/support/helpers.ts'
import { browserOfFile, stepLink } from './support/browser.ts'
import { tabStops, typeUntil } from './support/keyboard.ts'
import { expectScreensFit, IS_SHORT } from './support/screens.ts'
import { PLAYS } from './support/script.ts'
import { HELPDESK, openBrowserWorld, PLACES, SHOP, type BrowserWorld } from './support/world.ts'

const browse = browserOfFile()
let world: BrowserWorld
beforeAll(async () => {
  world = await openBrowserWorld()
})
afterAll(() => world.here.close())

async function open(way = '#/', expects?: RegExp): Promise<Page> {
  const { page } = await browse(`${world.here.address}/console${way}`, expects === undefined ? {} : { expects })
  await heading(page).waitFor()
  return page
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const records = (page: Page) => page.getByRole('grid', { name: 'Records' })
const panel = (page: Page) => page.getByRole('region', { name: 'Record' })
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const pressed = (page: Page, name: string) => page.getByRole('button', { name, pressed: true })
const reports = (page: Page) => records(page).getByRole('row').filter({ hasText: 'report' })

const record = (at: number): string => `#/s/${HELPDESK}/traffic/${world.conversations[at] ?? ''}`

/** The name of each view, its address, its heading, and words that are there once it has loaded everything. */
const VIEWS: readonly (readonly [name: string, way: () => string, heading: RegExp, words: RegExp])[] = [
  ['home', () => '#/', /^Home$/, /Waiting for your decision/],
  ['scenarios', () => '#/scenarios', /^Scenarios$/, /helpdesk/],
  ['traffic', () => `#/s/${HELPDESK}/traffic`, /^Traffic$/, /shop-large/],
  ['record-chat', () => record(1), /^Traffic$/, /It is in Hamburg/],
  ['record-messages', () => record(3), /^Traffic$/, /one size larger/],
  ['record-responses', () => record(5), /^Traffic$/, /exchange a coat/],
  ['releases', () => `#/s/${SHOP}/releases`, /^Releases$/, /Rolled back by a person/],
  ['release-published', () => `#/s/${SHOP}/releases/${PLACES.published}`, /^v1$/, /Please tell customers how refunds work/],
  ['release-learned', () => `#/s/${SHOP}/releases/${PLACES.learned}`, /^v2$/, /evidence/i],
  ['release-pending', () => `#/s/${SHOP}/releases/${PLACES.pending}`, /^v9$/, /night-bell/],
  ['ask', () => `#/s/${SHOP}/ask`, /^Ask/, /Greet customers in their own language/],
  ['ask-followed', () => `#/s/${SHOP}/ask/${world.waiting}`, /^Ask/, /writes the change/],
  ['training', () => `#/s/${SHOP}/training`, /^Training$/, /Requests waiting/],
  ['tasks', () => `#/s/${SHOP}/tasks`, /^Tasks$/, /are used|tasks_dir/],
  ['settings', () => `#/s/${SHOP}/settings`, /^Settings$/, /Steps in all/],
  ['configuration', () => '#/configuration', /^Configuration$/, /svc\.port/],
  ['storage', () => '#/storage', /^Storage/, /helpdesk/],
]

/** In the short form one record and one release stand for the others, which hold other contents in the same view. */
const EXAMINED = VIEWS.filter(
  ([name]) => !IS_SHORT || !['record-messages', 'record-responses', 'release-published', 'release-pending'].includes(name),
)

/** The recipe names its tasks itself, so there is no folder to list. */
const NO_FOLDER = /status of 404/

describe('every view', () => {
  it.each(EXAMINED)(
    '%s opens by its address, the Tab key walks through it with a visible focus, it fits its screens and is accessible',
    async (name, way, title, words) => {
      const page = await open(way(), name === 'tasks' ? NO_FOLDER : undefined)
      await page.getByRole('main').filter({ hasText: words }).waitFor()
      expect(await heading(page).textContent()).toMatch(title)
      expect(await page.getByRole('alert').allTextContents()).toEqual([])
      const stops = await tabStops(page)
      expect(stops.length).toBeGreaterThan(8)
      expect(stops.filter(({ isMarked }) => !isMarked)).toEqual([])
      await expectScreensFit(page, `console-${name}`)
    },
  )

  it('shows the workers on other machines, what waits, and the last hour', async () => {
    const taking = new AbortController()
    void fetch(`${world.here.address}/svc/fleet/take`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ worker: 'machine one', plays: ['x'], slots: 3 }),
      signal: taking.signal,
    }).catch(() => undefined)
    const page = await open('#/storage')
    const row = page.getByRole('row').filter({ hasText: 'machine one' })
    await row.filter({ hasText: '0 of 3' }).waitFor()
    await page.getByText('nothing was played').waitFor()
    taking.abort()
  })

  it('is reached by links from the first page', async () => {
    const page = await open('#/', NO_FOLDER)
    await page.getByRole('link', { name: 'Scenarios', exact: true }).click()
    await page.getByRole('link', { name: SHOP }).first().click()
    const views = page.getByRole('navigation', { name: 'Views' })
    for (const name of [
      'Traffic',
      'Releases',
      'Ask',
      'Training',
      'Tasks',
      'Settings',
      'Storage',
      'Access',
      'Configuration',
      'Scenarios',
      'Home',
    ]) {
      await views.getByRole('link', { name, exact: true }).click()
      await heading(page).filter({ hasText: name }).waitFor()
      expect(await views.locator('[aria-current="page"]').textContent()).toBe(name)
      await expect.poll(() => page.title()).toContain(name)
    }
  })

  it('is in the history of the browser like any page', async () => {
    const page = await open(`#/s/${SHOP}/releases`)
    await stepLink(page, 'v2').click()
    await heading(page).filter({ hasText: 'v2' }).waitFor()
    await page.goBack()
    await heading(page).filter({ hasText: 'Releases' }).waitFor()
    await page.goForward()
    await heading(page).filter({ hasText: 'v2' }).waitFor()
  })

  it('is there on a telephone, behind one button', async () => {
    const { page } = await browse(`${world.here.address}/console#/s/${SHOP}/traffic`, { width: 360 })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Releases' }).click()
    await heading(page).filter({ hasText: 'Releases' }).waitFor()
  })
})

describe('by keyboard alone', () => {
  it('two keys lead to each view, and one lists them', async () => {
    const page = await open(`#/s/${SHOP}/traffic`)
    for (const [keys, name] of [
      ['gr', 'Releases'],
      ['ga', 'Ask'],
      ['gn', 'Training'],
      ['ge', 'Settings'],
      ['gx', 'Access'],
      ['gc', 'Configuration'],
      ['go', 'Storage'],
      ['gs', 'Scenarios'],
      ['gh', 'Home'],
      ['gt', 'Traffic'],
    ] as const) {
      await typeUntil(page, keys, heading(page).filter({ hasText: name }))
    }
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await expectScreensFit(page, 'console-keys')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('a record is found, opened and closed again', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic`)
    await records(page).getByRole('row').nth(3).waitFor()
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
    await panel(page).waitFor()
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.matches("[data-filter]")')).toBe(true)
    await page.keyboard.type('grga')
    await heading(page).filter({ hasText: 'Traffic' }).waitFor()
  })

  it('a step is found, opened and left again', async () => {
    const page = await open(`#/s/${SHOP}/releases`)
    await stepLink(page, 'v2').waitFor()
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
    // What was proposed then was not selected, so it has no number.
    await heading(page).filter({ hasText: 'try of' }).waitFor()
    await page.keyboard.press('Escape')
    await heading(page).filter({ hasText: 'Releases' }).waitFor()
  })
})

describe('home', () => {
  it('lists what waits for a decision, which leads to the release', async () => {
    const page = await open()
    const decisions = section(page, 'Waiting for your decision')
    await decisions.getByRole('listitem').filter({ hasText: SHOP }).filter({ hasText: PLAYS.pending.words }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await heading(page)
      .filter({ hasText: `v${PLACES.pending}` })
      .waitFor()
  })

  it('says what failed and how to fix it, and tells a review from traffic that is waited for', async () => {
    const page = await open()
    const failure = section(page, 'Failed').getByRole('listitem').filter({ hasText: PLAYS.failed.failure })
    await failure.getByText(/ask again/).waitFor()
    await failure.getByRole('link', { name: PLAYS.failed.words }).waitFor()
    expect(await section(page, 'Waiting for traffic').getByText(PLAYS.pending.words).count()).toBe(0)
    await section(page, 'Working now').getByRole('link', { name: PLAYS.waiting.words }).waitFor()
  })

  it('says what the week improved, by how much, and what it took', async () => {
    const page = await open()
    const row = section(page, 'This week').getByRole('row').filter({ hasText: SHOP })
    await row.getByText('0.167 → 0.25').waitFor()
    expect(await row.innerText()).toContain('+0.083')
  })
})

describe('traffic', () => {
  it('appears without a reload of the page', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic`)
    await records(page).getByRole('row').nth(3).waitFor()
    await page.evaluate('globalThis.samePage = true')
    const { headers } = await world.here.post('/v1/chat/completions', { model: 'just-now', messages: [] }, named(HELPDESK))
    await records(page)
      .getByRole('row')
      .filter({ hasText: 'just-now' })
      .or(records(page).locator(`a[title="${String(headers['x-svc-agent-record-id'])}"]`))
      .first()
      .waitFor()
    expect(await page.evaluate('globalThis.samePage')).toBe(true)
  })

  it('stops while it is paused, and goes on afterwards', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic`)
    await records(page).getByRole('row').nth(3).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    const { headers } = await world.here.post('/v1/chat/completions', { model: 'm', messages: [] }, named(HELPDESK))
    const row = records(page).locator(`a[title="${String(headers['x-svc-agent-record-id'])}"]`)
    await page.getByRole('button', { name: 'Paused' }).click()
    await row.waitFor()
  })

  it('is narrowed to reports, which lead to what they quote', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic`)
    await page.getByRole('group', { name: 'Which records' }).getByRole('button', { name: 'Reports' }).click()
    await expect.poll(() => reports(page).count()).toBe(2)
    await reports(page).first().click()
    await panel(page).getByText('dry').waitFor()
    await panel(page)
      .locator(`a[title="${world.conversations[1] ?? ''}"]`)
      .click()
    await panel(page).getByText('It is in Hamburg and comes tomorrow.').waitFor()
  })
})

describe('what a view is narrowed to', () => {
  it('stays when the page is reloaded, is in the history of the browser, and is part of the link', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic`)
    await page.getByRole('button', { name: 'Reports' }).click()
    await expect.poll(() => reports(page).count()).toBe(2)
    await page.reload()
    await pressed(page, 'Reports').waitFor()
    await expect.poll(() => reports(page).count()).toBe(2)
    await page.getByRole('button', { name: 'Exchanges' }).click()
    await pressed(page, 'Exchanges').waitFor()
    await page.goBack()
    await pressed(page, 'Reports').waitFor()
    await page.goForward()
    await pressed(page, 'Exchanges').waitFor()
    const shared = await open(new URL(page.url()).hash)
    await pressed(shared, 'Exchanges').waitFor()
  })

  it('stays while records are opened and closed in it', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic?type=report`)
    await expect.poll(() => reports(page).count()).toBe(2)
    await reports(page).first().click()
    await panel(page).getByText('dry').waitFor()
    await page.reload()
    await panel(page).getByText('dry').waitFor()
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'detached' })
    await pressed(page, 'Reports').waitFor()
  })

  it('holds for releases, what a step is compared with, and its step record', async () => {
    const page = await open(`#/s/${SHOP}/releases`)
    const tries = page.getByRole('link', { name: /^try of [-0-9: ]+ UTC$/ })
    await tries.first().waitFor()
    for (const place of [PLACES.rejected, PLACES.useless, PLACES.skipped, PLACES.failed])
      expect(await stepLink(page, `v${place}`).count()).toBe(0)
    await page.getByRole('button', { name: 'Hide steps without a release' }).click()
    await tries.first().waitFor({ state: 'detached' })
    await page.reload()
    await stepLink(page, 'v2').click()
    await page.getByLabel('compared with').selectOption({ label: 'nothing' })
    await page.getByText('added').first().waitFor()
    await page.getByRole('heading', { name: 'Step record' }).click()
    await page.getByPlaceholder('candidate-3').fill('proposer')
    await page.getByRole('button', { name: 'proposer.json' }).click()
    await page.reload()
    await page.getByText('added').first().waitFor()
    await page.getByRole('region', { name: 'proposer.json' }).waitFor()
    expect(await page.getByPlaceholder('candidate-3').inputValue()).toBe('proposer')
    await page.getByRole('link', { name: 'All releases' }).click()
    await stepLink(page, 'v2').waitFor()
    expect(await tries.count()).toBe(0)
  })

  it('holds for the list of scenarios, letter by letter and as one step back', async () => {
    const page = await open(`#/s/${SHOP}/releases`)
    await heading(page).filter({ hasText: 'Releases' }).waitFor()
    await typeUntil(page, 'gs', page.getByPlaceholder('Filter by name'))
    await page.getByPlaceholder('Filter by name').pressSequentially('help')
    const names = page.locator('a.scenario-name')
    await expect.poll(() => names.allTextContents()).toEqual([HELPDESK])
    await page.reload()
    await expect.poll(() => names.allTextContents()).toEqual([HELPDESK])
    expect(await page.getByPlaceholder('Filter by name').inputValue()).toBe('help')
    await page.goBack()
    await heading(page).filter({ hasText: 'Releases' }).waitFor()
  })

  it('leads to a record by its number, also when the page is loaded again', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic`)
    await records(page).getByRole('row').nth(3).waitFor()
    await page.getByRole('search').getByRole('textbox').fill('2')
    await page.keyboard.press('Enter')
    await records(page).locator('[aria-selected="true"]').waitFor()
    await page.reload()
    await records(page).locator('[aria-selected="true"]').waitFor()
  })

  it.each([
    `#/s/${HELPDESK}/traffic?type=__proto__&type=%00&at=-1e999&most=constructor`,
    `#/s/${SHOP}/releases?steps=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E&most=999999999999`,
    `#/s/${SHOP}/releases/${PLACES.learned}?against=../../x&file=../../../etc/passwd&find=%3Cscript%3E`,
    `#/s/${SHOP}/ask?most=-1`,
    `#/s/${HELPDESK}/traffic?at=999999999999`,
    `#/scenarios?name=%E0%A4%A%3Csvg%20onload=alert(1)%3E`,
  ])('from a hostile address harms nothing: %s', async (way) => {
    const page = await open(way)
    await page.getByRole('main').waitFor()
    expect(await page.getByRole('alert').allTextContents()).toEqual([])
    await page.keyboard.press('Escape')
    await typeUntil(page, 'go', heading(page).filter({ hasText: 'Storage' }))
  })
})

describe('a record', () => {
  it.each<readonly [name: string, place: number, pictures: number, texts: readonly string[]]>([
    ['a chat that calls a tool', 0, 0, ['You answer for a shop', 'Where is my parcel?', 'track', '20417733', 'tool_calls']],
    [
      'a streamed chat with pictures and a tool',
      1,
      1,
      ['One friendly line.', 'Hamburg', 'It is in Hamburg and comes tomorrow.', 'pictures.example/parcel.png'],
    ],
    ['a refusal', 2, 0, ['I cannot speak in your name.']],
    [
      'a message with a thought and a picture',
      3,
      1,
      ['Is this the right size?', 'sizes', 'one larger', 'Take one size larger', 'Thinking'],
    ],
    ['a streamed message that calls a tool', 4, 0, ['I will look it up.', 'track', '20417733', 'tool_use']],
    ['a response of every kind of item', 5, 1, ['How do I exchange a coat?', 'héllo', 'not that', 'ls -l', 'Free of charge']],
    ['the same response, streamed', 6, 1, ['How do I exchange a coat?', 'héllo', 'not that', 'ls -l']],
  ])('shows %s', async (_name, place, pictures, texts) => {
    const page = await open(record(place))
    for (const text of texts) await panel(page).getByText(text).filter({ visible: true }).first().waitFor()
    expect(await panel(page).locator('img').count()).toBe(pictures)
    expect(await panel(page).locator('img:not([src^="data:image/"])').count()).toBe(0)
    await panel(page).getByRole('button', { name: 'Raw JSON' }).click()
    await panel(page).getByText('"response"').first().waitFor()
  })

  it('of a request shows its text as an instruction', async () => {
    const page = await open(`#/s/${SHOP}/traffic/${world.waiting}`)
    await panel(page).getByText(PLAYS.waiting.words).first().waitFor()
  })
})

describe('a step', () => {
  it.each(['published', 'learned', 'rejected', 'proposed'] as const)(
    'called %s has the same scores here, on its page and in the terminal',
    async (state) => {
      const place = PLACES[state]
      const page = await open(`#/s/${SHOP}/releases/${place}`)
      const shown = await page.locator('.scores').first().innerText()
      const [scores = 'none'] = /^\S+ → \S+/.exec(shown) ?? []
      const { out } = await typeCommand(world.here.address, ['releases', SHOP])
      const row = (await world.shop.listed())[place] ?? {}
      const time = new Date(Number(row['recorded_at']) * 1000).toISOString().slice(0, 19).replace('T', ' ')
      const name = row['result'] === 'published' ? ` v${place} ` : time
      expect(out.split('\n').find((line) => line.includes(name))).toContain(` ${scores} `)
      await page.goto(`${world.here.address}${textAt(row, 'page_path')}`)
      const numbers = (await page.locator('dl.numbers').textContent()) ?? ''
      expect(numbers.replaceAll(/\s+/g, '')).toContain(scores.replace(/^(\S+) → (\S+)$/, 'Currentscore$1Candidatescore$2'))
    },
  )

  it('that waits for review says what it may do: here, in the question before it is promoted, on its page and in the terminal', async () => {
    const RUNS = 'This change may run programs on your machine.'
    const page = await open(`#/s/${SHOP}/releases/${PLACES.pending}`)
    const card = page.getByRole('region', { name: 'What this change may do' })
    await card.getByText(RUNS).waitFor()
    expect(await card.innerText()).toContain('night-bell')
    await page.getByRole('button', { name: /^Promote/ }).click()
    await page.getByRole('dialog').getByText(RUNS).waitFor()
    const { out } = await typeCommand(world.here.address, ['releases', SHOP])
    expect(out).toContain(`v${PLACES.pending}: What this change may do:\n`)
    expect(out).toContain(`  ${RUNS}`)
    const row = (await world.shop.listed())[PLACES.pending] ?? {}
    await page.goto(`${world.here.address}${textAt(row, 'page_path')}`)
    // In the sentences on top, and in its card.
    expect(await page.getByText(RUNS).count()).toBe(2)
  })

  it('shows what differs from its parent, and from any other release', async () => {
    const page = await open(`#/s/${SHOP}/releases/${PLACES.learned}`)
    const changes = page.getByRole('region', { name: /AGENTS\.md: changes/ })
    await changes.getByText('express').waitFor()
    expect(await changes.innerText()).toContain('sizes: as the terms of sale say')
    await page.getByLabel('compared with').selectOption({ label: 'nothing' })
    await page.getByText('added').first().waitFor()
  })

  it('leads to the page that can be shared, in a tab of its own', async () => {
    const page = await open(`#/s/${SHOP}/releases/${PLACES.learned}`)
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: /Page to share/ }).click()
    const other = await opened
    await other.getByRole('heading', { name: `Harness v${PLACES.learned}`, exact: true }).waitFor()
    expect(await other.evaluate('opener')).toBeNull()
  })
})

describe('an address that leads nowhere', () => {
  it.each([
    ['a record', `#/s/${HELPDESK}/traffic/unknown`],
    ['a step', `#/s/${SHOP}/releases/999`],
    ['a scenario', '#/s/nowhere/releases'],
    ['a request', `#/s/${SHOP}/ask/unknown`],
    ['a malformed place', '#/s/%E0%A4%A/%00/x'],
  ])('to %s is reported in a line, and everything else goes on', async (_, way) => {
    const { page } = await browse(`${world.here.address}/console${way}`, { expects: /status of (404|400)/ })
    await page.getByRole('alert').or(page.getByText('No such step')).first().waitFor()
    await typeUntil(page, 'gs', heading(page).filter({ hasText: 'Scenarios' }))
  })
})
