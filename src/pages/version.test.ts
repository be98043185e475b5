/** The page of a step, over rows of every kind. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/index.ts'
import { cardsIn, linksIn, rowIn, tagsIn, textIn } from './testing/reading.ts'
import { id, PROMOTION, REJECTION, REQUEST_ID, ROWS, USUAL_METRICS, versionView } from './testing/views.ts'
import { versionPage } from './version.ts'
import { playedSides } from './played.ts'
import type { PageRow, VersionView } from './view.ts'

const first = ROWS[0]
const usual = ROWS[1]
if (first === undefined || usual === undefined) throw new Error('the rows of the tests are gone')
const withMetrics = (metrics: JsonObject, more: Partial<PageRow> = {}): string =>
  versionPage(versionView(1, { rows: [first, { ...usual, metrics, ...more }] }))

/** All that there are. */
const CARDS = ['Why', 'Design', 'What changed', 'Review', 'Result', 'Setup', 'Chain']
const pillIn = (page: string): string | undefined => /class="pill \w+"><span>([^<]*)</.exec(page)?.[1]

describe('the page of a usual step', () => {
  const page = versionPage(versionView(1))

  it('has its cards in order, with those left out for which there is nothing', () => {
    expect(cardsIn(page)).toEqual(['Why', 'Design', 'What changed', 'Result', 'Setup', 'Chain'])
    expect(cardsIn(versionPage(versionView(2)))).toEqual(CARDS)
    expect(cardsIn(versionPage(versionView(0)))).toEqual(['Why', 'What changed', 'Result', 'Setup', 'Chain'])
  })

  it('is a page of 80 KB at most, in ASCII, that runs and loads nothing', () => {
    expect(Buffer.byteLength(page)).toBeLessThan(80_000)
    expect(page).not.toMatch(/[^\0-\x7f]/)
    expect(page).not.toMatch(/<(?:script(?! type="application\/json")|img|link|iframe|object|form)\b|\s(?:style|on\w+)=|url\(|@import/i)
  })

  it('shows the release, that it is served, and when, in UTC', () => {
    expect(textIn(page)).toContain(`Release ${id(1)}`)
    expect(textIn(page)).toContain('Currently served')
    expect(page).toContain('<time datetime="2026-11-15T04:50:09.000Z">2026-11-15 04:50 UTC</time>')
    expect(textIn(versionPage(versionView(2)))).not.toContain('Currently served</span>')
  })

  it('splits how to use it off the design', () => {
    const text = textIn(page)
    expect(text).toContain('How to use')
    expect(text).toContain('nothing to do; ask as before.')
    expect(text).not.toContain('How to use: nothing')
    expect(textIn(versionPage(versionView(2)))).toContain('Write in French.')
  })

  it('shows the numbers that the row has, and no others', () => {
    const text = textIn(page)
    for (const label of ['Pairs won', 'Candidate score', 'Episodes saved', 'Tokens in']) expect(text).toContain(label)
    for (const label of ['Score to reach', 'Sides played', 'Passed']) expect(text).not.toContain(label)
    expect(text).toContain('18,240')
  })

  it('names what must be set up: its own, what earlier steps ask for, and what was refused', () => {
    const text = textIn(versionPage(versionView(2)))
    const places = ['Asked for by this step', 'DEEPL_KEY', 'From earlier steps of the chain', 'GIT', 'Refused by the step', 'bad name']
    expect(places.map((word) => text.indexOf(word)).toSorted((a, b) => a - b)).toEqual(places.map((word) => text.indexOf(word)))
    expect(text).toContain('name must be a short text')
  })
})

describe('the status of a row', () => {
  it('names by whom it was moved', () => {
    expect(textIn(withMetrics({}, { operation: 'promote' }))).toContain('Promoted by a person')
    expect(textIn(withMetrics({}, { operation: 'rollback' }))).toContain('Rolled back by a person')
  })

  it('of a held release that was promoted says so', () => {
    const rows = [...ROWS, PROMOTION]
    expect(pillIn(versionPage(versionView(2, { rows })))).toBe('Promoted at step 4')
    expect(textIn(versionPage(versionView(2)))).not.toContain('Promoted')
  })
})

describe('a release that a person rejected', () => {
  const rows = [...ROWS, REJECTION]
  const reason = 'It says nothing of <b>other</b> languages.'

  it('was not selected; its result has the reason as text, and leads to the row that rejected it', () => {
    const page = versionPage(versionView(2, { rows }))
    expect(pillIn(page)).toBe('Not selected')
    expect(cardsIn(page)).toEqual(CARDS)
    expect(textIn(page)).toMatch(
      /Result Rejected by a person\. .* A person rejected it, by the rejection of [-0-9: ]+ UTC : It says nothing/,
    )
    expect(textIn(page)).toContain(reason)
    expect(page).not.toContain('<b>other</b>')
    expect(chainIn(page)).toMatch(/Rejected by rejection of [-0-9: ]+ UTC 2+ Rejected by a person/)
    expect(chainIn(page)).not.toContain('Published again')
  })

  it('has a row with a page of its own, which is no child of its parent', () => {
    const page = versionPage(versionView(4, { rows }))
    expect(textIn(page)).toContain(`Rejects release ${id(2)}`)
    expect(textIn(page)).toContain(`Rejects v2. The person said: ${reason}`)
    expect(chainIn(page)).toMatch(
      /^ ?Rejects v2 2+ Rejected by a person This step rejection of [-0-9: ]+ UTC no release Rejected by a person/,
    )
    expect(chainIn(versionPage(versionView(1, { rows })))).toMatch(/Child v2 2+ Rejected by a person Made by svc/)
  })
})

const all = (place: number, more = {}): readonly string[] => linksIn(versionPage(versionView(place, more)))
const to = (place: number): string => `/svc/harness/releases/${place}/page?scenario=support&key=k`

describe('the result', () => {
  it('shows what the evaluator said, and which tasks neither side solves', () => {
    const episodes = [{ task: 'sum', score: 0, evaluation: 'the verifier: exit code 1: the sum is 41' }]
    const page = textIn(withMetrics({ candidate_episodes: episodes, unsolved_tasks: ['sum', 'product'] }))
    expect(page).toContain('the verifier: exit code 1: the sum is 41')
    expect(page).toMatch(/No points on either side\s*sum, product\. Check the evaluator/)
  })
})

describe('what a reviewer reads first', () => {
  it('is the result, what changed and what that may do, before any card', () => {
    const page = versionPage(versionView(1))
    const [before = ''] = textIn(page).split(' Why ')
    expect(before).toContain('14 of 24 improved, 2 worse; the evidence is strong enough')
    expect(before).toContain('It adds 1 entry, changes 1 entry and removes 1 entry.')
    expect(textIn(versionPage(versionView(0)))).not.toContain('improved')
  })

  it('is then both sides task by task; the evidence is behind a fold', () => {
    const task_scores = [
      { task: 'vat', candidate: 1, current: 0.5, pairs: 2 },
      { task: '<i>sum</i>', candidate: 0, current: 1, pairs: 2 },
    ]
    const page = withMetrics({ ...USUAL_METRICS, task_scores })
    expect(textIn(page)).toContain('Task by task 1 better, 1 worse. Before is the served release')
    expect(textIn(page)).toMatch(/<i>sum<\/i> 1 0 worse vat 0\.5 1 better/)
    expect(page).not.toContain('<i>sum')
    expect(page).toMatch(/<details>\s*<summary>The evidence<\/summary>/)
  })
})

describe('the links of a page', () => {
  it('lead to the two pages alone, with what it was opened with', () => {
    for (const place of [0, 1, 2, 3])
      for (const link of all(place))
        expect(link).toMatch(/^\/svc\/harness\/(?:releases\/\d+|requests\/[^/]+)\/page\?scenario=support&key=k$/)
    for (const link of all(2, { query: '' })) expect(link).toMatch(/\/page$/)
  })

  it('walk to the neighbours, and end at the ends', () => {
    expect(all(2)).toEqual(expect.arrayContaining([to(1), to(3)]))
    expect(all(0)).not.toContain(to(-1))
    expect(textIn(versionPage(versionView(3)))).toContain('Previous step try of 2026-11-15 06:50:09 UTC Next step')
    expect(all(3)).not.toContain(to(4))
  })

  it('bring the logo and the first crumb to the served head, and stay plain on its own page', () => {
    const home = '<a href="/svc/harness/releases/1/page?scenario=support&#38;key=k">Harness</a>'
    expect(versionPage(versionView(2))).toContain(home)
    expect(versionPage(versionView(1))).toContain('<li>Harness</li>')
    expect(versionPage(versionView(1))).toContain('<span class="logo">')
  })

  it('lead to the request that the step was for, whatever its id', () => {
    expect(all(2)).toContain(`/svc/harness/requests/${REQUEST_ID}/page?scenario=support&key=k`)
    const odd = withMetrics({ training_request: { id: '../x y?', text: 't' } })
    expect(linksIn(odd)).toContain('/svc/harness/requests/..%2Fx%20y%3F/page?scenario=support&key=k')
  })
})

const chainIn = (page: string) => textIn(page).split('Chain').at(-1)

describe('the chain', () => {
  it('names the parent, this version, what was made of it, and where its content was published again', () => {
    const rows = [...ROWS, PROMOTION]
    const chain = (place: number) => chainIn(versionPage(versionView(place, { rows })))
    expect(chain(1)).toMatch(/Parent v0 0+ Starting point This version v1 1+ Published Child v2 2+ Promoted Child v4/)
    expect(chain(2)).toMatch(/Published again as v4 4+ Published, currently served/)
    expect(chain(4)).toMatch(/Parent v1 .* Content of v2/)
  })

  it('of a step that made no release names what it ran on, and no children', () => {
    const chain = chainIn(versionPage(versionView(3)))
    expect(chain).toMatch(/^ ?Ran on v1 1+ Published, currently served This step try of [-0-9: ]+ UTC no release Failed/)
    expect(chain).not.toContain('Child')
  })
})

describe('why a step was taken', () => {
  it.each<[JsonObject, string]>([
    [
      { training_request: { id: 'r', text: 'be brief' }, proposal: { id: 'p', reason: 'other' }, error: 'e' },
      'A person asked for this: be brief',
    ],
    [
      { proposal: { id: 'p', reason: 'shorter answers', session: 's9' }, error: 'e' },
      'An agent proposed this in session s9 : shorter answers',
    ],
    [{ error: 'no answer' }, 'The step failed: no answer'],
    [{ proposal_notes: { failure: 'no edit did better' } }, 'The step failed: no edit did better'],
    [{ traces: 1 }, 'The step learned from traffic: 1 reported sample.'],
    [{}, 'The step learned from traffic.'],
  ])('is shown for %j', (metrics, words) => {
    expect(textIn(withMetrics(metrics))).toContain(words)
  })
})

describe('the row at the end of the page', () => {
  it('is the row itself', () => {
    expect(rowIn(versionPage(versionView(1)))).toEqual(JSON.parse(JSON.stringify(usual)))
  })

  it('cannot be ended by what is in it', () => {
    const metrics = { error: '</script><script>alert(1)</script>\u2028ü' }
    const page = withMetrics(metrics)
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(rowIn(page)).toMatchObject({ metrics })
  })

  it('leaves long texts out when it is very large, and says so', () => {
    const page = withMetrics({
      ...USUAL_METRICS,
      mutation: { op: 'create', id: 'a', options: { name: 'rules', config: { text: 'x'.repeat(300_000) } } },
    })
    const row = rowIn(page)
    expect(row).toMatchObject({ left_out: expect.stringContaining('GET /svc/harness/releases'), release_id: id(1), metrics: { wins: 14 } })
    expect(JSON.stringify(row)).toContain('[300000 characters left out]')
    expect(page.length).toBeLessThan(120_000)
  })

  it('keeps what identifies it even when nothing else fits', () => {
    const page = withMetrics({ many: Array.from({ length: 60_000 }, (_, n) => `entry ${n}`) })
    expect(rowIn(page)).toMatchObject({ left_out: expect.any(String), release_id: id(1), step: 1, result: 'published' })
    expect(page.length).toBeLessThan(40_000)
  })
})

describe('a text of ten megabytes', () => {
  it.each<[string, JsonObject]>([
    ['in a change', { mutation: { op: 'create', id: 'a', options: { name: 'rules', config: { text: '\u202e<漢'.repeat(3_500_000) } } } }],
    ['in an update', { mutation: { op: 'update', id: 'house-rules', options: { config: { text: 'a\n'.repeat(5_000_000) } } } }],
    ['in a setting', { mutation: { op: 'create', id: 'a', options: { name: 'config', config: { data: { x: 'x'.repeat(10_000_000) } } } } }],
    [
      'in many changes',
      {
        mutations: Array.from({ length: 500 }, (_, n) => ({
          op: 'create',
          id: `a${n}`,
          options: { name: 'rules', config: { text: 'x'.repeat(20_000) } },
        })),
      },
    ],
    [
      'in every note',
      {
        error: 'x'.repeat(10_000_000),
        proposal_notes: { design: 'y'.repeat(10_000_000), review: { uncovered: Array(100_000).fill('no') } },
      },
    ],
    ['in the name of an entry', { mutation: { op: 'x'.repeat(5_000_000), id: 'y'.repeat(5_000_000) } }],
  ])('%s leaves the page small, and says what was left out', (_, metrics) => {
    const page = withMetrics(metrics)
    expect(page.length).toBeLessThan(150_000)
    expect(textIn(page)).toMatch(/left out of this page|and [\d,]+ more/)
  })
})

/** Every place of a row that holds a text. */
const written = (text: string): JsonObject => ({
  training_request: {
    id: text,
    text,
    session: text,
    requires: [{ name: text, kind: text, prompt: text, check: text }],
    refused_requires: [{ item: text, reason: text }],
  },
  mutations: [
    { op: text, id: text, options: { name: text, config: { text, other: text } } },
    { op: 'create', id: text, options: { name: text, config: { code: text } } },
    { op: 'update', id: 'house-rules', options: { config: { text } } },
  ],
  proposal_notes: {
    design: `${text}\n\nHow to use: ${text}`,
    failure: text,
    review: { result: text, covered: [text], uncovered: [text] },
    undeclared_env: [text],
    dropped: [text],
  },
  selection: { policy: text, reason: text },
  skipped: text,
  error: text,
  step_record: text,
  evaluation_sides: [text],
  evidence: { ...Object(USUAL_METRICS['evidence']), stopped: text, test: text },
  candidate_episodes: [{ task: text, score: 1, failure: text, evaluation: text }],
  unsolved_tasks: [text],
})

describe('whatever a method wrote into its row', () => {
  const more = 'mutation training_request proposal error skipped evidence_regression passed undeclared_env'.split(' ')
  const names = [...Object.keys(USUAL_METRICS), ...more]
  const inner = (
    'op id options name config text code requires refused_requires item reason design review covered interval differences e_value ' +
    'threshold mean_difference task score'
  ).split(' ')
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)) }),
      fc.double({ noNaN: true }),
      fc.constant(null),
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...inner), tie('value'), { maxKeys: 5 }),
    ),
  }))

  it('there is a page, in ASCII, with one row that reads back', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 }),
        fc.constantFrom('published', 'failed' as const),
        (metrics, result) => {
          const page = withMetrics(metrics, { result })
          expect(page).not.toMatch(/[^\0-\x7f]/)
          expect(rowIn(page)).toMatchObject({ step: 1 })
        },
      ),
      { numRuns: 300 },
    )
  })

  it('the markup is that of harmless words', () => {
    const hostile = '"><img src=x onerror=alert(1)></pre></code></script><style>*{display:none}</style>'
    expect(tagsIn(withMetrics(written(hostile)))).toEqual(tagsIn(withMetrics(written('harmless'))))
  })
})

describe('both answers to a task', () => {
  const episode = { prompt: 'Say <b>hi</b>.', answer: 'Hello.', score: '0.5', words: 'polite, "rude" </script>' }
  const task = 'greeting'
  const row = {
    ...versionView(2).row,
    metrics: { ...versionView(2).row.metrics, task_scores: [{ task, current: 0.5, candidate: 1, pairs: 1 }] },
  }
  const shown = (played: VersionView['played']) => versionPage({ ...versionView(2), row, ...(played !== undefined && { played }) })

  it("stand beside each other with the evaluator's words, as text", () => {
    const page = shown(new Map([[task, { before: episode, after: { ...episode, answer: '', score: '1', words: null } }]]))
    expect(textIn(page)).toMatch(
      /Both answers to \S+ Say <b>hi<\/b>\. As served Score 0\.5: polite, "rude" <\/script> Hello\. With the change Score 1 The agent said nothing\./,
    )
    expect(page).not.toContain('<b>hi</b>')
  })

  it('are read from the records of the steps, and one that cannot be read is left out', async () => {
    const scores = [
      { task: 'kept', current: 0, candidate: 1, current_episode: 'a/7/episodes/1', candidate_episode: 'a/8/episodes/2' },
      { task: 'gone', current: 0, candidate: 1, current_episode: 'a/9/episodes/1' },
      { task: 'never', current: 0, candidate: 1 },
    ]
    const files = new Map([
      ['a/8 episodes/2/episode.json', JSON.stringify({ prompt: 'p', answer: 'yes', score: 1 })],
      ['a/7 episodes/1/episode.json', '{'],
    ])
    const read = async (record: string, path: string): Promise<string | null> => {
      if (record === 'a/9') throw new Error('the disk is gone')
      return files.get(`${record} ${path}`) ?? null
    }
    const played = await playedSides({ task_scores: scores }, read)
    expect([...played]).toEqual([['kept', { before: null, after: { prompt: 'p', answer: 'yes', score: '1', words: null } }]])
  })

  it('say where a record was not kept, and are left out where nothing may be read', () => {
    expect(textIn(shown(new Map([[task, { before: null, after: episode }]])))).toContain('As served Its record was not kept.')
    expect(textIn(shown(undefined))).not.toContain('Both answers')
    expect(textIn(shown(undefined))).toContain('What the numbers mean')
  })
})
