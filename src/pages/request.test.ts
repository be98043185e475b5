/** The page of a request, on its way and settled. */
import { describe, expect, it } from 'vitest'
import { requestPage } from './request.ts'
import { cardsIn, linksIn, textIn } from './testing/reading.ts'
import { id, PROMOTION, REQUEST_ID, requestView, ROWS, underWay } from './testing/views.ts'
import type { PageRow, RequestView } from './view.ts'

const RELOADS = '<meta http-equiv="refresh" content="5">'

/** The stages, the current one in brackets and those that are done with a tick. */
const stagesIn = (page: string): readonly string[] =>
  [...page.matchAll(/<li( class="done")?( aria-current="step")?><span>(Received|Processing|Recording|Outcome)</g)].map(
    ([, done, now, name]) => `${done === undefined ? '' : '+'}${now === undefined ? name : `[${name}]`}`,
  )

const settled = (more: Partial<PageRow>, view: Partial<RequestView> = {}): string => {
  const rows = ROWS.map((row, place) => (place === 2 ? { ...row, ...more } : row))
  return requestPage(requestView({ rows, ...view }))
}

describe('a request on its way', () => {
  it.each([
    ['queued', 'Queued', ['[Received]', 'Processing', 'Recording', 'Outcome']],
    ['running', 'In progress', ['+Received', '[Processing]', 'Recording', 'Outcome']],
    ['proposing', 'Designing the change', ['+Received', '[Processing]', 'Recording', 'Outcome']],
    ['evaluating', 'Checking the harness', ['+Received', '[Processing]', 'Recording', 'Outcome']],
    ['settling', 'Saving the result', ['+Received', '+Processing', '[Recording]', 'Outcome']],
    ['a word of later', 'a word of later', ['+Received', '[Processing]', 'Recording', 'Outcome']],
  ])('that is %s is shown as such, and asks again every five seconds', (state, word, stages) => {
    const page = requestPage(underWay({ state }))
    expect(page).toContain(`<span>${word}</span></p>`)
    expect(stagesIn(page)).toEqual(stages)
    expect(page).toContain(RELOADS)
  })

  it('shows what is known of the step', () => {
    const text = textIn(requestPage(underWay()))
    expect(text).toContain("The candidate's episodes run.")
    expect(text).toContain('Into the step 1 min 25 s')
    expect(text).toContain('Episodes at most 48')
    expect(text).toContain('Step record 00000002-01a1dd53')
  })

  it('shows how long it waits where no step has it, and no activity', () => {
    const page = requestPage(underWay({ state: 'queued', started_at: null, activity: [] }))
    expect(textIn(page)).toContain('Waiting for 1 min 40 s')
    expect(cardsIn(page)).toEqual(['Request', 'Progress'])
  })

  it('lists what the step does, the newest first, failures marked, with the time into the step', () => {
    const text = textIn(requestPage(underWay())).split('Activity')[1]
    expect(text).toMatch(
      /^ \+1:15 trial Failed: vat: candidate no score, current 1 10 s ago \+1:05 check admitted: create french \+0:16 model/,
    )
  })

  it('lists the latest 80 lines, and says that there were more [page.request-activity]', () => {
    const activity = Array.from({ length: 200 }, (_, n) => ({ at: 1_794_714_615 + n, kind: 'model', text: `call ${n}.` }))
    const text = textIn(requestPage(underWay({ activity })))
    expect(text).toContain('call 199.')
    expect(text).toContain('call 120.')
    expect(text).not.toContain('call 119.')
    expect(text).toContain('These are the latest 80 lines')
  })

  it('shows the latest episodes as they come, the newest first, with time left and money [page.request-episodes]', () => {
    const episode = {
      at: 1,
      task: 'vat',
      repeat: 0,
      words: null,
      seconds: 2,
      input_tokens: 10,
      output_tokens: 1,
      cost: 0.01,
      transcript: null,
    }
    const episodes = [
      { ...episode, side: 'current', score: 1 },
      { ...episode, side: 'candidate', score: null, repeat: 1, words: 'the model <failed>' },
    ] as const
    const running = { episodes_total: 48, episodes_played: 2, input_tokens: 20, output_tokens: 2, cost: 0.02, seconds_left: 90, episodes }
    const page = requestPage({ ...underWay(), running })
    expect(cardsIn(page)).toEqual(['Request', 'Progress', 'Episodes', 'Activity'])
    const text = textIn(page)
    expect(text).toContain('Episodes played 2')
    expect(text).toContain('Time at most 90 s left')
    expect(text).toContain('Spent 20 tokens in, 2 out')
    expect(text).toMatch(/vat \(2\) with the change no score .*: the model .*failed.* vat as served 1/)
    expect(page).toContain('&#60;failed&#62;')
    expect(cardsIn(requestPage({ ...underWay(), running: { ...running, episodes: [] } }))).toEqual(['Request', 'Progress', 'Activity'])
  })

  it('says so when its text was evicted', () => {
    expect(textIn(requestPage({ ...underWay(), request: { id: 'x', created_at: 0, asked: {} } }))).toContain('Its text was evicted')
  })

  it('is titled by the beginning of its id, and shows the whole of it', () => {
    const page = requestPage(underWay())
    expect(page).toContain('<title>Harness request 01a1dd53 - support</title>')
    expect(page).toContain(`<code><bdi>${REQUEST_ID}</bdi></code>`)
  })
})

describe('a request that is settled', () => {
  it('asks no more, and shows the result and the changes in place of progress', () => {
    const page = settled({})
    expect(page).not.toContain('http-equiv')
    expect(cardsIn(page)).toEqual(['Request', 'Result', 'Proposed changes', 'Review', 'Design'])
    expect(stagesIn(page)).toEqual(['+Received', '+Processing', '+Recording', '+[Outcome]'])
    expect(linksIn(page)).toContain('/svc/harness/releases/2/page?scenario=support&key=k')
    expect(textIn(page)).toContain(`Release ${id(2)}`)
  })

  it.each<[Partial<PageRow>, string]>([
    [{ result: 'published', pending: false }, 'What changed'],
    [{ result: 'pending', pending: true }, 'Proposed changes'],
    [{ result: 'rejected', pending: false }, 'Proposed changes'],
    [{ result: 'skipped', pending: false }, 'Proposed changes'],
    [{ result: 'failed', pending: false }, 'Proposed changes'],
  ])('as %j shows its changes as %s', (more, title) => {
    expect(cardsIn(settled(more))).toContain(title)
  })

  it('and held shows how it is promoted, and how it is tried before that', () => {
    const page = settled({})
    expect(page).toContain(`<code>svc promote ${id(2)} --scenario support</code>`)
    expect(page).toContain(`<code>svc-pi update --release ${id(2)}</code>`)
  })

  it('and published shows how it is installed, after what has to be set up', () => {
    const page = settled({ result: 'published', pending: false })
    expect(page.indexOf('<code>svc-pi setup</code>')).toBeGreaterThan(0)
    expect(page.indexOf('<code>svc-pi update</code>')).toBeGreaterThan(page.indexOf('<code>svc-pi setup</code>'))
    expect(settled({ result: 'published', pending: false }, { wrapper: null })).toContain('change to it by themselves')
  })

  it('and promoted since says at which step, and offers it for install', () => {
    const page = requestPage(requestView({ rows: [...ROWS, PROMOTION] }))
    expect(textIn(page)).toContain('Promoted at step 4')
    expect(page).toContain('<code>svc-pi update</code>')
    expect(page).not.toContain('svc promote')
  })

  it('and published, but followed by another, says so', () => {
    const rows = [...ROWS.with(2, { ...Object(ROWS[2]), result: 'published', pending: false }), { ...PROMOTION, parent_release_id: id(2) }]
    expect(textIn(requestPage(requestView({ rows })))).toContain('A later version is served by now')
  })

  it('and failed shows the error and what the proposer said', () => {
    const metrics = {
      training_request: { id: REQUEST_ID },
      error: 'no answer after 60 s',
      failed_stage: 'proposing',
      proposal_notes: { failure: 'no edit' },
    }
    const text = textIn(settled({ result: 'failed', pending: false, metrics }))
    expect(text).toContain('The step failed while proposing no answer after 60 s')
    expect(text).toContain('The proposer made no proposal no edit')
    expect(text).toContain('send it again as a new request')
  })

  it('in a scenario without versions links to none', () => {
    const page = settled({}, { hasVersions: false, query: '' })
    expect(linksIn(page)).toEqual([])
    expect(textIn(page)).not.toContain('Version v2')
  })

  it.each([
    ["it's", '--scenario &#39;it&#39;\\&#39;&#39;s&#39;</code>'],
    ['two words', '--scenario &#39;two words&#39;</code>'],
    ['$(rm)', '--scenario &#39;$(rm)&#39;</code>'],
  ])('in the scenario %s has a command that a shell takes for one', (scenario, words) => {
    expect(settled({}, { scenario })).toContain(words)
  })
})
