/** The console with a hundred thousand records, and under continuous traffic. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { inference, named, rowsOf } from '../spec/support/helpers.ts'
import { send, sharedWorld } from '../support/world.ts'
import { browserOfFile, type OpenedPage } from './support/browser.ts'
import { serving } from './support/service.ts'

const RECORDS = 100_000
const BATCH = 1000
/** A screen of rows and a little beyond it on both sides. */
const ROWS_DRAWN_MAX = 120
const REQUESTS_OF_A_JUMP_MAX = 12

const open = browserOfFile()
const here = sharedWorld({ backend: 'memory' })
beforeAll(async () => {
  for (let first = 1; first <= RECORDS; first += BATCH) {
    const records = Array.from({ length: BATCH }, (_, at) => inference(idOf(first + at)))
    const { status } = await here.post('/svc/records/batch', { records }, named('many'))
    if (status !== 200) throw new Error(`the import answered ${status}`)
  }
})

/** Its number in its name. */
const idOf = (sequence: number): string => String(sequence).padStart(8, '0')

async function openTraffic(): Promise<OpenedPage> {
  const opened = await open(`${here.address}/console#/s/many/traffic`)
  await rowOf(opened.page, RECORDS).waitFor()
  return opened
}

const grid = (page: Page) => page.getByRole('grid', { name: 'Records' })
const rowOf = (page: Page, sequence: number) =>
  grid(page)
    .getByRole('row')
    .filter({ hasText: idOf(sequence) })

/** Scrolls to a fraction; 1 is the end. */
const dragTo = (page: Page, part: number): Promise<void> =>
  grid(page).evaluate((list, to) => {
    list.scrollTop = (list.scrollHeight - list.clientHeight) * to
  }, part)

const asked = ({ asked: all }: OpenedPage): number => all.filter((url) => url.includes('/records')).length

describe('a list of a hundred thousand records', () => {
  it('shows the newest first, and draws no more than a screen', async () => {
    const { page } = await openTraffic()
    const ids = await grid(page).getByRole('row').getByRole('link').allTextContents()
    expect(ids.slice(0, 3)).toEqual([idOf(RECORDS), idOf(RECORDS - 1), idOf(RECORDS - 2)])
    expect(await grid(page).getAttribute('aria-rowcount')).toBe(String(RECORDS + 1))
    expect(await grid(page).getByRole('row').count()).toBeLessThan(ROWS_DRAWN_MAX)
  })

  it('shows the right rows wherever its bar is dragged to, for few requests', async () => {
    const opened = await openTraffic()
    const { page } = opened
    for (const [part, sequence] of [
      [1, 1],
      [0.5, RECORDS / 2],
      [0.25, (RECORDS * 3) / 4],
    ] as const) {
      const before = asked(opened)
      await dragTo(page, part)
      await rowOf(page, sequence).first().waitFor()
      expect(asked(opened) - before).toBeLessThan(REQUESTS_OF_A_JUMP_MAX)
      expect(await grid(page).getByRole('row').count()).toBeLessThan(ROWS_DRAWN_MAX)
      await expectRowsInPlace(page)
    }
  })

  it('is walked by keyboard to its very end, where a record opens', async () => {
    const { page } = await openTraffic()
    await grid(page).focus()
    await page.keyboard.press('End')
    await rowOf(page, 1).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Record' }).waitFor()
    expect(page.url()).toContain(idOf(1))
  })
})

/** The number of a row identifies its record. */
async function expectRowsInPlace(page: Page): Promise<void> {
  const rows = await grid(page)
    .locator('[role="row"][aria-rowindex]:has(a)')
    .evaluateAll((all) => all.map((row) => [row.getAttribute('aria-rowindex'), row.querySelector('a')?.textContent]))
  expect(rows.length).toBeGreaterThan(5)
  for (const [place, id] of rows) expect(id).toBe(idOf(RECORDS - (Number(place) - 2)))
}

describe('while traffic comes in', () => {
  const PER_SECOND = 200
  const VIEWS = ['traffic', 'releases', 'ask', 'training', 'traffic'] as const

  it('every view opens, no record is lost, and nothing fails', async () => {
    const { address } = await serving()
    await send(address, 'POST', '/svc/scenarios', { body: { name: 'busy' } })
    const stopLoad = startLoad(address, 'busy', PER_SECOND)
    const { page } = await open(`${address}/console#/`, { script: WATCH_LONG_TASKS })
    for (const view of VIEWS) {
      await page.goto(`${address}/console#/s/busy/${view}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await untilMore(address, 100)
      if (view === 'traffic') await expectGrowing(page)
      expect(await page.getByRole('alert').allTextContents()).toEqual([])
    }
    await page.goto(`${address}/console#/storage`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const { kept, failed } = await stopLoad()
    expect(failed).toBe(0)
    expect(await newest(address)).toBe(kept)
    await page.goto(`${address}/console#/s/busy/traffic`)
    await page.getByText(`${kept.toLocaleString('en-US')} records`).waitFor()
    const tasks = await page.evaluate<readonly number[]>('longTasks')
    process.stdout.write(`${kept} exchanges beside the console; long tasks in ms: ${tasks.map(Math.round).join(', ') || 'none'}\n`)
  })
})

const newest = async (address: string): Promise<number> => {
  const { json } = await send(address, 'GET', '/svc/scenarios/busy/records?order=newest&limit=1', {})
  return Number(rowsOf({ json }, 'records')[0]?.['sequence'] ?? 0)
}

/** Waits until the service has stored this many more exchanges. */
const untilMore = async (address: string, count: number): Promise<void> => {
  const before = await newest(address)
  await expect.poll(() => newest(address), { timeout: 50_000 }).toBeGreaterThan(before + count)
}

/** The page updates without a reload. */
async function expectGrowing(page: Page): Promise<void> {
  const known = async (): Promise<number> =>
    Number(/([\d,]+) records/.exec(await page.getByRole('main').innerText())?.[1]?.replaceAll(',', ''))
  await expect.poll(known).toBeGreaterThan(0)
  const before = await known()
  await expect.poll(known).toBeGreaterThan(before)
}

const WATCH_LONG_TASKS = `
globalThis.longTasks = []
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true })
`

/** Sends traffic until it is stopped, which returns the results. */
function startLoad(address: string, scenario: string, perSecond: number) {
  const worker = new Worker(new URL('./fixtures/load.ts', import.meta.url), { workerData: { address, scenario, perSecond } })
  onTestFinished(async () => void (await worker.terminate()))
  return async (): Promise<{ readonly kept: number; readonly failed: number }> => {
    const results = once(worker, 'message')
    worker.postMessage('stop', [])
    const [counts]: { readonly kept: number; readonly failed: number }[] = await results
    if (counts === undefined) throw new Error('the traffic ended without results')
    return counts
  }
}
