/** A reviewer's work in the console: the five things that reviewers do most, each in at most four actions; reading a decision; replays. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { typeCommand } from '../../src/cli/testing/surroundings.ts'
import { named, textAt } from '../spec/support/helpers.ts'
import { trainee } from '../spec/support/trainee.ts'
import { sharedFolder } from '../support/folder.ts'
import { browserOfFile, stepLink } from './support/browser.ts'
import { expectScreensFit } from './support/screens.ts'
import { PLAYS, RIGHT } from './support/script.ts'
import { HELPDESK, openBrowserWorld, PLACES, SHOP, type BrowserWorld } from './support/world.ts'

const browse = browserOfFile()
const tasks = sharedFolder()
/** A scenario whose one release waits for review. */
const STALL = 'stall'
/** Its steps give way to everything else on the machine. */
const HISTORY_MS = 900_000
let world: BrowserWorld
beforeAll(async () => {
  // Never played, so that the history is that of every other file.
  await mkdir(join(tasks, 'kept'))
  await writeFile(join(tasks, 'kept', 'task.json'), '{"prompt":"Say hello.","answer":"hello","role":"sealed"}')
  world = await openBrowserWorld(null, { 'evolution.tasks_dir': tasks })
  const stall = trainee(world.here, STALL)
  await world.here.post('/svc/scenarios', { name: STALL })
  await stall.consumer(await stall.ask(PLAYS.promoted.words))
}, HISTORY_MS)
afterAll(() => world.here.close())

async function open(way: string): Promise<Page> {
  const { page } = await browse(`${world.here.address}/console${way}`)
  return page
}
const decision = (place: number): Promise<Page> => open(`#/s/${SHOP}/releases/${place}`)

/** What a person does: a click, or a text typed into a field. Each counts. */
function reviewer(page: Page) {
  let actions = 0
  const counted = async (act: Promise<void>): Promise<void> => {
    actions += 1
    await act
  }
  return {
    click: (what: Locator) => counted(what.click()),
    write: (field: Locator, words: string) => counted(field.fill(words)),
    search: (words: string) => {
      const box = page.getByRole('search').getByRole('textbox')
      return counted(box.fill(words).then(() => box.press('Enter')))
    },
    /** At most four. */
    expectFew: () => expect(actions).toBeLessThanOrEqual(4),
  }
}
const panel = (page: Page) => page.getByRole('region', { name: 'Record' })

/** The agent of this world asks no model, so its steps cost nothing. */
const SPENT = { calls: 40, input_tokens: 34_100, cached_tokens: 0, output_tokens: 2000, cost: 1.25, unpriced_calls: 0 }
const priced = (row: JsonObject): JsonObject =>
  row['step'] === PLACES.learned
    ? { ...row, metrics: { ...Object(row['metrics']), spent: SPENT, improvement_spent: { ...SPENT, steps: 1 } } }
    : row

describe('in at most four actions a reviewer', () => {
  it('finds a bad answer by its text', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic`)
    const { search, click, expectFew } = reviewer(page)
    await search('Hamburg')
    await click(page.getByRole('grid', { name: 'Records' }).getByRole('link', { name: /./ }).first())
    await panel(page).getByText('It is in Hamburg and comes tomorrow.').first().waitFor()
    expectFew()
  })

  it('makes it a task', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic/${world.conversations[1] ?? ''}`)
    const { click, write, expectFew } = reviewer(page)
    await click(panel(page).getByRole('button', { name: 'Make it a task' }))
    const dialog = page.getByRole('dialog')
    await write(dialog.getByLabel(/What a good answer does/), 'Names the city and the day.')
    await expectScreensFit(page, 'console-make-task')
    await click(dialog.getByRole('button', { name: 'Make it a task' }))
    await click(panel(page).getByRole('status').getByRole('link'))
    await page.getByRole('region', { name: /^Task / }).waitFor()
    expectFew()
    const { json } = await world.here.get('/svc/harness/tasks', named(HELPDESK))
    expect(json['tasks']).toContainEqual(expect.objectContaining({ origin: `record:${world.conversations[1]}`, status: 'accepted' }))
  })

  it('sees why a change was held', async () => {
    const page = await open('#/')
    const { click, expectFew } = reviewer(page)
    await click(page.getByRole('region', { name: 'Waiting for your decision' }).getByRole('link').first())
    await page.getByRole('region', { name: 'Result' }).getByText('review').first().waitFor()
    expectFew()
  })

  it('rejects it with a reason, and asks for another try', async () => {
    const page = await open(`#/s/${STALL}/releases/1`)
    const { click, write, expectFew } = reviewer(page)
    await click(page.getByRole('button', { name: 'Reject' }))
    const dialog = page.getByRole('dialog')
    await write(dialog.getByLabel(/^Why\?/), 'It looks nothing up.')
    await click(dialog.getByRole('button', { name: 'Reject' }))
    await page.getByRole('region', { name: 'Rejected' }).getByText('It looks nothing up.').waitFor()
    expectFew()
    await page.getByRole('button', { name: 'Another try' }).click()
    await dialog.getByLabel(/^What should be different/).fill('Look the parcel up first.')
    await expectScreensFit(page, 'console-another-try')
    await dialog.getByRole('button', { name: 'Ask for another try' }).click()
    await page.getByText('which a person rejected. The reason: It looks nothing up.').first().waitFor()
    await page.getByText('Look the parcel up first.').first().waitFor()
  })

  it("finds what the week's improvement cost, and what one release took", async () => {
    const page = await open('#/storage')
    await page.route(/\/releases\?/, async (route) => {
      const answer = await route.fetch()
      const { releases, ...rest } = Object(await answer.json())
      await route.fulfill({ response: answer, json: { ...rest, releases: releases.map(priced) } })
    })
    const { click, expectFew } = reviewer(page)
    await click(page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Home', exact: true }))
    const week = page.getByRole('region', { name: 'This week' }).getByRole('row').filter({ hasText: SHOP })
    await week.getByText('1.25').waitFor()
    await click(week.getByRole('link', { name: SHOP }))
    await click(stepLink(page, `v${PLACES.learned}`))
    await page.getByRole('region', { name: 'Result' }).getByText('34,100 tokens in, 2,000 out, cost 1.25').first().waitFor()
    expectFew()
  })
})

describe('a replay', () => {
  it('asks another model, and shows both answers', async () => {
    const page = await open(`#/s/${HELPDESK}/traffic/${world.conversations[0] ?? ''}`)
    await panel(page).getByRole('button', { name: 'Replay' }).click()
    const replay = panel(page).getByRole('region', { name: 'Replay' })
    await replay.getByLabel('Model').fill('another-model')
    await replay.getByRole('button', { name: 'Ask again' }).click()
    await replay.getByRole('region', { name: /^Now: another-model/ }).waitFor()
    await replay.getByRole('region', { name: /^Stored: / }).waitFor()
    await expectScreensFit(page, 'console-replay')
    expect(JSON.parse(String(world.here.upstream.received.at(-1)?.body))).toMatchObject({ model: 'another-model' })
  })

  it('asks with the texts of another release', async () => {
    const files = Object.values(Object((await world.here.get('/svc/harness', named(SHOP))).json['files']))
    const rules = files.map(String).find((text) => text.includes('# The shop')) ?? ''
    const messages = [
      { role: 'system', content: rules },
      { role: 'user', content: 'How do refunds work?' },
    ]
    const { headers } = await world.here.post('/v1/chat/completions', { model: 'm', messages }, named(SHOP))
    const page = await open(`#/s/${SHOP}/traffic/${String(headers['x-svc-agent-record-id'])}`)
    await panel(page).getByRole('button', { name: 'Replay' }).click()
    const replay = panel(page).getByRole('region', { name: 'Replay' })
    await replay.getByLabel('Release').selectOption({ label: `v${PLACES.learned}` })
    await replay.getByRole('button', { name: 'Ask again' }).click()
    await replay.getByText(/^Asked with .* as in that release/).waitFor()
    expect(String(world.here.upstream.received.at(-1)?.body)).toContain('- express: as the terms of sale say')
    const receipt = String(headers['x-svc-agent-record-id'])
    const typed = await typeCommand(world.here.address, ['replay', receipt, '--release', `v${PLACES.learned}`, '--scenario', SHOP])
    expect(typed.out).toMatch(/^asked with \S+ as in that release/)
    expect(typed.out).toMatch(/^now: m, release [0-9a-f]{8}/m)
  })
})

it('a report shows the exchanges it is about', async () => {
  const reports = await world.here.get(`/svc/scenarios/${HELPDESK}/records?request_type=report`)
  const [report = {}] = Object(reports.json['records'])
  const page = await open(`#/s/${HELPDESK}/traffic/${textAt(report, 'agent_record_id')}`)
  await panel(page).getByRole('region', { name: 'The exchanges it is about' }).getByRole('region', { name: 'Conversation' }).waitFor()
  await expectScreensFit(page, 'console-report-exchanges')
})

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

  it('says what it takes away of an earlier request, here and on its page, also of one further back than its parent', async () => {
    const words = `It removes parcel, which was asked for in v${PLACES.promoted}.`
    const page = await decision(PLACES.pending)
    await page.getByText(words).waitFor()
    const row = (await world.shop.listed())[PLACES.pending] ?? {}
    await page.goto(`${world.here.address}${textAt(row, 'page_path')}`)
    await page.getByText(words).waitFor()
  })

  it.each(['published', 'learned', 'rejected', 'pending'] as const)(
    'explains every number of %s within one line, or where the pointer rests, here and on its page',
    async (state) => {
      const page = await decision(PLACES[state])
      await page.getByRole('region', { name: 'Result' }).waitFor()
      expect(await numbersWithoutWords(page)).toEqual([])
      const row = (await world.shop.listed())[PLACES[state]] ?? {}
      await page.goto(`${world.here.address}${textAt(row, 'page_path')}`)
      expect(await numbersWithoutWords(page)).toEqual([])
    },
  )

  it('is found to have a number that nothing explains', async () => {
    const page = await decision(PLACES.learned)
    await page.getByRole('region', { name: 'Result' }).waitFor()
    await page.evaluate(`document.querySelector('main').append(Object.assign(document.createElement('dd'), { textContent: '41.5' }))`)
    expect(await numbersWithoutWords(page)).toEqual(['41.5'])
  })
})

/** With everything unfolded. */
async function numbersWithoutWords(page: Page): Promise<readonly string[]> {
  await page.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)
  return page.evaluate<readonly string[]>(NUMBERS_WITHOUT_WORDS)
}

/** Texts that people and models wrote, names, ids and times are no numbers of ours. A sentence around a number explains it. */
const NUMBERS_WITHOUT_WORDS = `(() => {
  const theirs = 'pre, code, .mono, .id, .diff, [class*="diff"], time, h1, nav, blockquote, select, [aria-label="Both answers"], .walk, .chain, .mutation'
  const found = []
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { parentElement: around, textContent } = texts.currentNode
    if (!/\\d/.test(textContent) || around.closest(theirs) !== null || around.closest('[title]') !== null) continue
    const line = (around.closest('p, li, dd, td, figcaption, summary, button, label, h2, h3') ?? around).textContent
    if (!/^v\\d+$/.test(textContent.trim()) && !/^[0-9a-f]{20,}/.test(textContent.trim()) && (line.match(/[a-z]{2,}/gi) ?? []).length < 2) found.push(textContent.trim())
  }
  return found
})()`
