/** Watching a step: its episodes as they end, their transcripts, what they took and how long it still takes. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { trainee } from '../spec/support/trainee.ts'
import type { World } from '../support/world.ts'
import { browserOfFile } from './support/browser.ts'
import { ATTACKS, HOSTILE_TEXT } from './support/hostile.ts'
import { expectScreensFit } from './support/screens.ts'
import { PLAYS } from './support/script.ts'
import { openShop, SHOP } from './support/world.ts'

const browse = browserOfFile()
let here: World
let request: string
beforeAll(async () => {
  here = await openShop(null)
  await here.post('/svc/scenarios', { name: SHOP })
  const shop = trainee(here, SHOP)
  request = await shop.ask(PLAYS.waiting.words)
  await shop.reached(request, 'proposing')
})
afterAll(() => here.close())

const episode = (at: number, task: string, more: object = {}) => ({
  at: 1_794_757_869 + at,
  side: 'candidate',
  task,
  repeat: 0,
  score: 1,
  words: null,
  seconds: 12,
  input_tokens: 400,
  output_tokens: 100,
  cost: 0.14,
  transcript: `candidate-${at}`,
  ...more,
})
const EPISODES = [
  episode(1, 'refunds', { side: 'current', score: 0.5, words: 'half of it' }),
  episode(2, ATTACKS[0] ?? '', { words: HOSTILE_TEXT }),
  episode(3, 'sizes', { score: null, words: 'the model gave no answer', transcript: null }),
]

/** The step waits in the service itself; what it has played is told as a service tells it. */
async function watched(way: string, played: () => number): Promise<Page> {
  const { page } = await browse(`${here.address}/console`)
  await page.route(/\/svc\/harness\/progress(\?.*)?$/, async (route) => {
    const answer = await route.fetch()
    const { steps, ...rest } = Object(await answer.json())
    const counts = { episodes_total: 40, episodes_played: played(), input_tokens: 1200, output_tokens: 300, cost: 0.42, seconds_left: 180 }
    const told = { ...counts, step_record: 'a/1', episodes: EPISODES.slice(0, played()) }
    await route.fulfill({ response: answer, json: { ...rest, steps: steps.map((step: object) => ({ ...step, ...told })) } })
  })
  await page.route(/\/svc\/harness\/progress\/records/, (route) =>
    route.fulfill({
      json: { status: 'retained', path: 'trajectory.jsonl', text: `{"role":"assistant","said":${JSON.stringify(HOSTILE_TEXT)}}\n` },
    }),
  )
  await page.goto(`${here.address}/console${way}`)
  return page
}

it.each([
  ['the training of a scenario', () => `#/s/${SHOP}/training`],
  ['a request', () => `#/s/${SHOP}/ask/${request}`],
])('%s shows episodes as they end, newest first, with money and time left; transcripts are read by keyboard', async (_, way) => {
  let played = 2
  const page = await watched(way(), () => played)
  const episodes = page.getByRole('region', { name: 'Episodes, newest first' })
  await page.getByText('2 episodes, at most 40, at most 3 min left, 1,200 tokens in, 300 out, cost 0.42').waitFor()
  await expect.poll(() => episodes.getByRole('row').count()).toBe(3)
  played = 3
  await episodes.getByRole('row').filter({ hasText: 'the model gave no answer' }).waitFor()
  const [, newest, , oldest] = await episodes.getByRole('row').allInnerTexts()
  expect(newest?.replaceAll(/\s+/g, ' ')).toContain('sizes with the change no score')
  expect(oldest?.replaceAll(/\s+/g, ' ')).toContain('refunds as served 0.5 half of it 12 s, 400 tokens in, 100 out, cost 0.14')
  await episodes
    .getByText(ATTACKS[0] ?? '')
    .first()
    .waitFor()
  await episodes.getByRole('row').filter({ hasText: 'refunds' }).getByRole('button', { name: 'Read' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Transcript' }).getByText('assistant').waitFor()
  await expectScreensFit(page, 'console-watching')
})

it('home shows what is worked on, how far it is and what it took', async () => {
  const page = await watched('#/', () => 2)
  const item = page.getByRole('region', { name: 'Working now' }).getByRole('listitem')
  await item.getByRole('link', { name: PLAYS.waiting.words }).waitFor()
  await item.getByText('2 episodes, at most 40 · at most 3 min left · 1,200 tokens in, 300 out, cost 0.42').waitFor()
})
