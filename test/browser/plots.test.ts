/** The plots over releases, of rows as a long life of a scenario leaves them: with intervals, costs, families, and hostile names of tasks. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { World } from '../support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { ATTACKS } from './support/hostile.ts'
import { expectScreensFit } from './support/screens.ts'
import { openShop } from './support/world.ts'

const open = browserOfFile()
let here: World
beforeAll(async () => {
  here = await openShop(null)
  await here.post('/svc/scenarios', { name: 'shop' })
})
afterAll(() => here.close())

const TASKS = [...Array.from({ length: 12 }, (_, at) => `task-${at}`), ...ATTACKS.slice(0, 3)]

const rowOf = (step: number) => ({
  step,
  release_id: `release-${step}`,
  content_id: `content-${step}`,
  parent_release_id: step === 0 ? null : `release-${step - 1}`,
  operation: step === 0 ? 'create' : 'train',
  result: 'published',
  recorded_at: 1_794_757_869 + 600 * step,
  pending: false,
  restorable: true,
  current: step === 9,
  page_path: `/svc/harness/releases/${step}/page?scenario=shop`,
  metrics: step === 0 ? {} : metricsOf(step),
})

const metricsOf = (step: number) => ({
  candidate_mean_score: 0.1 * step,
  current_mean_score: 0.1 * (step - 1),
  candidate_mean_cost: 0.02 / step,
  current_mean_cost: 0.02,
  candidate_mean_seconds: 40 - step,
  current_mean_seconds: 41 - step,
  evidence: { mean_difference: 0.1, interval: [0.02, 0.2] },
  task_scores: TASKS.map((task, at) => ({
    task,
    pairs: 3,
    candidate: Math.min(1, (step * (at + 1)) / 60),
    ...(at % 3 > 0 && { family: at % 3 === 1 ? 'refunds' : 'parcels' }),
  })),
})

async function openReleases(): Promise<Page> {
  const { page } = await open(`${here.address}/console`)
  const releases = Array.from({ length: 10 }, (_, step) => rowOf(step))
  await page.route('**/svc/harness/releases?*', (route) => route.fulfill({ json: { releases, next_after_step: null } }))
  await page.goto(`${here.address}/console#/s/shop/releases`)
  return page
}

it('show the score with its interval, cost and time, read by keys, and the tasks by family', async () => {
  const page = await openReleases()
  const scores = page.getByRole('region', { name: 'Scores' })
  await expect.poll(() => scores.locator('.plot-whisker').count()).toBe(9)
  await scores.getByRole('group', { name: /^Score over releases/ }).focus()
  await page.keyboard.press('End')
  expect(await scores.locator('.plot-readout').innerText()).toContain('0.9 (0.82 to 1)')
  for (const name of [/^Cost over releases/, /^Time over releases/]) await scores.getByRole('group', { name }).waitFor()
  const heat = page.getByRole('region', { name: 'Tasks over releases' })
  expect(await heat.locator('.heat-family').allTextContents()).toEqual(['parcels', 'refunds', 'no family'])
  const row = heat.getByRole('row').filter({ hasText: 'task-11' })
  expect(await row.getByRole('cell').allTextContents()).toEqual(['0.2', '0.4', '0.6', '0.8', '1', '1', '1', '1', '1'])
  await heat.getByText(ATTACKS[0] ?? '').waitFor()
})

it('fit their screens and are accessible', async () => {
  const page = await openReleases()
  await page.getByRole('region', { name: 'Tasks over releases' }).waitFor()
  await expectScreensFit(page, 'console-plots')
})
