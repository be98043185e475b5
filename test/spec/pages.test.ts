/** The two pages in a browser: credentials, content and links. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cardsIn, linksIn, rowIn, textIn } from '../../src/pages/testing/reading.ts'
import { holdNextRow } from '../fixtures/training/gated-store.ts'
import { wordHarness } from '../support/word-harness.ts'
import { ownWorld, sharedWorld, type Answer, type World } from '../support/world.ts'
import {
  bearer,
  expectRefusal,
  GATED_STORE,
  importInference,
  LEDGER_RECIPE,
  named,
  OPEN_RECIPE,
  PAIR_RECIPE,
  textAt,
} from './support/helpers.ts'
import { fresh, gateIn, type Trainee } from './support/trainee.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const RELOADS = '<meta http-equiv="refresh" content="5">'

const here = sharedWorld({ settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual', 'storage.record_backend': GATED_STORE } })

const version = (s: Trainee, step: number | string, where = here): Promise<Answer> =>
  where.get(`/svc/harness/releases/${step}/page`, named(s.name))
const request = (s: Trainee, id: string): Promise<Answer> => here.get(`/svc/harness/requests/${encodeURIComponent(id)}/page`, named(s.name))

/** Whole, ASCII, never cached, and by its own word unable to run or load anything. */
function expectPage({ status, headers, text }: Answer, expected = 200): void {
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([expected, 'text/html; charset=utf-8', 'no-store'])
  expect(text).toMatch(/^<!doctype html>.*<\/html>\n$/s)
  expect(text).not.toMatch(/[^\0-\x7f]/)
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(text) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; img-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual(['nosniff', 'no-referrer'])
  expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/)
}

describe('the page of a version', () => {
  it('is a whole page with its cards in order [page.version]', async () => {
    const s = await fresh(here)
    await s.asked('notes', { requires: [{ name: 'KEY', kind: 'env' }] })
    const answer = await version(s, 1)
    expectPage(answer)
    expect(cardsIn(answer.text)).toEqual(['Why', 'Design', 'What changed', 'Result', 'Setup', 'Chain'])
    const text = textIn(answer.text)
    for (const words of ['Harness v1', 'a short plan', 'KEY', 'Currently served', textAt(await s.head(), 'release_id')])
      expect(text).toContain(words)
    expect(cardsIn((await version(s, 0)).text)).toEqual(['Why', 'What changed', 'Result', 'Setup', 'Chain'])
  })

  it('shows the numbers of its evaluation [page.version]', async () => {
    const s = await fresh(here)
    await s.asked('won')
    expect(textIn((await version(s, 1)).text)).toMatch(/Pairs won 3 Pairs lost 1 Current score 0.25 Candidate score 0.75/)
  })

  it.each(['2', '-1', '1e0', '0x1', '+1', '1.0', ' 1', '%31x', 'head', '1234567890', '00000000001'])(
    'of the step %s, where there are 0 and 1, is 404 naming the range [page.version-step] [limits.step-number]',
    async (step) => {
      const s = await shared()
      expectRefusal(await version(s, encodeURIComponent(step)), 404, 'unknown_step', '0 to 1')
    },
  )

  it('is found by a number of nine digits [limits.step-number]', async () => {
    expectPage(await version(await shared(), '000000001'))
  })

  it('walks to the neighbours, links the served head, and links nothing but pages [page.version-walk]', async () => {
    const s = await fresh(here)
    await s.asked('add')
    await s.asked('reject')
    const links = async (step: number): Promise<readonly string[]> => linksIn((await version(s, step)).text)
    const [created, head, rejected] = [await links(0), await links(1), await links(2)]
    expect(created).toContain('/svc/harness/releases/1/page')
    expect(head).toEqual(expect.arrayContaining(['/svc/harness/releases/0/page', '/svc/harness/releases/2/page']))
    expect(head).not.toContain('/svc/harness/releases/1/page')
    expect(rejected).toContain('/svc/harness/releases/1/page')
    expect(rejected.filter((link) => link.includes('/3/'))).toEqual([])
    for (const link of [...created, ...head, ...rejected])
      expect(link).toMatch(/^\/svc\/harness\/(?:releases\/\d+|requests\/[0-9a-f]{32})\/page$/)
  })

  it('holds its row as JSON, which nothing in it can end [page.version-json]', async () => {
    const s = await fresh(here)
    const text = 'add </script><script>alert(1)</script> \u202e <!--'
    await s.asked(text)
    const { text: page } = await version(s, 1)
    const listed = (await s.listed())[1] ?? {}
    const { page_path: _, ...row } = listed
    expect(rowIn(page)).toEqual(row)
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(page).not.toContain('<!--')
    expect(page).toContain('<i>U+202E</i>')
  })

  it('shows the word of each result, and the step at which a held release was promoted [page.version-status]', async () => {
    const s = await fresh(here)
    for (const word of ['add', 'hold', 'reject', 'skip', 'throw']) await s.asked(word)
    const statusOf = async (step: number): Promise<string | undefined> =>
      /class="pill \w+"><span>([^<]*)</.exec((await version(s, step)).text)?.[1]
    const words = ['Published', 'Published', 'Ready for review', 'Not selected', 'No changes', 'No changes']
    for (const [step, word] of words.entries()) expect(await statusOf(step)).toBe(word)
    await s.move('promote', textAt((await s.listed())[2] ?? {}, 'release_id'))
    expect(await statusOf(2)).toBe('Promoted at step 6')
    expect(textIn((await version(s, 6)).text)).toMatch(/Promoted by a person Harness v6 .*Currently served.* Published/)
    await s.move('rollback', textAt((await s.listed())[0] ?? {}, 'release_id'))
    expect(textIn((await version(s, 7)).text)).toMatch(/Rolled back by a person Harness v7/)
  })

  it('lists what has to be set up: its own items, those of earlier steps, and those refused [page.version]', async () => {
    const s = await fresh(here)
    await s.asked('add', { requires: [{ name: 'EARLIER', kind: 'service' }] })
    await s.asked('odd', { requires: [{ name: 'PERSONS', kind: 'service', check: 'true' }] })
    const setup = textIn((await version(s, 2)).text).split(' Setup ')[1] ?? ''
    expect(setup).toMatch(
      /^Asked for by this step PERSONS .*GOOD .*From earlier steps of the chain EARLIER .*Refused by the step .*bad name/,
    )
  })

  it('of a scenario that serves no files is 404', async () => {
    const plain = await ownWorld()
    await plain.post('/svc/scenarios', { name: 'plain' })
    expectRefusal(await plain.get('/svc/harness/releases/0/page', named('plain')), 404, 'no_harness')
  })

  it('of several components numbers the releases that changed the tree [page.version]', async () => {
    const pairs = await ownWorld({ settings: { recipe: PAIR_RECIPE } })
    const s = await fresh(pairs)
    await s.reported({ feedback: { alpha: 'add', beta: 'add' } })
    await s.row(2)
    const listed = await s.listed()
    const pages = await Promise.all(listed.map((_, step) => version(s, step, pairs)))
    for (const [step, page] of pages.entries()) {
      expectPage(page)
      expect(rowIn(page.text)).toMatchObject({ release_id: listed[step]?.['release_id'] })
    }
    expect(textIn(pages.at(-1)?.text ?? '')).toContain('Currently served')
    expectRefusal(await version(s, listed.length, pairs), 404, 'unknown_step')
  })
})

it('the page of a step that evolved a harness shows what it changed against the release it ran on, and the proposal it came from [page.version]', async () => {
  const there = await ownWorld({ backend: 'sqlite' })
  await there.restart({
    ...wordHarness(there.directory),
    'inference.runtime': 'provider',
    'data.training_mode': null,
    'evolution.seed': JSON.stringify([{ id: 'tone', name: 'rules', config: { text: 'Answer in one short sentence. Say nothing' } }]),
  })
  const s = await fresh(there)
  const mutations = [{ op: 'update', id: 'tone', options: { config: { text: 'Answer in one short sentence. Say magic' } } }]
  const proposal = { mutations, reason: 'the word was <missing>', session: 's', release_id: 'r' }
  expect((await there.post('/svc/harness/proposals', proposal, named(s.name))).json).toMatchObject({ admitted: true })
  const [, report] = await s.reported({ score: 0 })
  await s.consumer(report)
  const { text: page } = await version(s, 1, there)
  expect(textIn(page)).toContain('An agent proposed this in session s : the word was <missing>')
  expect(page).toContain('<del>- Answer in one short sentence. Say <mark>nothing</mark></del>')
  expect(page).toContain('<ins>+ Answer in one short sentence. Say <mark>magic</mark></ins>')
  expect(textIn(page)).toMatch(/Decided because 1 won, 0 lost and 0 tied.*Pairs won 1 .*Candidate score 1 /)
})

let known: Promise<Trainee> | null = null
/** A scenario of two steps, for what does not change it. */
function shared(): Promise<Trainee> {
  return (known ??= fresh(here).then(async (s) => {
    await s.asked('add')
    return s
  }))
}

describe('the page of a request', () => {
  it('follows it from the queue to its result, and reloads until then [page.request] [page.request-reload]', async () => {
    const s = await fresh(here)
    const gate = gateIn(here)
    const id = await s.ask(`evaluate ${gate.path} add`)
    const later = await s.ask('skip')
    await s.reached(id, 'evaluating')
    // What the step says of its episodes and its activity comes a moment later.
    await expect
      .poll(async () => cardsIn((await request(s, id)).text), { timeout: 30_000 })
      .toEqual(['Request', 'Progress', 'Episodes', 'Activity'])
    await expect.poll(async () => textIn((await request(s, id)).text), { timeout: 30_000 }).toContain('Episodes at most 4')
    const running = await request(s, id)
    expectPage(running)
    expect(running.text).toContain(RELOADS)
    const queued = await request(s, later)
    expect(queued.text).toContain('<span>Queued</span>')
    expect(cardsIn(queued.text)).toEqual(['Request', 'Progress'])
    await gate.open()
    await s.consumer(later)
    const settled = await request(s, id)
    expectPage(settled)
    expect(settled.text).not.toContain('http-equiv')
    expect(cardsIn(settled.text)).toEqual(['Request', 'Result', 'What changed'])
    expect(linksIn(settled.text)).toContain('/svc/harness/releases/1/page')
  })

  it('is saving while its row lands [page.request-reload]', async () => {
    const s = await fresh(here)
    const row = holdNextRow()
    const id = await s.ask('add')
    await row.arrived
    const { text } = await request(s, id)
    expect(text).toContain('<span>Saving the result</span>')
    expect(text).toContain('aria-current="step"><span>Recording</span>')
    expect(text).toContain(RELOADS)
    row.pass()
    await s.consumer(id)
  })

  it('lists what the step does, newest first, failures marked [page.request-activity]', async () => {
    const s = await fresh(here)
    const gate = gateIn(here)
    const id = await s.ask(`evaluate ${gate.path}`)
    await expect
      .poll(async () => textIn((await request(s, id)).text), { timeout: 30_000 })
      .toMatch(/Activity \+0:\d\d trial Failed: lost the first .* proposer told: evaluate/)
    await gate.open()
    await s.consumer(id)
  })

  it('shows what was asked, from where and what it needs, in words that are never run [page.request]', async () => {
    const s = await fresh(here)
    const id = await s.asked('skip <img src=x onerror=alert(1)>', {
      agent_record_id: 'own/id "1"',
      session: 'session-9',
      requires: [{ name: 'KEY', kind: 'env' }],
    })
    const { text: page } = await request(s, id)
    expect(page).not.toContain('<img')
    const text = textIn(page)
    for (const words of ['skip <img src=x onerror=alert(1)>', 'session-9', 'own/id "1"', 'KEY', 'Harness request own/id "'])
      expect(text).toContain(words)
    expect(page).toContain('<span>No changes</span>')
  })

  it('shows the error of one that failed [page.request]', async () => {
    const s = await fresh(here)
    const id = await s.asked('throw')
    expect(textIn((await request(s, id)).text)).toMatch(/Result Failed .*The step failed told to throw/)
  })

  it('shows how a held result is promoted [page.request]', async () => {
    const s = await fresh(here)
    const id = await s.asked('hold')
    const held = textAt(await s.release(), 'release_id')
    const { text } = await request(s, id)
    expect(cardsIn(text)).toContain('Proposed changes')
    expect(text).toContain(`<code>svc promote ${held} --scenario ${s.name}</code>`)
    await s.move('promote', held)
    expect(textIn((await request(s, id)).text)).toMatch(/Promoted at step \d/)
  })

  it('of an unknown id, or of a record that is no instruction, is 404 naming it [page.request-unknown]', async () => {
    const s = await fresh(here)
    for (const id of ['unheard-of', await here.exchange(s.name)]) expectRefusal(await request(s, id), 404, 'unknown_request', id)
  })

  it('is there in a scenario without files, and links to no version [page.request]', async () => {
    const plain = await ownWorld({ settings: { recipe: OPEN_RECIPE } })
    await plain.post('/svc/scenarios', { name: 'plain' })
    expect((await plain.post('/svc/scenarios/plain/update', { training_mode: 'manual' })).status).toBe(200)
    const { json } = await plain.post('/svc/train', { text: 'do better', session: 's', release_id: 'r' }, named('plain'))
    const answer = await plain.get(`/svc/harness/requests/${textAt(json, 'agent_record_id')}/page`, named('plain'))
    expectPage(answer)
    expect(linksIn(answer.text)).toEqual([])
  })

  it('is shown from its row after its text was evicted', async () => {
    const small = await ownWorld({
      backend: 'sqlite',
      settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual', 'storage.record_capacity_bytes': 2000 },
    })
    const s = await fresh(small)
    const id = await s.asked('skip it')
    for (let n = 0; n < 8; n++) await importInference(small, s.name, `r${n}`, { fill: 'x'.repeat(900) })
    expectRefusal(await small.get(`/svc/scenarios/${s.name}/records/${id}`), 404, 'record_expired')
    const answer = await small.get(`/svc/harness/requests/${id}/page`, named(s.name))
    expectPage(answer)
    expect(textIn(answer.text)).toContain('skip it')
  })
})

describe('a page that was opened with a key', () => {
  const TOKEN = 'the-token'

  const closed = (): Promise<World> => ownWorld({ settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual', 'svc.token': TOKEN } })

  it('leads on with that key, and one that was opened by headers with none [auth.5-links]', async () => {
    const there = await closed()
    const headers = { ...named('größe & co'), ...bearer(TOKEN) }
    const raw = { ...headers, 'x-svc-scenario': Buffer.from('größe & co').toString('latin1') }
    await there.post('/svc/scenarios', { name: 'größe & co' }, bearer(TOKEN))
    const { json } = await there.post('/svc/train', { text: 'hold', session: 's', release_id: 'r' }, raw)
    const path = textAt(json, 'page_path')
    const query = path.slice(path.indexOf('?'))
    await expect.poll(async () => (await there.get(path)).text, { timeout: 30_000 }).toContain('Ready for review')
    const page = await there.get(path)
    expectPage(page)
    const links = linksIn(page.text)
    expect(links).toContain(`/svc/harness/releases/1/page${query}`)
    for (const link of links) {
      expect(link.endsWith(query)).toBe(true)
      expectPage(await there.get(link))
    }
    const back = linksIn((await there.get(`/svc/harness/releases/1/page${query}`)).text)
    expect(back).toContain(path)
    const byHeaders = await there.get(path.slice(0, path.indexOf('?')), raw)
    expect(linksIn(byHeaders.text)).toContain('/svc/harness/releases/1/page')
    const byName = await there.get(`${path.slice(0, path.indexOf('?'))}?scenario=gr%C3%B6%C3%9Fe+%26+co&other=1`, bearer(TOKEN))
    expect(linksIn(byName.text)).toContain('/svc/harness/releases/1/page?scenario=gr%C3%B6%C3%9Fe+%26+co')
  })

  it('refuses in HTML to a client that prefers it, with the same status, and in JSON otherwise', async () => {
    const there = await closed()
    await there.post('/svc/scenarios', { name: 'a' }, bearer(TOKEN))
    const page = '/svc/harness/releases/0/page'
    const cases: readonly [path: string, status: number, words: RegExp, headers?: Record<string, string>][] = [
      [`${page}?scenario=a&key=wrong`, 401, /This link does not open the page/],
      [page, 401, /send the service token/],
      [`${page}?scenario=a&token=${TOKEN}`, 401, /a token in the address is never accepted/],
      [`${page}?scenario=gone`, 404, /There is no such page .*does not exist/, bearer(TOKEN)],
      ['/svc/harness/releases/7/page?scenario=a', 404, /holds 0 to 0/, bearer(TOKEN)],
      ['/svc/harness/requests/none/page?scenario=a', 404, /no train instruction "none"/, bearer(TOKEN)],
      [page, 400, /name the scenario/, bearer(TOKEN)],
    ]
    for (const [path, status, words, headers = {}] of cases) {
      const shown = await there.get(path, { ...headers, ...BROWSER })
      expectPage(shown, status)
      expect(textIn(shown.text)).toMatch(words)
      expect(shown.text).not.toContain(TOKEN)
      for (const accept of ['*/*', 'application/json', 'text/html;q=0.5, application/json'])
        expect((await there.get(path, { ...headers, accept })).headers['content-type']).toBe('application/json')
    }
    expect((await there.get('/svc/status', BROWSER)).headers['content-type']).toBe('application/json')
    expectPage(await there.ask('POST', page, { headers: { ...bearer(TOKEN), ...BROWSER } }), 405)
  })
})
