/** Clients and sessions that are pinned to a release: seen in the console, and pinned with the lines that it shows. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { named, textAt } from '../spec/support/helpers.ts'
import { trainee } from '../spec/support/trainee.ts'
import { sharedFolder } from '../support/folder.ts'
import type { World } from '../support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { HOSTILE_NAME } from './support/hostile.ts'
import { expectScreensFit } from './support/screens.ts'
import { PLAYS } from './support/script.ts'
import { openShop, SHOP } from './support/world.ts'

const [TOKEN, EARLIER] = ['a-token-of-the-shop', 0]
const browse = browserOfFile()
const folder = sharedFolder()
let here: World
let earlier: string
beforeAll(async () => {
  here = await openShop(TOKEN)
  await here.post('/svc/scenarios', { name: SHOP })
  const shop = trainee(here, SHOP)
  earlier = textAt(await shop.head(), 'release_id')
  await shop.asked(PLAYS.published.words)
  expect(textAt(await shop.head(), 'release_id')).not.toBe(earlier)
})
afterAll(() => here.close())

async function open(way: string): Promise<Page> {
  const { page } = await browse(`${here.address}/console${way}`, { expects: /status of 401/ })
  await page.getByLabel('Service token').fill(TOKEN)
  await page.keyboard.press('Enter')
  return page
}
const clients = (page: Page): Locator => page.getByRole('region', { name: 'Clients at this release' })
const sessions = (page: Page): Locator => clients(page).getByRole('list', { name: 'Sessions at this release' })
const lines = (page: Page): Locator => clients(page).locator('.command code')

/** A client sends its calls with these lines as headers. */
async function call(headers: string, session: string): Promise<void> {
  const fields = headers.split('\n').map((line) => line.split(': '))
  const body = { model: 'm', messages: [{ role: 'user', content: 'Where is my parcel?' }] }
  const { status } = await here.post('/v1/chat/completions', body, {
    ...named(SHOP),
    ...Object.fromEntries(fields.map(([name = '', value = '']) => [name, value === 'NAME' ? session : value])),
  })
  expect(status).toBe(200)
}

describe('a release that is not served any more', () => {
  it('says that nobody is at it, and pins a session by the headers that it shows', async () => {
    const page = await open(`#/s/${SHOP}/releases/${EARLIER}`)
    await clients(page).getByText('No exchange was recorded at it.').waitFor()
    await clients(page).getByText('Pin a client or a session to it').focus()
    await page.keyboard.press('Enter')
    const headers = (await lines(page).last().innerText()).trim()
    expect(headers).toBe(`x-svc-tag-session: NAME\nx-svc-tag-release: ${earlier}`)
    await call(headers, 'counter-7')
    await sessions(page).getByRole('link', { name: 'counter-7' }).waitFor()
    await expectScreensFit(page, 'console-pins')

    await sessions(page).getByRole('link', { name: 'counter-7' }).click()
    await page.getByRole('grid', { name: 'Records' }).getByRole('link').first().click()
    const record = page.getByRole('region', { name: 'Record' })
    await record.getByText('held by the client').waitFor()
    await record.getByTitle(earlier).click()
    await clients(page).waitFor()
    expect(new URL(page.url()).hash).toBe(`#/s/${SHOP}/releases/${earlier}`)
  })

  it('is put into a folder by the line that it shows, and the agent is named by its command', async () => {
    const page = await open(`#/s/${SHOP}/releases/${EARLIER}`)
    await clients(page).getByText('Pin a client or a session to it').click()
    await expect.poll(() => lines(page).first().innerText()).toBe(`svc-pi update --release='${earlier}'`)
    const bin = join(import.meta.dirname, '..', '..', 'node_modules', '.bin')
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}`, SVC_TOKEN: TOKEN }
    await promisify(execFile)('sh', ['-c', await lines(page).nth(1).innerText()], { cwd: folder, env })
    expect(await readFile(join(folder, 'harness', '.svc-harness-release'), 'utf8')).toContain(earlier)
  })

  it('shows the name of a session as text, whatever it is', async () => {
    await call(`x-svc-tag-release: ${earlier}\nx-svc-tag-session: NAME`, HOSTILE_NAME)
    const page = await open(`#/s/${SHOP}/releases/${EARLIER}`)
    await sessions(page).getByRole('link').nth(1).waitFor()
    await sessions(page).getByText(HOSTILE_NAME).waitFor()
  })
})

it('the rollout of a scenario leads to its releases, where clients are pinned', async () => {
  const page = await open(`#/s/${SHOP}/settings`)
  await page.getByRole('region', { name: 'Rollout' }).getByRole('link', { name: 'open a release' }).click()
  await page.getByRole('heading', { level: 1, name: 'Releases' }).waitFor()
})
