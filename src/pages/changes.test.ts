/** The changes of a step, entry by entry. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../contract/index.ts'
import { changesCard } from './changes.ts'
import { textIn } from './testing/reading.ts'
import { PROMOTION, ROWS, RULES_TEXT, TREE, versionView } from './testing/views.ts'
import type { PageRow } from './view.ts'

const base = ROWS[1]
if (base === undefined) throw new Error('the rows of the tests are gone')

const shown = (mutations: readonly Json[], before: typeof TREE | null = TREE): string =>
  changesCard('What changed', versionView(1), { ...base, metrics: { mutations } }, before, null).text

const lines = (word: string): string => Array.from({ length: 4000 }, (_, n) => `${word} ${n}`).join('\n')

const rules = (text: string): Json => ({ name: 'rules', config: { text } })

describe('a change', () => {
  it('that creates shows the text, and the rest of the config as JSON', () => {
    const made = { name: 'skill', config: { name: 'greet', text: '# Greet\n  Say hello.' } }
    const card = shown([{ op: 'create', id: 'greet', options: made }])
    expect(card).toContain('<div class="text" dir="auto"># Greet\n  Say hello.</div>')
    expect(textIn(`<body>${card}`)).toMatch(/create greet skill .*\{ "name": "greet" \}/)
  })

  it('that creates code shows it in a block that can be moved by keyboard', () => {
    const card = shown([{ op: 'create', id: 'x', options: { name: 'code_extension', config: { name: 'x', code: 'if (a < b) run()' } } }])
    expect(card).toMatch(/<pre class="code" tabindex="0" role="region" aria-label="[^"]+x"><code>if \(a &#60; b\) run\(\)<\/code><\/pre>/)
  })

  it('that updates is compared with what the entry was', () => {
    const text = RULES_TEXT.replace('Rule 20: keep', 'Rule 20: stick')
    const card = shown([{ op: 'update', id: 'house-rules', options: { config: { text } } }])
    expect(card).toContain('<del>- Rule 20: <mark>keep</mark> to')
    expect(card).toContain('<ins>+ Rule 20: <mark>stick</mark> to')
    expect(card).toContain('<b>16 unchanged lines</b>')
    expect(card).toContain('<span class="kind"><bdi>rules</bdi></span>')
  })

  it('that updates what cannot be read any more shows the new text and says so', () => {
    const card = shown([{ op: 'update', id: 'house-rules', options: rules('new') }], null)
    expect(textIn(`<body>${card}`)).toMatch(/cannot be read any more\. new/)
  })

  it('that updates what is left out keeps it as it was', () => {
    const card = shown([{ op: 'update', id: 'house-rules', options: { disabled: true } }])
    expect(card).not.toContain('Rule 20')
    expect(card).toContain('<ins>+   &#34;disabled&#34;: true</ins>')
  })

  it('of a text to another that has nothing in common with it shows both', () => {
    const card = shown([{ op: 'update', id: 'old-skill', options: { config: { name: 'old-skill', text: 'new' } } }])
    expect(card).toContain('<del>- # Old</del>')
    expect(card).toContain('<ins>+ new</ins>')
  })

  it('that removes strikes the text', () => {
    expect(shown([{ op: 'remove', id: 'old-skill' }])).toContain('<del># Old\n\nNobody uses this any more.</del>')
    expect(shown([{ op: 'remove', id: 'old-skill' }], null)).not.toContain('<del>')
  })

  it('of an entry that an earlier one of the same step made is compared with that', () => {
    const card = shown([
      { op: 'create', id: 'tone', options: rules('always be brief') },
      { op: 'update', id: 'tone', options: rules('always be kind') },
    ])
    expect(card).toContain('<del>- always be <mark>brief</mark></del>')
    expect(card).toContain('<ins>+ always be <mark>kind</mark></ins>')
  })

  it('that changes nothing says so', () => {
    expect(shown([{ op: 'update', id: 'house-rules', options: {} }])).toContain('Unchanged.')
  })
})

describe('a long change', () => {
  it('shows about twenty kilobytes of an entry, and says how much is left out', () => {
    const card = shown([{ op: 'create', id: 'a', options: rules('x'.repeat(64_000)) }])
    expect(card.length).toBeLessThan(22_000)
    expect(card).toContain('x'.repeat(19_000))
    expect(card).toContain('[44,000 more characters left out of this page]')
  })

  it('shows about sixty kilobytes of a page, and the names of everything', () => {
    const all = Array.from({ length: 8 }, (_, n) => ({ op: 'create', id: `part-${n}`, options: rules('x'.repeat(15_000)) }))
    const card = shown(all)
    expect(card.length).toBeLessThan(66_000)
    for (const { id } of all) expect(card).toContain(id)
    expect(card).toContain('[15,000 more characters left out of this page]')
  })

  it('of many lines says how many are left out', () => {
    const before = [{ id: 'a', name: 'rules', config: { text: 'one' } }]
    const text = Array.from({ length: 300 }, (_, n) => `line ${n} ${'x'.repeat(100)}`).join('\n')
    expect(shown([{ op: 'update', id: 'a', options: rules(text) }], before)).toMatch(
      /\[\d+ more lines of this change left out of this page\]<\/b>/,
    )
  })

  it('of a text that cannot be compared in time shows the new one', () => {
    const card = shown(
      [{ op: 'update', id: 'a', options: rules(lines('new')) }],
      [{ id: 'a', name: 'rules', config: { text: lines('old') } }],
    )
    expect(card).toContain('too different to be compared')
    expect(card).toContain('new 0\nnew 1\n')
  })
})

describe('a row without changes', () => {
  it.each<[Partial<PageRow>, RegExp]>([
    [{ operation: 'create' }, /every later version/],
    [{ ...PROMOTION }, /publishes the content of <a href="[^"]+">v2<\/a> once more/],
    [{ operation: 'rollback', rollback_target_release_id: 'gone' }, /content of an earlier release once more/],
    [
      { operation: 'shipped', metrics: { shipped_content_update: { entries: ['svc-requests'] } } },
      /<code><bdi>svc-requests<\/bdi><\/code>/,
    ],
    [{ result: 'skipped' }, /made no change/],
    [{ result: 'published' }, /kept no list/],
  ])('%j says what it is', (more, words) => {
    expect(changesCard('What changed', versionView(1), { ...base, metrics: {}, ...more }, TREE, null).text).toMatch(words)
  })
})
