/** What a person manages in the console: tokens, the audit, the configuration, and the settings of a scenario. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, named, textAt } from '../spec/support/helpers.ts'
import { send, type World } from '../support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { HOSTILE_NAME } from './support/hostile.ts'
import { expectScreensFit } from './support/screens.ts'
import { openShop } from './support/world.ts'

const TOKEN = 'a-token-of-the-shop'
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'Hello.' }] }
const open = browserOfFile()
let here: World
beforeAll(async () => {
  here = await openShop(TOKEN)
  for (const name of ['shop', HOSTILE_NAME]) await here.post('/svc/scenarios', { name })
})
afterAll(() => here.close())

const heading = (page: Page) => page.getByRole('heading', { level: 1 })

async function enter(way: string, token = TOKEN): Promise<Page> {
  const { page } = await open(`${here.address}/console${way}`, { expects: /status of (400|401|403)/ })
  await page.getByLabel('Service token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page).filter({ hasNotText: 'svc console' }).waitFor()
  return page
}

const statusWith = async (token: string): Promise<number> =>
  (await send(here.address, 'GET', '/svc/scenarios', { headers: bearer(token) })).status

const tokens = (page: Page) => page.getByRole('region', { name: 'Tokens' })
const secretIn = async (page: Page): Promise<string> => (await tokens(page).getByText('svc_token_').textContent()) ?? ''

async function confirm(page: Page, verb: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: verb }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

it('a person is counted, then forgotten, with every place that was looked at', async () => {
  const tagged = { 'x-svc-scenario': 'forgetting', 'x-svc-tag-user': 'anna-77' }
  await here.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'violet' }] }, tagged)
  const page = await enter('#/access')
  const card = page.getByRole('region', { name: 'Forget a person' })
  await card.getByLabel('Value of the tag').fill('anna-77')
  await page.keyboard.press('Enter')
  await card.getByText('1 records, 0 reports, 0 tasks and 0 step records').waitFor()
  await card.getByRole('button', { name: 'Remove …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await card.getByText('Nothing is left where it was looked for.').waitFor()
  await card.getByRole('row').filter({ hasText: 'bytes in the search index' }).waitFor()
  const { json } = await here.post('/svc/forget', { name: 'user', value: 'anna-77', dry_run: true })
  expect(json).toMatchObject({ records: 0 })
})

describe('tokens', () => {
  it('are made, shown once, rotated and revoked, and the audit says who did it', async () => {
    const page = await enter('#/access')
    await page.getByText('New token').click()
    await page.getByLabel('Name of the token').fill('laptop')
    await page.getByLabel('Role').selectOption('read')
    await page.getByLabel('Expires in days').fill('30')
    await page.keyboard.press('Enter')
    const first = await secretIn(page)
    expect(await statusWith(first)).toBe(200)
    await expectScreensFit(page, 'console-token-made')
    await page.getByRole('button', { name: 'I have it' }).click()
    await tokens(page).getByText(first).waitFor({ state: 'detached' })

    await tokens(page).getByRole('button', { name: 'Rotate laptop' }).click()
    await confirm(page, 'Rotate laptop')
    const second = await secretIn(page)
    expect(second).not.toBe(first)
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200])

    await tokens(page).getByRole('button', { name: 'Revoke laptop' }).click()
    await confirm(page, 'Revoke laptop')
    await tokens(page).getByRole('button', { name: 'Revoke laptop' }).waitFor({ state: 'detached' })
    expect(await statusWith(second)).toBe(401)
    expect(await page.locator('body').innerText()).not.toContain(second)

    await page.reload()
    await page.getByLabel('Service token').fill(TOKEN)
    await page.keyboard.press('Enter')
    const audit = page.getByRole('region', { name: 'Audit' })
    await audit.getByRole('row').filter({ hasText: 'revoke token' }).filter({ hasText: 'svc.token' }).first().waitFor()
    expect(await page.locator('body').innerText()).not.toContain('svc_token_')
    await expectScreensFit(page, 'console-access')
  })

  it('that rotate themselves stay signed in, and the secret is shown until it was taken', async () => {
    const { json } = await here.post('/svc/tokens', { name: 'second', role: 'admin' })
    await here.post('/svc/tokens', { name: 'spare', role: 'read' })
    const before = textAt(json, 'token')
    const page = await enter('#/access', before)
    await tokens(page).getByRole('button', { name: 'Rotate second' }).click()
    await confirm(page, 'Rotate second')
    const secret = await secretIn(page)
    expect([await statusWith(before), await statusWith(secret)]).toEqual([401, 200])
    await tokens(page).getByRole('button', { name: 'Revoke spare' }).click()
    await confirm(page, 'Revoke spare')
    await tokens(page).getByRole('button', { name: 'Revoke spare' }).waitFor({ state: 'detached' })
    expect(await secretIn(page)).toBe(secret)
  })

  it('have limits of their own, which are made, kept to, changed and shown with what was used', async () => {
    const page = await enter('#/access')
    await page.getByText('New token').click()
    await page.getByLabel('Name of the token').fill('metered')
    await page.getByLabel('Role').selectOption('serve')
    await page.getByLabel(/^Limit of requests a minute/).fill('1')
    await page.keyboard.press('Enter')
    const secret = await secretIn(page)
    await page.getByRole('button', { name: 'I have it' }).click()
    const ask = () => send(here.address, 'POST', '/v1/chat/completions', { headers: { ...bearer(secret), ...named('shop') }, body: CHAT })
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429])
    const row = tokens(page).getByRole('row').filter({ hasText: 'metered' })
    await row.getByText('of 1 requests a minute').waitFor()

    await row.getByRole('button', { name: 'Limits of metered' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    const field = dialog.getByLabel(/^Limit of requests a minute/)
    expect(await field.inputValue()).toBe('1')
    await expectScreensFit(page, 'console-token-limits')
    await field.fill('50')
    await dialog.getByLabel(/^Limit of requests at once/).fill('2')
    await confirm(page, 'Change the limits of metered')
    await row.getByText('of 50 requests a minute').waitFor()
    await row.getByTitle('of its own: 50 requests a minute, 2 requests at once').waitFor()
    expect((await ask()).status).toBe(200)
  })

  it('whose limits may not be are refused in a line, and what was typed stays', async () => {
    await here.post('/svc/tokens', { name: 'unpriced', role: 'serve' })
    const page = await enter('#/access')
    await tokens(page).getByRole('button', { name: 'Limits of unpriced' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^Limit of money a day/).fill('5')
    await dialog.getByRole('button', { name: 'Change the limits of unpriced' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'price' }).waitFor()
    expect(await dialog.getByLabel(/^Limit of money a day/).inputValue()).toBe('5')
  })

  it('that may not be made are refused in a line, and what was typed stays', async () => {
    const page = await enter('#/access')
    await page.getByText('New token').click()
    await page.getByLabel('Name of the token').fill('not a name')
    await page.getByRole('button', { name: 'Make the token' }).click()
    await page.getByRole('alert').filter({ hasText: 'letters, digits' }).waitFor()
    expect(await page.getByLabel('Name of the token').inputValue()).toBe('not a name')
  })

  it('of another role than admin see why they see none, in a line', async () => {
    const { json } = await here.post('/svc/tokens', { name: 'reader', role: 'read' })
    const page = await enter('#/access', textAt(json, 'token'))
    await page.getByRole('alert').filter({ hasText: 'role read' }).first().waitFor()
    expect(await heading(page).textContent()).toBe('Access')
  })
})

describe('the configuration', () => {
  it('is shown as it was read, narrowed by choice and by name, without secrets', async () => {
    const page = await enter('#/configuration')
    const names = page.locator('td.mono')
    await expect.poll(() => names.count()).toBeGreaterThan(50)
    await page.getByRole('row').filter({ hasText: 'svc.token' }).first().getByText('***').waitFor()
    expect(await page.locator('body').innerText()).not.toContain(TOKEN)
    await page.getByRole('button', { name: 'Budgets' }).click()
    await expect.poll(() => names.allTextContents()).toContain('evolution.max_cost_per_day')
    expect(await names.count()).toBeLessThan(20)
    await page.getByLabel('Filter by name').fill('streak')
    await expect.poll(() => names.allTextContents()).toEqual(['evolution.max_failure_streak'])
  })
})

const modeOf = async (name: string): Promise<unknown> =>
  (await here.get(`/svc/scenarios/${encodeURIComponent(name)}/contract`)).json['training_mode']

const ownOf = async (name: string): Promise<unknown> => {
  const rows: readonly object[] = Object((await here.get('/svc/scenarios')).json['scenarios'])
  return Object(rows.find((row) => Object(row)['scenario'] === name))['evolution']
}

describe('the settings of a scenario', () => {
  it('switch its mode, by keyboard alone', async () => {
    const page = await enter('#/s/shop/settings')
    const mode = page.getByRole('region', { name: 'Training mode' })
    await mode.getByRole('radio', { name: /^hybrid/ }).focus()
    await page.keyboard.press('ArrowUp')
    await mode.getByRole('button', { name: 'Use this mode' }).focus()
    await page.keyboard.press('Enter')
    await mode.getByText('The mode is manual now.').waitFor()
    expect(await modeOf('shop')).toBe('manual')
  })

  it('change its model; the key is never shown, and the deployment has the last word', async () => {
    const page = await enter('#/s/shop/settings')
    const model = page.getByRole('region', { name: 'Model' })
    await model.getByLabel('Address').fill('https://models.example')
    await model.getByLabel(/^Model/).fill('large')
    await model.getByLabel(/^Key/).fill('a-key-to-hide')
    await model.getByRole('button', { name: 'Use this model' }).click()
    await model.getByText('The next request asks this model.').waitFor()
    await expect.poll(() => model.getByText('a key is set').count()).toBe(1)
    expect(await model.getByLabel(/^Key/).inputValue()).toBe('')
    await model.getByRole('button', { name: /^Back to/ }).click()
    await model.getByText('asks the model of the deployment').waitFor()
    await expect.poll(() => model.getByLabel('Address').inputValue()).toBe(here.upstream.url)
    await model.getByLabel('Address').fill('https://models.example/v1')
    await model.getByRole('button', { name: 'Use this model' }).click()
    await model.getByRole('alert').filter({ hasText: 'trailing /v1' }).waitFor()
  })

  it('change its budgets, by keyboard alone, and ask before a limit is taken away', async () => {
    const page = await enter('#/s/shop/settings')
    const budgets = page.getByRole('region', { name: 'Budgets' })
    await budgets.getByLabel('Money in a day').focus()
    await page.keyboard.type('7.5')
    await page.keyboard.press('Enter')
    await budgets.getByText('The next step keeps to these.').waitFor()
    expect(await ownOf('shop')).toEqual({ max_cost_per_day: 7.5 })
    await budgets.getByLabel('Steps in all').fill('0')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('nothing bounds: steps in all').waitFor()
    await expectScreensFit(page, 'console-budgets')
    await confirm(page, 'Take them away')
    await expect.poll(() => ownOf('shop')).toEqual({ max_cost_per_day: 7.5, max_steps: 0 })
    for (const name of ['Money in a day', 'Steps in all']) await budgets.getByLabel(name).fill('')
    await budgets.getByRole('button', { name: 'Use these budgets' }).click()
    await expect.poll(() => ownOf('shop')).toEqual({})
    const { json } = await here.get('/svc/audit?order=newest&limit=100')
    expect(JSON.stringify(json['audit'])).toContain('"max_cost_per_day":7.5')
  })

  it('change who is served what is not proved, and ask before it is served', async () => {
    const page = await enter('#/s/shop/settings')
    const rollout = page.getByRole('region', { name: 'Rollout' })
    await rollout.getByRole('radio', { name: /^canary/ }).focus()
    await page.keyboard.press('Space')
    await rollout.getByLabel(/^Share of sessions/).fill('25')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('25% are served a release').waitFor()
    await expectScreensFit(page, 'console-rollout')
    await confirm(page, 'Serve it')
    await expect.poll(() => ownOf('shop')).toEqual({ provisional: 'canary', canary_share: 0.25 })
    await rollout.getByRole('radio', { name: /^configured/ }).check()
    await rollout.getByRole('button', { name: 'Use this rollout' }).click()
    await rollout.getByText('The rollout is changed').waitFor()
    expect(await ownOf('shop')).toEqual({})
  })

  it('show what was just saved until the service tells it', async () => {
    const page = await enter('#/s/shop/settings')
    const rollout = page.getByRole('region', { name: 'Rollout' })
    await rollout.getByRole('radio', { name: /^off/ }).waitFor()
    await page.route('**/svc/scenarios', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    const choices = ['off', 'shadow', 'configured'] as const
    for (const tier of choices) {
      await rollout.getByRole('radio', { name: new RegExp(`^${tier}`) }).check()
      await rollout.getByRole('button', { name: 'Use this rollout' }).click()
      await expect.poll(() => ownOf('shop')).toEqual(tier === 'configured' ? {} : { provisional: tier })
    }
    await rollout.getByText('The rollout is changed').waitFor()
    expect(await rollout.getByRole('radio', { name: /^configured/ }).isChecked()).toBe(true)
  })

  it('are refused to a token that may only read, in a line', async () => {
    const { json } = await here.post('/svc/tokens', { name: 'looker', role: 'read' })
    const page = await enter('#/s/shop/settings', textAt(json, 'token'))
    const budgets = page.getByRole('region', { name: 'Budgets' })
    await budgets.getByLabel('Money in a day').fill('1')
    await budgets.getByRole('button', { name: 'Use these budgets' }).click()
    await budgets.getByRole('alert').filter({ hasText: 'role read' }).last().waitFor()
    expect(await ownOf('shop')).toEqual({})
  })

  it('of a hostile name are shown as text, and delete it once the name is typed', async () => {
    const page = await enter(`#/s/${encodeURIComponent(HOSTILE_NAME)}/settings`)
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(HOSTILE_NAME).waitFor()
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await expectScreensFit(page, 'console-delete')
    await dialog.getByLabel('Type its name').fill(HOSTILE_NAME)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await heading(page).filter({ hasText: 'Scenarios' }).waitFor()
    await page.getByRole('link', { name: HOSTILE_NAME }).waitFor({ state: 'detached' })
    expect((await here.get('/svc/scenarios')).text).not.toContain(JSON.stringify(HOSTILE_NAME))
  })
})

it('a scenario is made with a recipe from the list', async () => {
  const page = await enter('#/scenarios')
  await page.getByText('New scenario').click()
  await expect.poll(() => page.getByLabel('Recipe').locator('option').allTextContents()).toEqual(['harness (default)'])
  await page.getByLabel('Name', { exact: true }).fill('branch')
  await page.getByRole('button', { name: 'Create' }).click()
  await heading(page).filter({ hasText: 'Traffic' }).waitFor()
  expect((await here.get('/svc/scenarios')).text).toContain('"branch"')
})

it.each([
  ['the palette', 'Control+k', 'Go to'],
  ['the list of keys', '?', 'Keys'],
])('%s opens again on %s right after the Escape', async (_, key, name) => {
  const page = await enter('#/s/shop/settings')
  const dialog = page.getByRole('dialog', { name })
  await page.keyboard.press(key)
  for (let again = 0; again < 20; again++) {
    await dialog.waitFor()
    await Promise.all(['Escape', key].map((each) => page.keyboard.press(each)))
  }
  await dialog.waitFor()
})

describe('the palette', () => {
  it('opens on Ctrl-K, finds a view by a few letters, and goes there with Enter', async () => {
    const page = await enter('#/s/shop/settings')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Go to' })
    await palette.getByRole('combobox').fill('tok')
    await palette.getByRole('option', { name: /^Access/, selected: true }).waitFor()
    await expectScreensFit(page, 'console-palette')
    await page.keyboard.press('Enter')
    await heading(page).filter({ hasText: 'Access' }).waitFor()
    await palette.waitFor({ state: 'detached' })
  })

  it('searches the traffic for what is typed, and is left with Escape', async () => {
    const page = await enter('#/s/shop/settings')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Go to' })
    await palette.waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').fill('zebra stripes')
    await page.keyboard.press('Enter')
    await heading(page).filter({ hasText: 'Traffic' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#/s/shop/traffic?text=zebra+stripes')
  })
})

describe('home', () => {
  it('of a token for one scenario shows that scenario, and no refusal', async () => {
    const { json } = await here.post('/svc/tokens', { name: 'shop-only', role: 'review', scenarios: ['shop'] }, bearer(TOKEN))
    const page = await enter('', textAt(json, 'token'))
    await heading(page).filter({ hasText: 'Home' }).waitFor()
    await page.getByText('Your token is for single scenarios').waitFor()
    await page.getByText('No release waits for a review.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await expectScreensFit(page, 'console-home-narrow')
  })
})
