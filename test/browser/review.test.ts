/** A reviewer's work in the console: reading a decision, and what its numbers mean. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserOfFile } from './support/browser.ts'
import { expectScreensFit } from './support/screens.ts'
import { RIGHT } from './support/script.ts'
import { openBrowserWorld, PLACES, SHOP, type BrowserWorld } from './support/world.ts'

const browse = browserOfFile()
let world: BrowserWorld
beforeAll(async () => {
  world = await openBrowserWorld()
})
afterAll(() => world.here.close())

async function open(way: string): Promise<Page> {
  const { page } = await browse(`${world.here.address}/console${way}`)
  return page
}
const decision = (place: number): Promise<Page> => open(`#/s/${SHOP}/releases/${place}`)

describe('a decision', () => {
  it('shows both answers to a task beside each other, in a link of its own', async () => {
    const page = await decision(PLACES.learned)
    await page.getByRole('button', { name: 'sizes' }).click()
    const both = page.getByRole('group', { name: 'Both answers' })
    await both.getByRole('region', { name: 'As served' }).getByText('no answer').waitFor()
    await both.getByRole('region', { name: 'With the change' }).getByText(String(RIGHT['sizes'])).waitFor()
    await page.getByText('A customer asks about sizes').waitFor()
    await expectScreensFit(page, 'console-both-answers')
    await page.reload()
    await both.getByText(String(RIGHT['sizes'])).waitFor()
    await page.getByRole('button', { name: 'sizes' }).click()
    await both.waitFor({ state: 'detached' })
  })

  it('has the answer of an episode that an earlier step played', async () => {
    const page = await decision(PLACES.pending)
    await page.getByRole('button', { name: 'refunds' }).click()
    const both = page.getByRole('group', { name: 'Both answers' })
    await both.getByText(String(RIGHT['refunds'])).nth(1).waitFor()
  })

  it('says what it takes away of an earlier request', async () => {
    const page = await decision(PLACES.pending)
    await page.getByText(`It removes parcel, which was asked for in v${PLACES.promoted}.`).waitFor()
  })

  it.each(['published', 'learned', 'rejected', 'pending'] as const)(
    'explains every number of %s where the pointer rests',
    async (state) => {
      const page = await decision(PLACES[state])
      await page.getByRole('region', { name: 'Result' }).waitFor()
      expect(await page.evaluate(NUMBERS_WITHOUT_WORDS)).toEqual([])
    },
  )
})

/** Figures have a sentence beside them; everything else that is a number has its meaning in a title. */
const NUMBERS_WITHOUT_WORDS = `[...document.querySelectorAll('.brief, .number, .task-scores td, section[aria-labelledby] dd')]
  .filter((each) => /\\d/.test(each.textContent) && each.closest('.meanings') === null && each.closest('section, header')?.textContent.match(/^(?:Result|v\\d)/))
  .filter((each) => each.querySelector('[title]') === null && each.closest('[title]') === null)
  .map((each) => each.textContent)`
