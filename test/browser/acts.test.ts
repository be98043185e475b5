/** Actions in the console: sign in, request a change, promote, roll back; and errors during them. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bearer, LEDGER_RECIPE, named, textAt } from '../spec/support/helpers.ts'
import { fresh, trainee } from '../spec/support/trainee.ts'
import { send, world as openWorld } from '../support/world.ts'
import { browserOfFile, stepLink } from './support/browser.ts'
import { expectScreensFit } from './support/screens.ts'
import { PLAYS, QUEUED_WORDS } from './support/script.ts'
import { serving } from './support/service.ts'
import { openBrowserWorld, PLACES, SHOP, type BrowserWorld } from './support/world.ts'

const TOKEN = 'a-token-of-the-shop'

const open = browserOfFile()
let world: BrowserWorld
beforeAll(async () => {
  world = await openBrowserWorld(TOKEN)
})
afterAll(() => world.here.close())

const heading = (page: Page) => page.getByRole('heading', { level: 1 })

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Service token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Signed in, at that view. The first request of a page has no token yet, and is refused. */
async function enter(way: string): Promise<Page> {
  const { page } = await open(`${world.here.address}/console${way}`, { expects: /status of 401/ })
  await signIn(page, TOKEN)
  await heading(page).filter({ hasNotText: 'svc console' }).waitFor()
  return page
}

const gone = (page: Page) => page.getByRole('alert').filter({ hasText: 'The service does not answer' }).first()

describe('signing in', () => {
  it('a wrong token is refused in one line, a right one opens the requested view', async () => {
    const { page } = await open(`${world.here.address}/console#/s/${SHOP}/releases`, { expects: /status of 401/ })
    await page.getByLabel('Service token').waitFor()
    await expectScreensFit(page, 'console-sign-in')
    await signIn(page, 'another-token')
    await page.getByRole('alert').filter({ hasText: 'does not accept this token' }).waitFor()
    await expectScreensFit(page, 'console-sign-in-refused')
    await signIn(page, TOKEN)
    await heading(page).filter({ hasText: 'Releases' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('leaves the token nowhere but in the memory of the page', async () => {
    const page = await enter(`#/s/${SHOP}/releases`)
    await stepLink(page, 'v2').waitFor()
    const kept = await page.evaluate<string>(`(async () => JSON.stringify([
      location.href, document.cookie, name, history.state,
      { ...localStorage }, { ...sessionStorage },
      await indexedDB.databases(), await caches.keys(),
      document.documentElement.outerHTML,
      [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
    ]))()`)
    expect(kept).toContain('#/s/shop/releases')
    expect(kept).not.toContain(TOKEN)
    await page.reload()
    await page.getByLabel('Service token').waitFor()
  })

  it('ends with Sign out, and nothing is shown any more', async () => {
    const page = await enter('#/')
    await page.getByRole('link', { name: SHOP }).first().waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Service token').waitFor()
    expect(await page.locator('body').innerText()).not.toContain(SHOP)
  })
})

const head = async (): Promise<string> => textAt(await world.shop.head(), 'release_id')

describe('a release', () => {
  it('that is held is promoted after a confirmation, and not when that is cancelled', async () => {
    const page = await enter(`#/s/${SHOP}/releases`)
    const before = await head()
    const step = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'v9', exact: true }) })
    await step.getByRole('button', { name: 'Promote' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('night-bell').first().waitFor()
    await expectScreensFit(page, 'console-promote')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await head()).toBe(before)
    await step.getByRole('button', { name: 'Promote' }).click()
    await dialog.getByRole('button', { name: 'Promote' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('listitem').filter({ hasText: 'Serves the content of v9' }).getByText('Served now').waitFor()
    expect(await world.shop.release()).toMatchObject({ operation: 'promote', current: true })
  })

  it('that is held is commented on, which decides nothing', async () => {
    const kiosk = trainee(world.here, 'kiosk')
    await world.here.post('/svc/scenarios', { name: kiosk.name })
    await kiosk.consumer(await kiosk.ask(PLAYS.promoted.words))
    const page = await enter('#/s/kiosk/releases/1')
    const card = page.getByRole('region', { name: 'Comments' })
    expect(await card.getByRole('button', { name: 'Comment' }).isDisabled()).toBe(true)
    await card.getByLabel(/^Say something/).fill('Who <b>asked</b> for this?')
    await card.getByRole('button', { name: 'Comment' }).click()
    await card.getByRole('blockquote').getByText('Who <b>asked</b> for this?').waitFor()
    expect(await card.getByLabel(/^Say something/).inputValue()).toBe('')
    await expectScreensFit(page, 'console-comment')
    await page.getByRole('button', { name: 'Promote' }).waitFor()
    await page.getByRole('link', { name: 'All releases' }).click()
    await page.getByText('About v1: Who <b>asked</b> for this?').waitFor()
    expect(await kiosk.release()).toMatchObject({ operation: 'comment', metrics: { comment: 'Who <b>asked</b> for this?' } })
  })

  it('that is held is rejected with a reason, which both its places show', async () => {
    const stall = trainee(world.here, 'stall')
    await world.here.post('/svc/scenarios', { name: stall.name })
    await stall.consumer(await stall.ask(PLAYS.promoted.words))
    const page = await enter('#/s/stall/releases')
    await page.getByRole('button', { name: 'Reject' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Reject' }).isDisabled()).toBe(true)
    await dialog.getByLabel(/^Why\?/).fill('Nobody <b>asked</b> for it.')
    await expectScreensFit(page, 'console-reject')
    await dialog.getByRole('button', { name: 'Reject' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Rejects v1: Nobody <b>asked</b> for it.').waitFor()
    expect(await page.getByRole('button', { name: /^(?:Promote|Reject)/ }).count()).toBe(0)
    expect(await stall.release()).toMatchObject({ operation: 'reject', metrics: { reason: 'Nobody <b>asked</b> for it.' } })
    await stepLink(page, 'v1').click()
    await page.getByRole('region', { name: 'Rejected' }).getByText('Nobody <b>asked</b> for it.').waitFor()
  })

  it('that was served before is rolled back to, by keyboard alone', async () => {
    const page = await enter(`#/s/${SHOP}/releases/${PLACES.learned}`)
    await page.getByRole('button', { name: 'Roll back' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Roll back' }).focus()
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(async () => (await world.shop.release())['operation']).toBe('rollback')
    const target = textAt((await world.shop.listed())[PLACES.learned] ?? {}, 'release_id')
    expect(await world.shop.release()).toMatchObject({ rollback_target_release_id: target, current: true })
  })
})

describe('a request', () => {
  it('is written, sent, followed while it is worked on, and leads to its result', async () => {
    const page = await enter(`#/s/${SHOP}/ask`)
    await page.getByRole('listitem').filter({ hasText: PLAYS.waiting.words }).first().waitFor()
    await page.getByRole('textbox').fill('Say thank you at the end.')
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    const card = page.getByRole('region', { name: 'Request', exact: true })
    await card.getByText('Queued').waitFor()
    await world.openGate()
    // Nothing was proposed for it, so it made no release.
    await card.getByRole('link', { name: /^Open try of / }).click()
    await heading(page)
      .filter({ hasText: /^try of / })
      .waitFor()
    await page.getByText('Say thank you at the end.').first().waitFor()
    expect(await page.getByText(QUEUED_WORDS).count()).toBe(0)
  })

  it('that is empty or too long is not sent', async () => {
    const page = await enter(`#/s/${SHOP}/ask`)
    const button = page.getByRole('button', { name: 'Ask', exact: true })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    await page.getByRole('textbox').fill('x'.repeat(4001))
    expect(await button.isDisabled()).toBe(true)
    await page.getByRole('textbox').fill('x'.repeat(4000))
    expect(await button.isEnabled()).toBe(true)
  })
})

const exchange = (address: string): Promise<unknown> =>
  send(address, 'POST', '/v1/chat/completions', {
    headers: named('here'),
    body: { model: 'practice', messages: [{ role: 'user', content: 'Write 4 as a Roman numeral.' }] },
  })

describe('a provisional release', () => {
  it('has a badge that says it is unproven, which goes once it is withdrawn', async () => {
    const here = await openWorld({ settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual' } })
    onTestFinished(() => here.close())
    const scenario = await fresh(here, 'auto')
    await scenario.consumer((await scenario.reported({ feedback: 'offer' }))[1])
    const { page } = await open(`${here.address}/console#/s/${scenario.name}/releases`)
    const badge = page.getByText('v1 is provisional: unproven')
    await badge.waitFor()
    const step = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'v1', exact: true }) })
    await step.getByText('Provisional', { exact: true }).waitFor()
    await expectScreensFit(page, 'console-provisional')
    await scenario.move('withdraw', textAt(await scenario.release(), 'release_id'))
    await badge.waitFor({ state: 'detached' })
    await step.getByText('Provisional, ended', { exact: true }).waitFor()
  })
})

describe('failures while a page is open', () => {
  it('a service that stops is reported, and the page goes on by itself when it is back', async () => {
    const service = await serving()
    await exchange(service.address)
    const { page } = await open(`${service.address}/console#/s/here/traffic`, { expects: /ERR_CONNECTION|Failed to load resource/ })
    const rows = page.getByRole('grid', { name: 'Records' }).getByRole('row').filter({ hasText: 'exchange' })
    await expect.poll(() => rows.count()).toBe(1)
    await service.stop()
    await gone(page).waitFor()
    expect(await rows.count()).toBe(1)
    await expectScreensFit(page, 'console-no-answer')
    await service.start()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await exchange(service.address)
    await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(2)
  })

  it('a service that comes back with another token asks for that one, and says why', async () => {
    const service = await serving({ 'svc.token': 't' })
    const { page } = await open(`${service.address}/console`, { expects: /ERR_CONNECTION|Failed to load resource|status of 401/ })
    await signIn(page, 't')
    await heading(page).filter({ hasText: 'Home' }).waitFor()
    await service.stop()
    await gone(page).waitFor()
    await service.start({ 'svc.token': 'another' })
    await page.getByRole('alert').filter({ hasText: 'does not accept this token' }).waitFor()
    await signIn(page, 'another')
    await heading(page).filter({ hasText: 'Home' }).waitFor()
  })

  it('a deleted scenario is reported, and the others are still there', async () => {
    await world.here.post('/svc/scenarios', { name: 'short-lived' })
    const { page } = await open(`${world.here.address}/console#/s/short-lived/traffic`, { expects: /status of (401|404)/ })
    await signIn(page, TOKEN)
    await heading(page).filter({ hasText: 'Traffic' }).waitFor()
    await send(world.here.address, 'DELETE', '/svc/scenarios/short-lived', { headers: bearer(TOKEN) })
    await page.getByRole('alert').filter({ hasText: 'short-lived' }).first().waitFor()
    await page.keyboard.type('gs')
    await page.getByRole('link', { name: SHOP }).first().waitFor()
    await page.getByRole('link', { name: 'short-lived' }).waitFor({ state: 'detached' })
  })

  it('promoting in a deleted scenario is refused in a line, and the dialog can be closed', async () => {
    const branch = trainee(world.here, 'branch')
    await world.here.post('/svc/scenarios', { name: branch.name })
    await branch.consumer(await branch.ask(PLAYS.promoted.words))
    const { page } = await open(`${world.here.address}/console#/s/branch/releases`, { expects: /status of (401|404)/ })
    await signIn(page, TOKEN)
    await page.getByRole('button', { name: 'Promote' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Promote' }).waitFor()
    await branch.remove()
    await dialog.getByRole('button', { name: 'Promote' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
  })
})

describe('a scenario that serves no files', () => {
  it('shows its steps all the same, and says why no change can be asked for', async () => {
    const { address } = await serving()
    await send(address, 'POST', '/svc/scenarios', { body: { name: 'plain' } })
    const { page } = await open(`${address}/console#/s/plain/releases`)
    await page.getByText('v0').first().waitFor()
    await page.keyboard.type('ga')
    await page.getByText(/takes no requests/).waitFor()
    await expectScreensFit(page, 'console-ask-never')
  })
})
