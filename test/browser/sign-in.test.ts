/** People sign in with their accounts in a real browser, with a real provider: by keyboard, back to where they were, and out again. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { world, type World } from '../support/world.ts'
import { startProvider, type TestProvider } from '../sign-in/support/provider.ts'
import { installedIn, publicPlace, signInSettings, type PublicPlace } from '../sign-in/support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { expectScreensFit } from './support/screens.ts'

const open = browserOfFile()
const folder = sharedFolder()
let place: PublicPlace
let provider: TestProvider
let here: World
beforeAll(async () => {
  vi.stubEnv(...installedIn(folder))
  place = await publicPlace()
  provider = await startProvider(place.callback)
  here = await world({ settings: signInSettings(place, provider) })
})
afterAll(async () => {
  await here.close()
  await provider.close()
  vi.unstubAllEnvs()
})

it('by keyboard: to the provider and back to the same view, which says who one is; signing out ends it', async () => {
  provider.account = { sub: 'ada-1', email: 'ada@example.com', groups: ['admins'] }
  const { page } = await open(`${place.url}/console#/access`, { expects: /status of 401/, leadsTo: provider.issuer })
  const way = page.getByRole('link', { name: 'Sign in with Example' })
  await way.waitFor()
  await expectScreensFit(page, 'console-sign-in-account')
  await page.getByLabel('Service token').focus()
  await page.keyboard.press('Shift+Tab')
  expect(await way.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Access' }).waitFor()
  expect(page.url()).toBe(`${place.url}/console#/access`)
  await page.getByRole('banner').getByText('ada@example.com (ada-1)').waitFor()
  expect(await page.evaluate('document.cookie')).toBe('')
  await page.getByRole('row').filter({ hasText: 'sign-in:' }).getByRole('button', { name: 'Revoke' }).waitFor()
  expect(await page.getByRole('button', { name: 'Rotate' }).count()).toBe(0)
  await expectScreensFit(page, 'console-signed-in')
  await page.reload()
  await page.getByRole('banner').getByText('ada@example.com (ada-1)').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await way.waitFor()
  expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('svc-sign-in')
})

it('a person of no group reads why on a page, and can try again', async () => {
  provider.account = { sub: 'eve-3', email: 'eve@example.com', groups: [] }
  const { page } = await open(`${place.url}/console`, { expects: /status of 401/, leadsTo: provider.issuer })
  await page.getByRole('link', { name: 'Sign in with Example' }).click()
  await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor()
  await page.getByText('eve@example.com (eve-3) belongs to no group that may use this service').waitFor()
  await expectScreensFit(page, 'sign-in-refused')
  provider.account = { sub: 'eve-3', email: 'eve@example.com', groups: ['admins'] }
  await page.context().clearCookies({ name: /^_/ })
  await page.getByRole('link', { name: 'Sign in with Example' }).click()
  await page.getByRole('banner').getByText('eve@example.com (eve-3)').waitFor()
})
