/** Home with two hundred scenarios: quick for the service, grouped, and narrowed by a few letters. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { LEDGER_RECIPE } from '../spec/support/helpers.ts'
import { trainee } from '../spec/support/trainee.ts'
import { sharedWorld } from '../support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { expectScreensFit } from './support/screens.ts'

const SCENARIOS = 200
/** Those that hold releases for review: one of them two. */
const HOLDING = ['team-007', 'team-120', 'team-121']
const nameOf = (index: number): string => `team-${String(index).padStart(3, '0')}`

const open = browserOfFile()
const here = sharedWorld({
  settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual', 'svc.max_loaded_scenarios': 256 },
})
beforeAll(async () => {
  for (let index = 1; index <= SCENARIOS; index += 1) await here.post('/svc/scenarios', { name: nameOf(index) })
  for (const name of [...HOLDING, 'team-120']) await trainee(here, name).asked('hold')
})

const decisions = (page: Page) => page.getByRole('region', { name: 'Waiting for your decision' })

describe('home of two hundred scenarios', () => {
  it('reads each of them once, and later only what may have changed', async () => {
    const { page, asked } = await open(`${here.address}/console#/`)
    await decisions(page).getByRole('link').nth(2).waitFor()
    const reads = (): readonly string[] => asked.filter((url) => /\/releases\?|\/releases$/.test(url))
    expect(new Set(reads().map((url) => new URL(url).pathname)).size).toBe(SCENARIOS)
    const statuses = (): number => asked.filter((url) => url.endsWith('/svc/status')).length
    const [before, seen] = [reads().length, statuses()]
    await expect.poll(statuses, { timeout: 60_000 }).toBeGreaterThan(seen + 1)
    expect(reads().length - before).toBeLessThan(SCENARIOS / 2)
  })

  it('puts together what waits in one of them, and fits its screens', async () => {
    const { page } = await open(`${here.address}/console#/`)
    const item = decisions(page).getByRole('listitem').filter({ hasText: 'team-120' }).first()
    await item.getByText('1 more of team-120').waitFor()
    expect(await decisions(page).locator('.inbox').first().locator('> li').count()).toBe(HOLDING.length)
    await expectScreensFit(page, 'console-home-many')
  })

  it('is narrowed by a few letters, which stand in its address', async () => {
    const { page } = await open(`${here.address}/console#/`)
    await decisions(page).getByRole('link').nth(2).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('12')
    await expect.poll(() => decisions(page).locator('.inbox').first().locator('> li').count()).toBe(2)
    expect(page.url()).toContain('name=12')
    await page.getByLabel('Filter by scenario').fill('007')
    await decisions(page).getByText('team-007').waitFor()
    await decisions(page).getByText('team-121').waitFor({ state: 'detached' })
  })
})
